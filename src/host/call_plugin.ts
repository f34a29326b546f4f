/**
 * The host's one way to a plugin's process: below it is the supervisor, above it the gate and the methods.
 *
 * @module
 */
import { HostError } from "../core/errors/host_error.ts";
import type { Supervisor } from "../core/supervisor/types.ts";

/** Calls a method of an instance. */
export type CallPlugin = Supervisor["call"];

/** Returns calls in which an instance of the project that is between two starts is unavailable, and not unknown. */
export function callPlugin(supervisor: Pick<Supervisor, "call">): CallPlugin {
  return (instance, ...rest) =>
    supervisor.call(instance, ...rest).catch((error) => {
      throw error instanceof HostError && error.code === "plugin.unknown" ? notRunning(instance, error) : error;
    });
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
