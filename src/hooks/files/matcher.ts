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
export async function eventFilter(hooks: readonly FileHook[]): Promise<(hook: FileHook, event: HookEvent) => boolean> {
  const patterns = hooks.some(isPattern) ? await patternReader() : null;
  return (hook, event) => isForAgent(hook.agent, event.agent) && isMatch(hook, event, patterns);
}

function isPattern({ matcher, hook }: FileHook): boolean {
  return matcher !== undefined && !NAMES.test(matcher) && !UNMATCHED.has(hook);
}

/** An agent is known by its whole path or by its own name, which is the last part of it. */
function isForAgent(wanted: string | null, agent: string): boolean {
  return wanted === null || wanted === agent || agent.endsWith(`.${wanted}`);
}

function isMatch({ hook, matcher }: FileHook, event: HookEvent, patterns: PatternReader | null): boolean {
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
  switch (hook) {
    case "PreToolUse":
    case "PostToolUse":
      return tool?.name ?? "";
    case "SubagentStart":
    case "SubagentStop":
      return subagent?.name ?? "";
    case "SessionStart":
      return detail("source") || "startup";
    case "SessionEnd":
      return detail("reason") || "other";
    case "PreCompact":
    case "PostCompact":
      return detail("trigger") || "auto";
    case "OnError":
      return tool?.name ?? error?.code ?? "";
    case "OnBudgetExceeded":
    case "UserPromptSubmitted":
      return "";
  }
}
