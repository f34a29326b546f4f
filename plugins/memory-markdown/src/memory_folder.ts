/**
 * Where an agent's memory is kept. Names come from a project file somebody else wrote: none of them can lead out of the
 * store, and no two of them to one folder.
 *
 * @module
 */
import { createHash } from "node:crypto";
import { type CallContext, PluginError } from "../../../src/sdk/mod.ts";

/** Returns the folder below the store, such as `music/agent` or `music/subagent/researcher`. */
export function memoryFolder(
  { project_id: project, agent_path: agent }: Pick<CallContext, "project_id" | "agent_path">,
  isolation: "agent" | "project",
): string {
  if (project === null || agent === null) {
    throw new PluginError("Memory belongs to the agents of a project, and this call comes from none", { code: -32006 });
  }
  const own = isolation === "project" ? ["project"] : agentFolders(agent);
  return [safeName(project), ...own].join("/");
}

/** `primary` → `agent`, `primary.subagents.a` → `subagent/a`, and so on down the tree. */
function agentFolders(agentPath: string): string[] {
  const [, ...names] = agentPath.split(".subagents.");
  return names.length === 0 ? ["agent"] : names.flatMap((name) => ["subagent", safeName(name)]);
}

/** Returns a name as it is when it is plain, else what is plain of it and a mark of the whole. */
export function safeName(name: string): string {
  if (/^[a-z0-9][a-z0-9_-]{0,63}$/.test(name)) return name;
  const plain = name.toLowerCase().replace(/[^a-z0-9]+/g, "-").slice(0, 40).replace(/^-+|-+$/g, "");
  // The dot keeps it apart from every name that is plain.
  return `${plain || "x"}.${createHash("sha256").update(name).digest("hex").slice(0, 12)}`;
}
