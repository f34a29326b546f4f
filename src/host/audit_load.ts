/**
 * Audit events of loading a project.
 *
 * @module
 */
import type { Audit } from "../core/audit/audit.ts";
import type { HostError } from "../core/errors/host_error.ts";
import { refusedPlugins } from "../core/project/refused_plugins.ts";
import type { PluginRefusal, ResolvedProject } from "../core/project/types.ts";
import { cutText } from "../core/values/cut_text.ts";
import { isMap } from "../core/values/plain_data.ts";
import { isUnread } from "./keep_refused.ts";

type Emit = Pick<Audit, "emit">;

/** Bytes of an error's message that an event holds: a manifest may break many rules, with long values. */
const MAX_MESSAGE_BYTES = 4096;

/** Emits an event for each tool of an agent, each refused plugin, and each hook that a subagent lists in vain. */
export function auditLoad(project: ResolvedProject, audit: Emit): void {
  auditRefusals(project, [], audit);
  for (const { path: agent_path, plugins } of project.agents) {
    for (const { plugin: name, instance, illegalHooks, tools } of plugins) {
      for (const hook of illegalHooks) audit.emit("plugin.hook.illegal", { name, instance }, { hook, agent_path });
      for (const tool of tools) audit.emit("plugin.tool_registered", { name, instance }, { tool, agent_path });
    }
  }
}

/**
 * Emits the events of the refusals that are not in `before`: `plugin.refused` for each plugin that is left out, after
 * the event of its very fault where there is one; `plugin.reload_failed` for a plugin that goes on with the files it had.
 */
export function auditRefusals(project: ResolvedProject, before: readonly PluginRefusal[], audit: Emit): void {
  const known = new Set(before.map(factsOf));
  const leftOut = refusedPlugins(project);
  for (const refusal of project.refusals) {
    if (known.has(factsOf(refusal))) continue;
    const { agent: agent_path, key, plugin: name, error } = refusal;
    const facts = errorFacts(error);
    const row = leftOut.find((one) => one.key === key && (agent_path === "" || one.agents.includes(agent_path)));
    if (row) {
      auditFault(refusal, row.instance, audit);
      audit.emit("plugin.refused", { name, instance: row.instance }, { ...facts, agent_path });
    } else if (isUnread(refusal)) {
      const kept = project.agents.find(({ path }) => path === agent_path)?.plugins.find((one) => one.key === key);
      if (kept) audit.emit("plugin.reload_failed", { name: kept.plugin, instance: kept.instance }, facts);
    }
  }
}

/** Returns an error as an event holds it. */
export function errorFacts({ code, message }: HostError): { error_code: string; error_message: string } {
  return { error_code: code, error_message: cutText(message, MAX_MESSAGE_BYTES) };
}

/** Returns the facts that make two refusals the same one. */
export function factsOf({ agent, key, error: { code, message } }: PluginRefusal): string {
  return JSON.stringify([agent, key, code, message]);
}

function auditFault(
  { agent: agent_path, key, error: { code, data } }: PluginRefusal,
  instance: string,
  audit: Emit,
): void {
  const facts = isMap(data) ? data : {};
  const text = (field: string): string => typeof facts[field] === "string" ? facts[field] : key;
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
