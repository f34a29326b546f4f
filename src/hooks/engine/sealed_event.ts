/**
 * The event as handlers get it: a copy of the caller's, frozen all the way down. One copy serves them all, since none
 * can change what another sees.
 *
 * @module
 */
import { copyField, type JsonWalk, openWalk } from "../../core/values/json_copy.ts";
import { errorFacts } from "./error_facts.ts";
import type { HookCallEvent, HookEvent, HookMoment, HookQuestion, PortableHookName } from "./types.ts";

/** A sealed event, and the reason why it lacks a part of the caller's. */
export interface SealedEvent {
  readonly event: HookCallEvent;
  /** Null when handlers see the event whole. */
  readonly cut: string | null;
}

type GivenEvent = Omit<HookEvent, "hook" | "timestamp" | "error"> & { readonly error?: unknown };
type Draft = { -readonly [Field in keyof HookEvent]: HookEvent[Field] };
type Ask = HookCallEvent["ask"];

/** Hears the asks of handlers: a firing. */
export interface HearsAsks {
  /** Returns the `ask` of the handler whose turn it is. */
  asker(): Ask;
}

const UNHEARD: Ask = (_: HookQuestion): void => {};

/** `ask` is on the prototype: to define it on each event, not enumerable, would cost as much as a small handler. */
class CallEvent implements HookCallEvent {
  readonly hook: PortableHookName;
  readonly timestamp: string;
  readonly sessionId: string;
  readonly agent: string;
  #heardBy: HearsAsks | null = null;

  constructor(hook: HookMoment, timestamp: string, sessionId: string, agent: string) {
    this.hook = hook as PortableHookName;
    this.timestamp = timestamp;
    this.sessionId = sessionId;
    this.agent = agent;
  }

  get ask(): Ask {
    return this.#heardBy?.asker() ?? UNHEARD;
  }

  static hear(event: HookCallEvent, heardBy: HearsAsks | null): void {
    (event as CallEvent).#heardBy = heardBy;
  }
}
// All events share it, and no handler may change the `ask` of another.
Object.freeze(CallEvent.prototype);
Object.freeze(CallEvent);

/** From now on `ask` of this sealed event goes to `heardBy`. */
export const hearAsks: (event: HookCallEvent, heardBy: HearsAsks) => void = CallEvent.hear;

/** A window of a large model fits. */
const LIMITS = { frozen: true, maxChars: 64 * 1024 * 1024 };

/** Returns the sealed event; fields that events do not have are left out. Never throws. */
export function sealEvent(given: GivenEvent, hook: HookMoment, timestamp: string): SealedEvent {
  const { sessionId, agent } = given;
  const event = new CallEvent(hook, timestamp, sessionId, agent);
  let walk = openWalk(LIMITS);
  try {
    copyFields(given, event, walk);
  } catch {
    // Something in it is no JSON, which is rare: only then the copy goes the slower way.
    walk = openWalk({ ...LIMITS, normalises: true });
    copyFields(given, event, walk);
  }
  return { event: Object.freeze(event), cut: walk.cut };
}

/** Returns a sealed event in the place of another, whose `ask` has no effect from now on. */
export function replaceEvent(
  event: HookCallEvent,
  changes: Pick<HookEvent, "input" | "output">,
  heardBy: HearsAsks | null,
): HookCallEvent {
  const { hook, timestamp, sessionId, agent } = event;
  const copy = Object.freeze(Object.assign(new CallEvent(hook, timestamp, sessionId, agent), event, changes));
  CallEvent.hear(event, null);
  CallEvent.hear(copy, heardBy);
  return copy;
}

/** Field by field, not in a loop: the shapes are few, and engines of the language are quick with those. */
function copyFields(given: GivenEvent, event: Draft, walk: JsonWalk): void {
  const { repository, branch, budget, tool, input, output, error, subagent, details } = given;
  if (repository !== undefined) event.repository = copyField("repository", repository, walk);
  if (branch !== undefined) event.branch = copyField("branch", branch, walk);
  if (budget !== undefined) event.budget = copyField("budget", budget, walk);
  if (tool !== undefined) event.tool = copyField("tool", tool, walk);
  if (input !== undefined) event.input = copyField("input", input, walk) ?? null;
  if (output !== undefined) event.output = copyField("output", output, walk) ?? null;
  if (hasFailed(error)) event.error = copyField("error", errorFacts(error), walk);
  if (subagent !== undefined) event.subagent = copyField("subagent", subagent, walk);
  if (details !== undefined) event.details = copyField("details", details, walk);
}

/** Whether the `error` of an event or of a tool call stands for a failure. */
export function hasFailed(error: unknown): boolean {
  return error !== undefined && error !== null;
}
