/**
 * Built-in: figures for each hook, and nothing a person has written. Only names that look like names, numbers, and
 * yes or no leave it.
 *
 * @module
 */
import type { EmittedEvents } from "../../../events/types.ts";
import type { HookCallContext, HookEvent, HookRegistration, PortableHookName } from "../../engine/types.ts";
import { PORTABLE_HOOKS } from "../../engine/names.ts";
import { builtin, type BuiltinOptions } from "./builtin_options.ts";
import { factsOf } from "./facts.ts";
import { MAX_SESSIONS, perKey } from "./per_key.ts";
import { isPlainName } from "./plain_name.ts";

/** The figures of one firing of a hook. Each is a name, a number or a flag; an agent with an odd name is `other`. */
export interface HookMetric extends Readonly<Omit<EmittedEvents["hook:metric"], "timestamp" | "hook">> {
  /** The hook by its portable name. */
  readonly hook: PortableHookName;
}

/** Where the figures go, and how prompts are sorted. */
export interface TelemetryOptions extends BuiltinOptions {
  /** Called with the figures of each hook, such as `(metric) => host.emit("hook:metric", metric)`. */
  readonly emit: (metric: HookMetric) => void;
  /** Names the kind of a prompt, in one word of a small set. Its text goes nowhere else. */
  readonly categorize?: (prompt: unknown) => string;
}

type Figures = Record<string, string | number | boolean | null | undefined>;
type SessionFigures = ReturnType<typeof noFigures>;

function noFigures() {
  return {
    correlationId: null as string | null,
    startedMs: null as number | null,
    prompts: 0,
    toolCalls: 0,
    rotations: 0,
    subagentStartsMs: new Map<string, number>(),
  };
}

/** Returns the handlers: every hook, priority 90, telemetry only. */
export function telemetry({ emit, categorize, ...options }: TelemetryOptions): HookRegistration[] {
  const sessionOf = perKey(MAX_SESSIONS, noFigures);

  function measure(event: HookEvent, context: HookCallContext): null {
    const { agent, sessionId, hook, details } = event;
    const session = sessionOf(sessionId);
    if (session.correlationId === null) {
      const from = typeof details?.rotatedFrom === "string" ? sessionOf(details.rotatedFrom) : null;
      session.correlationId = from?.correlationId ?? sessionId;
      session.rotations = from ? from.rotations + 1 : 0;
    }
    const figures = Object.entries(figuresOf(event, session, context, categorize));
    const present = figures.filter(([, value]) => value !== null && value !== undefined);
    emit({
      agentName: name(agent),
      conversationId: sessionId,
      hook,
      correlationId: session.correlationId,
      figures: Object.fromEntries(present) as HookMetric["figures"],
    });
    return null;
  }

  const handlers = Object.fromEntries(PORTABLE_HOOKS.map((hook) => [hook, measure]));
  return builtin("telemetry", { priority: 90, telemetryOnly: true }, options, handlers);
}

function figuresOf(
  event: HookEvent,
  session: SessionFigures,
  { soFar, firing }: HookCallContext,
  categorize: TelemetryOptions["categorize"],
): Figures {
  const { tool, subagent, error, budget, details = {}, timestamp, input } = event;
  const atMs = Date.parse(timestamp);
  const facts = factsOf(firing);
  const blocked = soFar.blockedBy !== null;
  switch (event.hook) {
    case "SessionStart":
      session.startedMs = atMs;
      return {
        memoryHits: facts.memoryHits ?? soFar.injections,
        bootstrapMs: number(details.bootstrapMs),
        model: details.model === undefined ? null : name(details.model),
      };
    case "SessionEnd":
      return {
        durationMs: session.startedMs === null ? null : atMs - session.startedMs,
        toolCalls: session.toolCalls,
        persistedFacts: facts.persistedFacts ?? number(details.persistedFacts),
      };
    case "UserPromptSubmitted":
      session.prompts++;
      return {
        category: categorize ? name(categorize(input)) : null,
        phase: session.prompts === 1 ? "first" : "later",
        blocked,
      };
    case "PreToolUse":
      // The plugin of a tool, or the tool when it has none.
      return { category: name(tool?.name.split(".")[0]), checks: soFar.asked - 1, warnings: soFar.warnings, blocked };
    case "PostToolUse":
      session.toolCalls++;
      return { tool: name(tool?.name), durationMs: tool?.durationMs, success: tool?.success, blocked };
    case "SubagentStart":
      if (subagent) session.subagentStartsMs.set(`${subagent.parent} ${subagent.name}`, atMs);
      return { ...namesOf(subagent), blocked };
    case "SubagentStop":
      return { ...namesOf(subagent), durationMs: number(details.durationMs) ?? sinceStart(session, subagent, atMs) };
    case "PreCompact":
      return { tokens: tokens(details.before) ?? budget?.usedTokens, handoffBytes: facts.handoffBytes, blocked };
    case "PostCompact":
      return {
        anchorsKept: facts.anchorsKept,
        anchorsLost: facts.anchorsLost,
        ratio: ratio(tokens(details.after), tokens(details.before)),
      };
    case "OnError":
      return { errorClass: name(error?.code), tool: tool ? name(tool.name) : null, recurrence: facts.recurrence ?? 1 };
    case "OnBudgetExceeded":
      return { threshold: number(details.threshold), rotates: blocked, rotations: session.rotations };
  }
}

function namesOf(subagent: HookEvent["subagent"]): Figures {
  return { subagent: name(subagent?.name), parent: name(subagent?.parent), depth: subagent?.depth };
}

function sinceStart(session: SessionFigures, subagent: HookEvent["subagent"], atMs: number): number | null {
  if (!subagent) return null;
  const key = `${subagent.parent} ${subagent.name}`;
  const startedMs = session.subagentStartsMs.get(key);
  session.subagentStartsMs.delete(key);
  return startedMs === undefined ? null : atMs - startedMs;
}

/** A name that looks like one, else `other`. */
function name(value: unknown): string {
  return isPlainName(value) ? value : "other";
}

function number(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

function tokens(size: unknown): number | null {
  return number((size as { tokens?: unknown } | null | undefined)?.tokens);
}

function ratio(after: number | null, before: number | null): number | null {
  return after === null || !before ? null : Math.round(after / before * 1000) / 1000;
}
