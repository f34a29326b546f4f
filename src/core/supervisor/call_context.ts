/**
 * The context that travels with every call.
 *
 * @module
 */
import { HostError } from "../errors/host_error.ts";
import type { PluginCallContext } from "./types.ts";

/** What a context falls back to. */
export interface ContextDefaults {
  /** Who operates the host. */
  readonly operatorId: string | null;
  /** Makes a request id. */
  readonly requestId: () => string;
}

/**
 * Fills in a call context.
 *
 * @throws {HostError} `plugin.context_partial` when project, agent and session are not set or null together: that is
 * a mistake of the host, never of the plugin.
 */
export function callContext(given: Partial<PluginCallContext>, defaults: ContextDefaults): PluginCallContext {
  const { project_id = null, agent_path = null, session_id = null, traceparent } = given;
  if ((project_id === null) !== (agent_path === null) || (agent_path === null) !== (session_id === null)) {
    throw new HostError("plugin.context_partial", "Cannot call a plugin with a half-set context", {
      data: { project_id, agent_path, session_id },
      hint: "Set project_id, agent_path and session_id together, or none of them",
    });
  }
  return {
    operator_id: given.operator_id === undefined ? defaults.operatorId : given.operator_id,
    project_id,
    agent_path,
    session_id,
    request_id: given.request_id ?? defaults.requestId(),
    ...(traceparent === undefined ? {} : { traceparent }),
  };
}
