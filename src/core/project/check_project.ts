/**
 * Plain data to a project: every field of every agent, and every mistake at once.
 *
 * @module
 */
import type { Decision } from "../rules/rules.ts";
import type { DocumentReport } from "../documents/document_report.ts";
import { Fields, FLAG, SOME_TEXT, TEXT, type ValueType } from "../documents/fields.ts";
import { didYouMean, nearestWord } from "../values/nearest_word.ts";
import { followPath } from "../values/relative_path.ts";
import { shown } from "../values/shown_value.ts";
import { checkDeclarations, NAME } from "./check_declarations.ts";
import { readApproval } from "./tool_rules.ts";
import type { AgentSpec, CompactionSettings } from "./types.ts";

const PROJECT_KEYS: readonly string[] = ["id", "hookspec", "primary"];
const AGENT_KEYS: readonly string[] = ["plugins", "tools", "compaction", "subagents"];
const ID = /^[a-z][a-z0-9-]{0,63}$/;

/** Keys that look right and are not, with the place their content belongs to. */
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

/** Checks the data of a project file. Returns its id, when it is written, and its agents, parents before children. */
export async function checkProject(
  data: unknown,
  report: DocumentReport,
): Promise<{ readonly id: string | null; readonly hookspec: string | null; readonly agents: readonly AgentSpec[] }> {
  const project = new Fields(data, [], report, { hint: "Start with primary:" });
  checkProjectKeys(project);
  const id = project.get("id", TEXT);
  if (id !== undefined && !ID.test(id)) project.error("invalid_id", "id");
  const hookspec = project.get("hookspec", SOME_TEXT);
  if (hookspec !== undefined && (hookspec.startsWith("/") || followPath([], hookspec) === null)) {
    const message = `Folder ${shown(hookspec)} is outside the project`;
    project.error("invalid_value", "hookspec", { message, hint: "Name a folder in the project, such as ./hookspec" });
  }
  const agents: AgentSpec[] = [];
  if (project.has("primary")) await checkAgent(project.fields("primary"), null, agents);
  else if (project.isMap) {
    report.error("project.missing_field", [], {
      message: 'Field "primary" is missing',
      hint: "Write primary: with the plugins of the main agent under it",
    });
  }
  return { id: id ?? null, hookspec: hookspec ?? null, agents };
}

function checkProjectKeys(project: Fields): void {
  for (const key of Object.keys(project.data)) {
    // Keys that start with x- hold anchors and notes, as in other YAML formats.
    if (PROJECT_KEYS.includes(key) || key.startsWith("x-") || isMisplaced(project, key, MISPLACED_AT_ROOT)) continue;
    const hint = didYouMean(key, PROJECT_KEYS, `Keys here: ${PROJECT_KEYS.join(", ")}; fields of an agent go below it`);
    project.error("unknown_key", key, { message: `Unknown key ${shown(key)}`, hint, part: "key" });
  }
}

/** Checks one agent and the agents below it. The order is the tree's: an agent, then its subagents one by one. */
async function checkAgent(agent: Fields, parent: string | null, agents: AgentSpec[]): Promise<void> {
  if (!agent.isMap) return;
  const path = agent.path.join(".");
  const rest: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(agent.data)) {
    if (AGENT_KEYS.includes(key) || isMisplaced(agent, key, MISPLACED)) continue;
    rest[key] = value;
    const near = nearestWord(key, AGENT_KEYS);
    if (near === null) continue;
    const message = `Key ${shown(key)} is left to other parts of the system`;
    agent.report.warn("project.carried_key", agent.at(key), { message, hint: `Did you mean "${near}"?`, part: "key" });
  }
  const plugins = await checkDeclarations(agent);
  agents.push({ path, parent, plugins, ...checkTools(agent), compaction: checkCompaction(agent), rest });
  const subagents = agent.fields("subagents");
  for (const name of Object.keys(subagents.data)) {
    if (!NAME.test(name)) subagents.error("invalid_agent_name", name, { part: "key" });
    else await checkAgent(subagents.fields(name), path, agents);
  }
}

function isMisplaced(fields: Fields, key: string, hints: ReadonlyMap<string, string>): boolean {
  const hint = hints.get(key);
  if (hint === undefined) return false;
  fields.error("misplaced_key", key, { message: `There is no ${shown(key)} here`, hint, part: "key" });
  return true;
}

/** Checks what an agent says of its tools. Other fields of an entry belong to other parts of the system. */
function checkTools(agent: Fields): Pick<AgentSpec, "tools" | "approvals"> {
  const entries = agent.fields("tools");
  const tools: Record<string, { enabled: boolean }> = {};
  const approvals: Record<string, Decision> = {};
  for (const [name, entry] of Object.entries(entries.data)) {
    const hint = `Write ${shown(name)}: { enabled: false } or { approval: ask }`;
    const tool = new Fields(entry, entries.at(name), agent.report, { hint });
    const decision = readApproval(name, tool);
    if (decision !== undefined) approvals[name] = decision;
    const enabled = checkSwitch(name, tool, hint);
    if (enabled !== undefined) tools[name] = { enabled };
    for (const key of Object.keys(tool.data)) {
      // Misspelt, they would leave a tool on that somebody wanted off, or let it be called unasked.
      if (TOOL_KEYS.includes(key) || nearestWord(key, [...TOOL_KEYS, "disabled"]) === null) continue;
      tool.error("unknown_key", key, { message: `Unknown key ${shown(key)}`, hint, part: "key" });
    }
  }
  return { tools, approvals };
}

const TOOL_KEYS: readonly string[] = ["enabled", "approval"];

/** Returns whether a tool is on; undefined for a pattern, which switches nothing, and for a mistake. */
function checkSwitch(name: string, tool: Fields, hint: string): boolean | undefined {
  const isPattern = name.includes("*");
  if (!tool.has("enabled")) return tool.isMap && !isPattern ? true : undefined;
  if (!isPattern) return tool.get("enabled", FLAG, { hint });
  const message = "A pattern switches no tools on or off";
  tool.error("invalid_value", "enabled", { message, hint: "Write an entry for each tool" });
  return undefined;
}

/** Settings of an agent without a `compaction:` block. */
const DEFAULT_COMPACTION: CompactionSettings = {
  strategy: "drop",
  delegate: null,
  target_tokens: null,
  target_messages: null,
  keep_last: 4,
};

/** Reads the `compaction:` block of an agent. */
function checkCompaction(agent: Fields): CompactionSettings {
  const block = agent.fields("compaction");
  block.expectKeys(Object.keys(DEFAULT_COMPACTION));
  const count = (key: string, least: number): number | null =>
    block.data[key] === null ? null : block.get(key, wholeNumber(least)) ?? null;
  return {
    strategy: block.choice("strategy", ["drop", "summarize"]) ?? DEFAULT_COMPACTION.strategy,
    delegate: delegateIn(block),
    target_tokens: count("target_tokens", 1),
    target_messages: count("target_messages", 1),
    keep_last: count("keep_last", 0) ?? DEFAULT_COMPACTION.keep_last,
  };
}

function delegateIn(block: Fields): string | null {
  if ((block.data.delegate ?? null) === null) return null;
  const delegate = block.fields("delegate", { hint: "Write delegate: { plugin: <key> }" });
  delegate.expectKeys(["plugin"]);
  return delegate.require("plugin", SOME_TEXT) ?? null;
}

function wholeNumber(least: number): ValueType<number> {
  return {
    name: `a whole number of at least ${least}`,
    reason: "invalid_value",
    fits: (value): value is number => Number.isSafeInteger(value) && value as number >= least,
  };
}
