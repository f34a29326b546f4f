/**
 * Turns the record of watched calls and of people's answers into proposed rules. Pure: the trail is read elsewhere.
 *
 * @module
 */
import type { Decision } from "./rules.ts";

/** One event of an audit trail. */
interface RecordedEvent {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Types of the events that proposals are made from. */
export const RECORDED_TYPES: readonly string[] = ["plugin.tool_watched", "approval.answered"];

/** What the record says of one tool of one agent. */
export interface ToolUse {
  readonly tool: string;
  readonly agent: string;
  /** Calls that would have been asked for. */
  readonly watched: number;
  /** Calls that a person allowed as they were. */
  readonly allowed: number;
  /** Calls that a person allowed with other arguments. */
  readonly edited: number;
  readonly denied: number;
  /** Whether the tool claimed at every watched call that it only reads. */
  readonly isReadOnly: boolean;
  /** Whether it ever claimed that it destroys. */
  readonly isDestructive: boolean;
  /** The rules that watched it. */
  readonly watchedBy: readonly string[];
}

/** A rule that the record speaks for. */
export interface ProposedRule {
  readonly tool: string;
  readonly agent: string;
  readonly project: string;
  readonly decision: Exclude<Decision, "watch">;
  /** Why, in words. */
  readonly why: string;
}

/** So many answers in a row that all allow are taken for a person's will. */
const ENOUGH = 3;

/** Adds an event to the uses by tool and agent; one of another type, or without these facts, changes nothing. */
export function addUse(uses: Map<string, ToolUse>, { type, data }: RecordedEvent): void {
  const { tool, agent_path: agent } = data;
  // The network asks too, and there are no rules on it here.
  if (!RECORDED_TYPES.includes(type) || typeof agent !== "string" || !isToolName(tool)) return;
  const key = `${agent}\0${tool}`;
  const use = uses.get(key) ?? emptyUse(tool, agent);
  uses.set(key, type === "plugin.tool_watched" ? withWatched(use, data) : withAnswer(use, data));
}

/** Returns the rule that a record speaks for. */
export function proposalOf(use: ToolUse, project: string): ProposedRule {
  const { tool, agent, allowed, edited, denied, isReadOnly } = use;
  const propose = (decision: ProposedRule["decision"], why: string): ProposedRule => {
    return { tool, agent, project, decision, why };
  };
  if (denied > 0 && allowed + edited === 0) return propose("deny", `denied every time, ${times(denied)}`);
  if (denied > 0) return propose("ask", `allowed ${times(allowed + edited)}, denied ${times(denied)}`);
  if (edited > 0) return propose("ask", `allowed with other arguments, ${times(edited)}`);
  if (allowed >= ENOUGH) return propose("allow", `allowed every time, ${times(allowed)}`);
  if (isReadOnly) return propose("allow", "it claims only to read");
  return propose("ask", allowed > 0 ? `allowed only ${times(allowed)}` : "nobody has answered for it");
}

/** Returns rules as lines of config.toml. */
export function ruleLines(rules: readonly ProposedRule[]): string[] {
  return rules.flatMap(({ tool, agent, project, decision, why }, index) => [
    ...(index === 0 ? [] : [""]),
    "[[tool_rules]]",
    `tool = ${JSON.stringify(tool)}`,
    `agent = ${JSON.stringify(agent)}`,
    `project = ${JSON.stringify(project)}`,
    `decision = ${JSON.stringify(decision)} # ${why}`,
  ]);
}

function emptyUse(tool: string, agent: string): ToolUse {
  const counts = { watched: 0, allowed: 0, edited: 0, denied: 0 };
  return { tool, agent, ...counts, isReadOnly: false, isDestructive: false, watchedBy: [] };
}

function withWatched(use: ToolUse, { by, read_only: readOnly, destructive }: RecordedEvent["data"]): ToolUse {
  const { watched, watchedBy } = use;
  return {
    ...use,
    watched: watched + 1,
    isReadOnly: readOnly === true && (watched === 0 || use.isReadOnly),
    isDestructive: destructive === true || use.isDestructive,
    watchedBy: typeof by !== "string" || watchedBy.includes(by) ? watchedBy : [...watchedBy, by],
  };
}

function withAnswer(use: ToolUse, { decision, edited }: RecordedEvent["data"]): ToolUse {
  if (decision !== "allow") return { ...use, denied: use.denied + 1 };
  return edited === true ? { ...use, edited: use.edited + 1 } : { ...use, allowed: use.allowed + 1 };
}

function isToolName(tool: unknown): tool is string {
  return typeof tool === "string" && /^[a-z0-9-]+\.[a-z0-9_]+$/.test(tool);
}

function times(count: number): string {
  return count === 1 ? "once" : `${count} times`;
}
