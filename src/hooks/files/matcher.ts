/**
 * Matchers: the tools, or the causes of a moment, that a hook is for. The patterns come from untrusted files, so they
 * run in linear time.
 *
 * @module
 */
import { type PatternReader, patternReader } from "../../core/schema/linear_pattern.ts";
import { shown } from "../../core/values/shown_value.ts";
import type { DocumentReport } from "../../core/documents/document_report.ts";
import type { HookEvent, PortableHookName } from "../engine/types.ts";
import type { FileHook } from "./types.ts";

/** Names joined by bars: they are compared whole. Anything else is a pattern, found anywhere. */
const NAMES = /^[\w|]+$/;

/** Moments that have nothing to match: a matcher there is ignored, as in Claude Code. */
const UNMATCHED: ReadonlySet<PortableHookName> = new Set(["UserPromptSubmitted"]);

/** The fields of a hook that say which events it wants. */
type Matching = Pick<FileHook, "hook" | "matcher" | "agent">;

/** Reports every matcher that cannot be run. */
export async function checkMatchers(hooks: readonly FileHook[], report: DocumentReport): Promise<void> {
  if (!hooks.some(isPattern)) return;
  const patterns = await patternReader();
  for (const hook of hooks) {
    if (!isPattern(hook)) continue;
    const read = patterns.read(hook.matcher!);
    if (!("problem" in read)) continue;
    report.errorAt("hook.matcher_invalid", { line: hook.line, column: 1 }, {
      message: `The matcher ${shown(hook.matcher)} of ${hook.path} cannot be used: ${read.problem}`,
    });
  }
}

/** Returns whether a hook wants an event: by its agent and its matcher. */
export async function eventFilter(hooks: readonly Matching[]): Promise<(hook: Matching, event: HookEvent) => boolean> {
  const patterns = hooks.some(isPattern) ? await patternReader() : null;
  return (hook, event) => isForAgent(hook.agent, event.agent) && isMatch(hook, event, patterns);
}

function isPattern({ matcher, hook }: Pick<FileHook, "matcher" | "hook">): boolean {
  return matcher !== undefined && !NAMES.test(matcher) && !UNMATCHED.has(hook);
}

/** An agent is known by its whole path or by its own name, which is the last part of it. */
function isForAgent(wanted: string | null, agent: string): boolean {
  return wanted === null || wanted === agent || agent.endsWith(`.${wanted}`);
}

function isMatch({ hook, matcher }: Matching, event: HookEvent, patterns: PatternReader | null): boolean {
  if (matcher === undefined || UNMATCHED.has(hook)) return true;
  const subject = subjectOf(event);
  if (NAMES.test(matcher)) return matcher.split("|").includes(subject);
  const read = patterns?.read(matcher);
  // One that cannot be run was refused with its file: should it come this far, it matches everything.
  return read === undefined || "problem" in read || read.test(subject);
}

/** Returns the text that a matcher is compared with. */
function subjectOf({ hook, tool, subagent, details, error }: HookEvent): string {
  const detail = (name: string): string => typeof details?.[name] === "string" ? details[name] : "";
  const subjects: Readonly<Record<PortableHookName, string | undefined>> = {
    PreToolUse: tool?.name,
    PostToolUse: tool?.name,
    SubagentStart: subagent?.name,
    SubagentStop: subagent?.name,
    SessionStart: detail("source") || "startup",
    SessionEnd: detail("reason") || "other",
    PreCompact: detail("trigger") || "auto",
    PostCompact: detail("trigger") || "auto",
    OnError: tool?.name ?? error?.code,
    OnBudgetExceeded: "",
    UserPromptSubmitted: "",
  };
  return subjects[hook] ?? "";
}
