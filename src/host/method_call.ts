/**
 * The agent that a call of a method is made for, and the params that go over the wire.
 *
 * @module
 */
import { HostError } from "../core/errors/host_error.ts";
import { PRIMARY } from "../core/contract/hook_names.ts";
import type { HostModel } from "./model.ts";
import type { CallAt } from "./types.ts";

/** The agent a call is made for, and its own part of a shared config. */
export interface MethodContext {
  /** Agent path, or null for a call of the host itself. */
  readonly agent: string | null;
  /** Sent as `_config`; null when nothing is. */
  readonly override: Readonly<Record<string, unknown>> | null;
}

/**
 * Returns for which agent an instance is called: the one named, else the primary's when a session is given.
 *
 * @throws {HostError} `host.misuse` when a session is given and the primary does not have the plugin.
 */
export function methodContext(
  model: HostModel,
  instance: string,
  { agent, session }: Pick<Partial<CallAt>, "agent" | "session">,
): MethodContext {
  if (agent === undefined && session === undefined) return { agent: null, override: null };
  const path = agent ?? PRIMARY;
  const plugin = model.agent(path).plugins.find((one) => one.instance === instance);
  const serves = model.project.instances.find((one) => one.instance === instance)?.agents ?? [];
  if (!plugin && serves.length > 0) {
    throw new HostError("host.misuse", `It is not known which agent calls "${instance}"`, {
      data: { instance, agents: serves },
      hint: `Name the agent: ${serves.join(", ")}`,
    });
  }
  return { agent: path, override: plugin?.override ?? null };
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
