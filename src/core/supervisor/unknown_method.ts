/**
 * The failure of a call that a plugin does not take.
 *
 * @module
 */
import { HostError } from "../errors/host_error.ts";
import { didYouMean } from "../values/nearest_word.ts";
import type { PluginProfile } from "./dialect.ts";

/** Number of tools that a hint names. */
const SHOWN = 20;

/** Returns the error for `method`, with the nearest one that the plugin has. */
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
