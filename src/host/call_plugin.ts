/**
 * The host's one way to a plugin's process: below it is the supervisor, above it the gate and the methods.
 *
 * @module
 */
import { HostError } from "../core/errors/host_error.ts";
import type { PluginCaller } from "../core/supervisor/types.ts";

/** Calls a method of an instance. An `end` gets the error as the supervisor has it: {@link unlessUnknown} reads that. */
export type CallPlugin = PluginCaller["call"];

/** Returns calls in which an instance of the project that is between two starts is unavailable, and not unknown. */
export function callPlugin(supervisor: PluginCaller): CallPlugin {
  return (instance, method, params, options, end) => {
    const called = supervisor.call(instance, method, params, options, end);
    return end ? called : called.catch((error) => Promise.reject(unlessUnknown(error, instance)));
  };
}

/** Returns the error of a call: for an instance that is unknown since it is between two starts, that it does not run. */
export function unlessUnknown(error: unknown, instance: string): unknown {
  return error instanceof HostError && error.code === "plugin.unknown" ? notRunning(instance, error) : error;
}

function notRunning(instance: string, cause: HostError): HostError {
  return new HostError("plugin.unavailable", `[BLOCKED] Plugin "${instance}" does not run`, {
    data: { instance, status: "stopped" },
    hint: "Try again; when it stays down, kaged plugin info shows why",
    cause,
  });
}

/** Returns the params of a call, without `_context`. A `_config` of the caller's is dropped: only the host sets it. */
export function callParams(
  params: Readonly<Record<string, unknown>>,
  override: Readonly<Record<string, unknown>> | null,
): Readonly<Record<string, unknown>> {
  if (override) return { ...params, _config: override };
  if (!Object.hasOwn(params, "_config")) return params;
  const { _config, ...rest } = params;
  return rest;
}
