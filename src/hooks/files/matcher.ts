/**
 * Matchers: the tools, or the causes of a moment, that a hook is for, as its dialect reads them. The patterns come from
 * untrusted files, so they run in linear time.
 *
 * @module
 */
import { type PatternReader, patternReader } from "../../core/schema/linear_pattern.ts";
import { shown } from "../../core/values/shown_value.ts";
import type { HookEvent } from "../engine/types.ts";
import { DIALECTS, eventOf, type ToolNames, toolNames } from "./dialects/all.ts";
import { type FactContext, FACTS } from "./dialects/facts.ts";
import type { DialectEvent, EventFilter, MatcherRule } from "./dialects/types.ts";
import { fitsRule, parseRule, type RulePlaces } from "./permission_rule.ts";
import type { FileHook } from "./types.ts";

/** The fields of a hook that say which events it wants. */
type Matching = Pick<FileHook, "hook" | "nativeName" | "dialect" | "matcher" | "condition" | "agent">;

/** Returns why the matcher of a hook cannot be used, or null. */
export async function matcherProblem(hook: Matching): Promise<string | null> {
  const pattern = patternIn(hook);
  if (pattern === null) return null;
  const read = (await patternReader()).read(pattern);
  if (!("problem" in read)) return null;
  return `Its matcher ${shown(hook.matcher)} cannot be used: ${read.problem}`;
}

/** Returns whether a hook wants an event: by its agent, its moment, its matcher and its condition. */
export async function eventFilter(
  hooks: readonly Matching[],
  places: RulePlaces = { dir: "/" },
): Promise<(hook: Matching, event: HookEvent) => boolean> {
  const needsPatterns = hooks.some((hook) => patternIn(hook) !== null || hook.condition !== undefined);
  const patterns = needsPatterns ? await patternReader() : null;
  return (hook, event) =>
    isForAgent(hook.agent, event.agent) && isMatch(hook, event, patterns) && isMet(hook, event, places, patterns);
}

/** Returns the pattern of a hook; null when it has none: no matcher, or names that are compared. */
function patternIn(hook: Matching): string | null {
  const { matcher } = hook;
  const { names, anchored, literalIfBad, causesExact } = DIALECTS[hook.dialect].matcher;
  const { matches } = eventOf(hook);
  if (matcher === undefined || matches === null || names?.test(matcher)) return null;
  if ((causesExact && matches !== "tool") || (literalIfBad && !isPattern(matcher))) return null;
  return anchored ? `^(?:${matcher})$` : matcher;
}

function isPattern(matcher: string): boolean {
  try {
    new RegExp(matcher, "u"); // It is read, and never run.
    return true;
  } catch {
    return false;
  }
}

/** An agent is known by its whole path or by its own name, which is the last part of it. */
function isForAgent(wanted: string | null, agent: string): boolean {
  return wanted === null || wanted === agent || agent.endsWith(`.${wanted}`);
}

function isMatch(hook: Matching, event: HookEvent, patterns: PatternReader | null): boolean {
  const moment = eventOf(hook);
  const names = toolNames(event.tool?.name ?? "", hook);
  if (moment.only?.length && !moment.only.some((filter) => isWanted(filter, event, names))) return false;
  const { matcher } = hook;
  if (matcher === undefined || moment.matches === null) return true;
  return subjectsOf(moment, event, names).some((subject) => fits(hook, matcher, subject, patterns));
}

function fits(hook: Matching, matcher: string, subject: string, patterns: PatternReader | null): boolean {
  const rule: MatcherRule = DIALECTS[hook.dialect].matcher;
  if (rule.names?.test(matcher)) return matcher.split(rule.split).some((name) => name.trim() === subject);
  const pattern = patternIn(hook);
  if (pattern === null) return matcher === subject;
  const read = patterns?.read(pattern);
  // One that cannot be run was left out with its hook: should it come this far, it matches everything.
  return read === undefined || "problem" in read || read.test(subject);
}

function isWanted(filter: EventFilter, { tool, agent, error }: HookEvent, { kind, mcp }: ToolNames): boolean {
  if (filter === "succeeded") return tool?.success !== false && error === undefined;
  if (filter === "toolFailed") return tool !== undefined;
  if (filter === "noTool") return tool === undefined;
  if (filter === "topLevel") return !agent.includes(".");
  return filter === "mcp" ? mcp !== null : kind === filter;
}

/** Returns the texts that a matcher is compared with: one of them is enough. */
function subjectsOf({ matches }: DialectEvent, event: HookEvent, { all }: ToolNames): readonly string[] {
  if (matches === null) return [];
  if (matches !== "tool") return [String(FACTS[matches]({ event } as FactContext))];
  return event.tool === undefined ? [event.error?.code ?? ""] : all;
}

/** Whether the call of a tool meets the condition of a hook. One that cannot be read is met: its hook is a check. */
function isMet(hook: Matching, event: HookEvent, places: RulePlaces, patterns: PatternReader | null): boolean {
  if (hook.condition === undefined) return true;
  if (event.tool === undefined) return false;
  const rule = parseRule(hook.condition);
  if (rule === null || patterns === null) return true;
  const { native } = toolNames(event.tool.name, { dialect: "claude", nativeName: hook.nativeName });
  return fitsRule(rule, { tool: native, event }, places, patterns);
}
