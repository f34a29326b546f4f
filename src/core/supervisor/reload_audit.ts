/**
 * What a reload leaves in the audit.
 *
 * @module
 */
import type { Audit, AuditSubject } from "../audit/audit.ts";
import type { HostError } from "../errors/host_error.ts";
import type { Manifest } from "../manifest/manifest.ts";

/** A reload that went well. */
export interface ReloadFacts {
  /** Manifest of the process before. */
  readonly before: Manifest;
  /** Manifest of the one that serves now. */
  readonly after: Manifest;
  /** Time from the start of the new process to the swap. */
  readonly tookMs: number;
}

/** Tells that another process has taken over. */
export function auditReload({ before, after, tookMs }: ReloadFacts, audit: Audit, subject: AuditSubject): void {
  const lacking = (there: Manifest, here: Manifest): string[] =>
    there.capabilities.filter((one) => !here.capabilities.includes(one));
  audit.emit("plugin.reloaded", subject, {
    old_version: before.version,
    new_version: after.version,
    capability_diff: { added: lacking(after, before), removed: lacking(before, after) },
    duration_ms: Math.round(tookMs),
  });
}

/** Tells that none has, and why. */
export function auditReloadFailed(
  { code, message }: HostError,
  audit: Pick<Audit, "emit">,
  subject: AuditSubject,
): void {
  audit.emit("plugin.reload_failed", subject, { error_code: code, error_message: message });
}
