/**
 * What is told when a process begins to serve and when it no longer does.
 *
 * @module
 */
import type { Audit, AuditSubject } from "../audit/audit.ts";
import { auditEnding } from "./failure.ts";
import type { Generation } from "./generation.ts";

/** For whom a process serves, and where that is told. */
export interface Telling {
  /** Where audit events go. */
  readonly audit: Audit;
  /** Whom they are about. */
  readonly subject: AuditSubject;
  /** Projects that activated the plugin. */
  readonly projects: readonly string[];
}

/** Tells of a process that serves from now on, and tells it of its projects. */
export function welcome(
  { live, profile, manifest }: Generation,
  config: Readonly<Record<string, unknown>>,
  { audit, subject, projects }: Telling,
): void {
  const { missing, undeclared, callable, features, configIgnored } = profile!;
  if (missing.length > 0 || undeclared.length > 0) {
    audit.emit("plugin.method_unavailable", subject, { missing: [...missing], undeclared: [...undeclared] });
  }
  if (configIgnored) tellConfigIgnored(config, { audit, subject });
  const capabilities_count = manifest.capabilities.length;
  audit.emit("plugin.initialized", subject, { methods_count: callable.size, capabilities_count });
  if (!features.includes("projects")) return;
  for (const project of projects) live.notify("projects.activated", { project, config });
}

/** Ends a process that serves, or did, and tells of it. From here on it is not called. */
export async function dismiss(generation: Generation, { audit, subject, projects }: Telling): Promise<void> {
  const { live, profile } = generation;
  generation.profile = null;
  if (profile?.features.includes("projects")) {
    for (const project of projects) live.notify("projects.deactivated", { project });
  }
  auditEnding(await live.stop(), audit, subject);
}

/** A plugin that takes no config is fine as long as there is none. */
export function tellConfigIgnored(
  config: Readonly<Record<string, unknown>>,
  { audit, subject }: Pick<Telling, "audit" | "subject">,
): void {
  if (Object.keys(config).length === 0) return;
  const error_message = "The plugin was given config but does not answer config.update";
  audit.emit("plugin.config_rejected", subject, { error_code: -32601, error_message });
}
