/**
 * Reads the answer of a handler into one shape, bounded in size, with nothing in it that JSON cannot hold.
 *
 * @module
 */
import { HostError, messageOf } from "../../core/errors/host_error.ts";
import { typeName } from "../../core/documents/fields.ts";
import { shown } from "../../core/values/shown_value.ts";
import { jsonCopy } from "../../core/values/json_copy.ts";
import type { HookEvent, HookMoment, HookResponse } from "./types.ts";

/** The parts of an event that an answer modifies. */
export type Changes = Pick<HookEvent, "input" | "output">;

/** An answer in the one shape the engine acts on. */
export interface NormalResponse {
  readonly action: HookResponse["action"];
  /** Texts to inject. */
  readonly context: readonly string[];
  /** Whether they replace the texts of earlier handlers. */
  readonly overwrites: boolean;
  /** Set with `block` and `ask` only. */
  readonly reason: string | null;
  /** The handler's own notices, and those about its answer. */
  readonly warnings: readonly string[];
  /** The new input or output; each may be null. */
  readonly changes: Changes;
  /** The name that the handler gives itself, for traces. */
  readonly hookId: string | null;
}

const ACTIONS: ReadonlyMap<unknown, HookResponse["action"]> = new Map([
  ["passThrough", "passThrough"],
  ["injectContext", "injectContext"],
  ["inject", "injectContext"],
  ["block", "block"],
  ["modify", "modify"],
  ["ask", "ask"],
]);
const MAX_WARNINGS = 20;
const MAX_WARNING_CHARS = 2_000;
const MAX_REASON_CHARS = 4_000;
const NO_REASON = "No reason was given";

/** Moments whose input `modify` may change. */
const BEFORE: ReadonlySet<HookMoment> = new Set([
  "SessionStart",
  "UserPromptSubmitted",
  "PreToolUse",
  "SubagentStart",
  "PreCompact",
]);
/** Moments whose output it may change. */
const AFTER: ReadonlySet<HookMoment> = new Set(["PostToolUse", "SubagentStop", "PostCompact", "OnError"]);

/**
 * Returns the answer in one shape, or null when there is none.
 *
 * @throws {HostError} `hook.response_invalid`
 */
export function readResponse(answer: unknown, hook: HookMoment): NormalResponse | null {
  if (answer === null || answer === undefined) return null;
  if (typeof answer !== "object" || Array.isArray(answer)) throw invalid(`It is ${typeName(answer)}, and no envelope`);
  const given = answer as Readonly<Record<string, unknown>>;
  const action = ACTIONS.get(given.action);
  if (!action) {
    throw invalid(`Its action is ${shown(given.action)}, and none of passThrough, injectContext, block, modify, ask`);
  }
  const warnings = texts(given, "warnings").slice(0, MAX_WARNINGS).map((text) => clipped(text, MAX_WARNING_CHARS));
  const { reason, metadata } = given;
  const changes = readChanges(given, action, hook, warnings);
  const isReasoned = action === "block" || action === "ask";
  if (isReasoned && reason !== undefined && reason !== null && typeof reason !== "string") {
    throw invalid(`"reason" is ${typeName(reason)}, and no text`);
  }
  const hookId = typeof metadata === "object" && metadata !== null && (metadata as { hookId?: unknown }).hookId;
  return {
    action,
    context: texts(given, "additionalContext"),
    overwrites: given.overwriteContext === true,
    reason: isReasoned ? clipped((reason as string | undefined) || NO_REASON, MAX_REASON_CHARS) : null,
    warnings,
    changes,
    hookId: typeof hookId === "string" ? clipped(hookId, 200) : null,
  };
}

/** Returns the reason in the argument of `event.ask()`, which may be anything. Never throws. */
export function readQuestion(question: unknown): string {
  try {
    const { reason } = Object(question) as { readonly reason?: unknown };
    return typeof reason === "string" && reason !== "" ? clipped(reason, MAX_REASON_CHARS) : NO_REASON;
  } catch {
    return NO_REASON; // A getter threw. That the handler asks counts all the same.
  }
}

/** Returns an answer together with an ask of the same handler; a block counts more than an ask. */
export function withAsk(response: NormalResponse | null, reason: string): NormalResponse {
  if (response === null) return { ...SILENT, reason };
  if (response.action === "block") return response;
  return { ...response, action: "ask", reason: bothReasons(response.reason, reason) };
}

/** Returns the reasons of two asks of one handler as one, within the bound of a single reason. */
export function bothReasons(first: string | null, second: string): string {
  if (first === null) return second;
  return first.includes(second) || first.length >= MAX_REASON_CHARS
    ? first
    : clipped(`${first}; ${second}`, MAX_REASON_CHARS);
}

const SILENT: NormalResponse = {
  action: "ask",
  context: [],
  overwrites: false,
  reason: NO_REASON,
  warnings: [],
  changes: {},
  hookId: null,
};

/**
 * Only `modify` and `ask` change anything, and only the input or output that the moment has. A change left out is a
 * warning.
 */
function readChanges(
  given: Readonly<Record<string, unknown>>,
  action: HookResponse["action"],
  hook: HookMoment,
  warnings: string[],
): Changes {
  const changes: { input?: unknown; output?: unknown } = {};
  for (
    const [field, key, moments] of [["modifiedInput", "input", BEFORE], ["modifiedOutput", "output", AFTER]] as const
  ) {
    if (given[field] === undefined) continue;
    if (action !== "modify" && action !== "ask") {
      warnings.push(`"${field}" was left out: the action is "${action}", and not "modify"`);
    } else if (!moments.has(hook)) warnings.push(`"${field}" was left out: ${hook} has no ${key} to modify`);
    else changes[key] = bounded(given[field], field);
  }
  if (action === "modify" && Object.keys(changes).length === 0 && warnings.length === 0) {
    throw invalid('It modifies, and has neither "modifiedInput" nor "modifiedOutput"');
  }
  return changes;
}

/** A frozen copy: it becomes part of the event that the next handlers share. */
function bounded(value: unknown, field: string): unknown {
  try {
    return jsonCopy(value, { frozen: true });
  } catch (error) {
    throw invalid(`"${field}": ${messageOf(error)}`);
  }
}

function texts(given: Readonly<Record<string, unknown>>, field: string): string[] {
  const value = given[field];
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw invalid(`"${field}" is ${typeName(value)}, and no list of texts`);
  for (const text of value) {
    if (typeof text !== "string") throw invalid(`"${field}" holds ${typeName(text)}, and no text`);
  }
  return value.filter((text) => text !== "");
}

function clipped(text: string, maxChars: number): string {
  return text.length > maxChars ? `${text.slice(0, maxChars)}…` : text;
}

function invalid(message: string): HostError {
  return new HostError("hook.response_invalid", `The answer cannot be used: ${message}`, {
    hint: 'Return null, or an envelope such as { action: "injectContext", additionalContext: ["…"] }',
  });
}
