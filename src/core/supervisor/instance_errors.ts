/**
 * Why a call never reaches a plugin.
 *
 * @module
 */
import type { AuditSubject } from "../audit/audit.ts";
import { HostError } from "../errors/host_error.ts";
import { didYouMean } from "../values/nearest_word.ts";
import type { PluginProfile } from "./dialect.ts";
import type { PluginStatus } from "./types.ts";

/** Tools that are named in a hint. */
const SHOWN = 20;

/** The plugin is down; `cause` is why, when that is known. */
export function unavailable(
  { name, instance }: AuditSubject,
  status: PluginStatus,
  cause: HostError | null,
): HostError {
  return new HostError("plugin.unavailable", `[BLOCKED] Plugin "${name}" is ${status}`, {
    data: { instance, status },
    hint: status === "crashed" ? "It is being restarted: try again" : "Enable it again once its cause is mended",
    ...(cause ? { cause } : {}),
  });
}

/** The plugin is being reloaded already. */
export function reloading({ name, instance }: AuditSubject): HostError {
  return new HostError("plugin.reloading", `Plugin "${name}" is being reloaded`, {
    data: { instance },
    hint: "Wait until that is done, and ask again",
  });
}

/** The plugin has no such method. */
export function unknownMethod(plugin: string, method: string, profile: PluginProfile): HostError {
  const isMissing = profile.missing.includes(method);
  const callable = [...profile.callable];
  const message = isMissing
    ? `Plugin "${plugin}" declares "${method}" but does not offer it`
    : `Plugin "${plugin}" has no method "${method}"`;
  const hint = isMissing
    ? "List it in the answer to initialize"
    : profile.mcp
    ? didYouMean(method, callable, `Its tools: ${callable.slice(0, SHOWN).join(", ") || "none"}`)
    : "Declare it in kaged-plugin.yaml, or call another";
  return new HostError("protocol.method_unknown", message, { data: { method, callable }, hint });
}
