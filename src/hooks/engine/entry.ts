/**
 * A registration, checked, with every option settled.
 *
 * @module
 */
import { NAMELESS } from "../../core/contract/hook_names.ts";
import { HostError } from "../../core/errors/host_error.ts";
import { typeName } from "../../core/documents/fields.ts";
import { didYouMean } from "../../core/values/nearest_word.ts";
import { shown } from "../../core/values/shown_value.ts";
import { DEFAULT_PRIORITY } from "../dispatch/order.ts";
import { requireHook } from "./names.ts";
import type { HookEvent, HookHandler, HookRegistration, HookSource } from "./types.ts";

/** A handler where it stands in the order, with every option of its registration settled. */
export interface ListedHook extends Required<Omit<HookRegistration, "handler" | "matches" | "agents">> {
  /** Its place among the handlers of that hook, from 1. */
  readonly place: number;
  /** Agents it is for, or null for all. */
  readonly agents: readonly string[] | null;
}

/** A handler, ready to be asked. */
export interface Entry extends Omit<ListedHook, "place"> {
  readonly handler: HookHandler;
  /** Whether it wants an event, or null for all. */
  readonly matches: ((event: HookEvent) => boolean) | null;
}

/** Whether a failure of the handler blocks: it has a say, and asked for it. */
export function isPolicy({ onFailure, advisory, telemetryOnly }: Entry): boolean {
  return onFailure === "block" && !advisory && !telemetryOnly;
}

const TIMEOUT_MS = 3_000;
const MAX_TIMEOUT_MS = 600_000;
const FORM = 'A registration is { hook: "PreToolUse", handler: (event) => … } and options; add() takes one, or a list';
const isFlag = (value: unknown): boolean => typeof value === "boolean";

/** Options by name: whether a value will do, and what would. */
const OPTIONS: Readonly<Record<string, readonly [isGood: (value: unknown) => boolean, wanted: string]>> = {
  hook: [(value) => typeof value === "string", "the name of a hook"],
  handler: [(value) => typeof value === "function", "a function"],
  priority: [Number.isFinite, "a number"],
  timeoutMs: [
    (ms) => typeof ms === "number" && ms >= 1 && ms <= MAX_TIMEOUT_MS,
    `milliseconds from 1 to ${MAX_TIMEOUT_MS}`,
  ],
  onFailure: [(value) => value === "pass" || value === "block", '"pass" or "block"'],
  advisory: [isFlag, "true or false"],
  telemetryOnly: [isFlag, "true or false"],
  turnEnd: [isFlag, "true or false"],
  agents: [(value) => Array.isArray(value) && value.every((one) => typeof one === "string"), "a list of agent paths"],
  matches: [(value) => typeof value === "function", "a function"],
  source: [(value) => typeof (value as HookSource | null)?.id === "string", "{ kind, id }"],
};

/**
 * Returns the entries of one registration, or of all in a list.
 *
 * @throws {HostError} `hook.unknown`, `hook.option_invalid`
 */
export function entriesOf(given: HookRegistration | Iterable<HookRegistration>): Entry[] {
  if (typeof given !== "object" || given === null) throw unreadable(`${typeName(given)} is no registration`);
  return Symbol.iterator in given ? Array.from(given, entryOf) : [entryOf(given)];
}

function entryOf(registration: HookRegistration, index?: number): Entry {
  const at = index === undefined ? "" : ` at place ${index} of the list`;
  if (typeof registration !== "object" || registration === null || Symbol.iterator in registration) {
    throw unreadable(`${typeName(registration)}${at} is no registration`);
  }
  if (!("hook" in registration)) throw unreadable(`An object without "hook"${at} is no registration`);
  for (const [option, value] of Object.entries(registration)) checkOption(registration.hook, option, value);
  const { handler, priority = DEFAULT_PRIORITY, timeoutMs = TIMEOUT_MS, onFailure = "pass" } = registration;
  if (handler === undefined) throw invalid(registration.hook, "handler", "is missing");
  const hook = requireHook(registration.hook);
  const { advisory = false, telemetryOnly = false, agents = null, matches = null } = registration;
  const { turnEnd = (registration.hook as string) === "Stop" } = registration;
  if (turnEnd && hook !== "SessionEnd") throw invalid(hook, "turnEnd", "is for handlers of SessionEnd");
  const source = registration.source ?? { kind: "code", id: handler.name || NAMELESS };
  return { hook, handler, priority, timeoutMs, onFailure, advisory, telemetryOnly, turnEnd, agents, matches, source };
}

function checkOption(hook: string, option: string, value: unknown): void {
  const rule = Object.hasOwn(OPTIONS, option) ? OPTIONS[option] : undefined;
  if (!rule) throw invalid(hook, option, "is no option", didYouMean(option, Object.keys(OPTIONS), FORM));
  const [isGood, wanted] = rule;
  if (value === undefined || isGood(value)) return;
  const found = typeof value === "string" ? shown(value) : typeof value === "number" ? value : typeName(value);
  throw invalid(hook, option, `is ${found}, and not ${wanted}`);
}

function unreadable(problem: string): HostError {
  return new HostError("hook.option_invalid", `Cannot add handlers: ${problem}`, { hint: FORM });
}

function invalid(hook: string, option: string, problem: string, hint: string = FORM): HostError {
  return new HostError("hook.option_invalid", `Cannot register for ${String(hook)}: "${option}" ${problem}`, {
    data: { hook: String(hook), option },
    hint,
  });
}
