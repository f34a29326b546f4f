/**
 * Audit events of loading a project.
 *
 * @module
 */
import type { Audit } from "../core/audit/audit.ts";
import type { PluginRefusal, ResolvedProject } from "../core/project/types.ts";
import { isMap } from "../core/values/plain_data.ts";

/** Emits an event for each tool of an agent, each refused plugin, and each hook that a subagent lists in vain. */
export function auditLoad({ id, agents, refusals }: ResolvedProject, audit: Audit): void {
  for (const refusal of refusals) auditRefusal(refusal, id, audit);
  for (const { path: agent_path, plugins } of agents) {
    for (const { plugin: name, instance, illegalHooks, tools } of plugins) {
      for (const hook of illegalHooks) audit.emit("plugin.hook.illegal", { name, instance }, { hook, agent_path });
      for (const tool of tools) audit.emit("plugin.tool_registered", { name, instance }, { tool, agent_path });
    }
  }
}

/** Returns the instance id to report a refused plugin under; one without an instance gets the id it would have had. */
export function refusedInstance({ agent, key, instance }: PluginRefusal, projectId: string): string {
  return instance ?? (agent === "" ? key : `${key}@${projectId}/${agent}`);
}

function auditRefusal(refusal: PluginRefusal, projectId: string, audit: Audit): void {
  const { agent: agent_path, key, error: { code, data } } = refusal;
  const facts = isMap(data) ? data : {};
  const text = (field: string): string => typeof facts[field] === "string" ? facts[field] : key;
  const instance = refusedInstance(refusal, projectId);
  if (code === "project.second_compactor") {
    const [first, second] = [text("first"), text("second")];
    audit.emit("plugin.role_violation", { name: second, instance }, { first, second, agent_path });
  } else if (code === "project.duplicate_plugin") {
    for (const tool of Array.isArray(facts.tools) ? facts.tools as string[] : []) {
      const collision = { first: text("first"), second: text("second"), tool };
      audit.emit("plugin.tool_name_collision", { name: text("plugin"), instance }, collision);
    }
  } else if (facts.side === "project" || facts.side === "system") {
    const errors = facts.errors as { path: string; message: string }[];
    const data = { side: facts.side, agent_path, errors } as const;
    audit.emit("plugin.config_validation_failed", { name: text("name"), instance }, data);
  }
}
