/**
 * Plain data to a project: every field of every agent, and all that is wrong at once.
 *
 * @module
 */
import { didYouMean, nearestWord } from "../values/nearest_word.ts";
import { isMap } from "../values/plain_data.ts";
import { shown } from "../values/shown_value.ts";
import type { DocumentPath, DocumentReport } from "../documents/document_report.ts";
import { checkCompaction } from "./check_compaction.ts";
import { checkDeclarations } from "./check_declarations.ts";
import type { AgentSpec } from "./types.ts";
import { expectMap, NAME } from "./values.ts";

type Data = Readonly<Record<string, unknown>>;

/** A project without its place in the file system. */
export interface CheckedProject {
  /** `id:`, when it is written. */
  readonly id?: string;
  /** Every agent, parents before children. */
  readonly agents: readonly AgentSpec[];
}

const PROJECT_KEYS: readonly string[] = ["id", "primary"];
const AGENT_KEYS: readonly string[] = ["plugins", "tools", "compaction", "subagents"];
const ID = /^[a-z][a-z0-9-]{0,63}$/;

/** Keys that look right and are not, with where their content goes. */
const MISPLACED: ReadonlyMap<string, string> = new Map([
  ["memory", "Memory is a plugin: declare one under plugins: of each agent that uses it"],
  ["plugin_hooks", "List hooks under the plugin they belong to: plugins: <key>: hooks:"],
]);
const MISPLACED_AT_ROOT: ReadonlyMap<string, string> = new Map([
  ...MISPLACED,
  ["plugins", "Plugins belong to agents: move them to primary: plugins:, and to each subagent that uses them"],
  ["subagents", "Subagents belong to an agent: move them to primary: subagents:"],
  ["tools", "Tools belong to agents: move them to primary: tools:"],
  ["compaction", "Each agent has its own window: move it to primary: compaction:"],
]);

/** Checks everything there is to check. Returns the project, or null when `report` says why not. */
export async function checkProject(data: unknown, report: DocumentReport): Promise<CheckedProject | null> {
  if (!isMap(data)) {
    report.error("project.not_a_map", [], { hint: "Start with primary:" });
    return null;
  }
  checkProjectKeys(data, report);
  const id = checkId(data, report);
  const agents: AgentSpec[] = [];
  if (!Object.hasOwn(data, "primary")) {
    report.error("project.missing_field", [], {
      message: 'Field "primary" is missing',
      hint: "Write primary: with the plugins of the main agent under it",
    });
  } else await checkAgent(data.primary, { at: ["primary"], parent: null }, { report, agents });
  return report.isClean ? { ...(id !== null && { id }), agents } : null;
}

function checkProjectKeys(data: Data, report: DocumentReport): void {
  for (const key of Object.keys(data)) {
    // Keys that start so are for anchors and notes, as in other YAML formats.
    if (PROJECT_KEYS.includes(key) || key.startsWith("x-") || isMisplaced(key, MISPLACED_AT_ROOT, [key], report)) {
      continue;
    }
    const hint = didYouMean(key, PROJECT_KEYS, `Keys here: ${PROJECT_KEYS.join(", ")}; fields of an agent go below it`);
    report.error("project.unknown_key", [key], { message: `Unknown key ${shown(key)}`, hint, part: "key" });
  }
}

function checkId(data: Data, report: DocumentReport): string | null {
  if (!Object.hasOwn(data, "id")) return null;
  const { id } = data;
  if (typeof id === "string" && ID.test(id)) return id;
  if (typeof id === "string") report.error("project.invalid_id", ["id"]);
  else report.error("project.wrong_type", ["id"], { message: "The id is not a text", hint: "Put it in quotes" });
  return null;
}

/** Checks one agent and the agents below it. The order is the tree's: an agent, then its subagents one by one. */
async function checkAgent(
  data: unknown,
  { at, parent }: { readonly at: readonly string[]; readonly parent: string | null },
  into: { readonly report: DocumentReport; readonly agents: AgentSpec[] },
): Promise<void> {
  const { report, agents } = into;
  // An agent with nothing in it is still an agent.
  const agent = data === null ? {} : expectMap(data, at, report);
  if (!agent) return;
  const path = at.join(".");
  const rest: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(agent)) {
    const keyPath = [...at, key];
    if (AGENT_KEYS.includes(key) || isMisplaced(key, MISPLACED, keyPath, report)) continue;
    rest[key] = value;
    const near = nearestWord(key, AGENT_KEYS);
    if (near === null) continue;
    const message = `Key ${shown(key)} is left to other parts of the system`;
    report.warn("project.carried_key", keyPath, { message, hint: `Did you mean "${near}"?`, part: "key" });
  }
  const plugins = await checkDeclarations(agent, at, report);
  const tools = checkTools(agent, at, report);
  const compaction = checkCompaction(agent, at, report);
  agents.push({ path, parent, plugins, tools, compaction, rest });
  if (!Object.hasOwn(agent, "subagents") || agent.subagents === null) return;
  const subagents = expectMap(agent.subagents, [...at, "subagents"], report);
  for (const [name, subagent] of Object.entries(subagents ?? {})) {
    const below = [...at, "subagents", name];
    if (!NAME.test(name)) report.error("project.invalid_agent_name", below, { part: "key" });
    else await checkAgent(subagent, { at: below, parent: path }, into);
  }
}

function isMisplaced(
  key: string,
  hints: ReadonlyMap<string, string>,
  path: DocumentPath,
  report: DocumentReport,
): boolean {
  const hint = hints.get(key);
  if (hint === undefined) return false;
  report.error("project.misplaced_key", path, { message: `There is no ${shown(key)} here`, hint, part: "key" });
  return true;
}

/** Checks the switches of an agent's tools. Other fields of an entry belong to whoever brings the tool. */
function checkTools(agent: Data, at: DocumentPath, report: DocumentReport): Record<string, { enabled: boolean }> {
  const path = [...at, "tools"];
  const tools: Record<string, { enabled: boolean }> = {};
  if (!Object.hasOwn(agent, "tools") || agent.tools === null) return tools;
  for (const [name, entry] of Object.entries(expectMap(agent.tools, path, report) ?? {})) {
    const below = [...path, name];
    const hint = `Write ${shown(name)}: { enabled: false }`;
    if (!isMap(entry)) {
      report.error("project.wrong_type", below, { message: "A tool's entry is not a map", hint });
      continue;
    }
    const { enabled = true } = entry;
    if (typeof enabled === "boolean") tools[name] = { enabled };
    else report.error("project.wrong_type", [...below, "enabled"], { message: "enabled is not true or false", hint });
    for (const key of Object.keys(entry)) {
      // A switch that is misspelt would leave a tool on that somebody wanted off.
      if (key === "enabled" || nearestWord(key, ["enabled", "disabled"]) === null) continue;
      report.error("project.unknown_key", [...below, key], { message: `Unknown key ${shown(key)}`, hint, part: "key" });
    }
  }
  return tools;
}
