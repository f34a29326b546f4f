/**
 * The portable hook engine: handlers of any source in one ordered chain.
 *
 * @module
 */
import { HostError, messageOf } from "../../errors.ts";
import type { AsyncStorage, Clock } from "../../ports.ts";
import { isPromise } from "../dispatch/in_turn.ts";
import { DEFAULT_PRIORITY, inOrder } from "../dispatch/order.ts";
import type { MaybePromise } from "../dispatch/types.ts";
import { type ContextRoom, INJECT_BUDGET_BYTES, openContextRoom } from "./context_room.ts";
import { createDeadlines } from "./deadlines.ts";
import { type Entry, Firing, type FiringPorts } from "./firing.ts";
import { PORTABLE_HOOKS, requireHook } from "./names.ts";
import type { HookResult, HookTrace } from "./result.ts";
import type { HookEvent, HookHandler, HookOptions, HookRegistration, HookSource, PortableHookName } from "./types.ts";

/** How an engine is set up. */
export interface HookEngineOptions {
  /** Time. */
  readonly clock: Clock;
  /** Hears what came of each handler. */
  readonly onTrace?: (trace: HookTrace) => void;
  /** Bytes of text the handlers of one firing may inject together. Default 32 KiB. */
  readonly injectBudgetBytes?: number;
  /** Makes the room for injected text instead, one for each firing. */
  readonly openRoom?: (scope: object) => ContextRoom;
  /**
   * An `AsyncLocalStorage`, to know a handler that fires its own hook again after a wait. Without it, only one that
   * does so before its first wait is known.
   */
  readonly asyncStorage?: AsyncStorage;
}

/** An event as it is fired: any name of the hook, and the time when it is not now. */
export interface FiredEvent extends Omit<HookEvent, "hook" | "timestamp"> {
  /** The moment, by its portable name or another. */
  readonly hook: string;
  /** When, ISO 8601. Default: now. */
  readonly timestamp?: string;
}

/** A handler where it stands in the order. */
export interface ListedHook {
  /** The moment. */
  readonly hook: PortableHookName;
  /** Its place among the handlers of that hook, from 1. */
  readonly place: number;
  /** Priority. */
  readonly priority: number;
  /** Time it may take. */
  readonly timeoutMs: number;
  /** What a failure of it means. */
  readonly onFailure: "pass" | "block";
  /** Whether it is advisory: warns and injects only. */
  readonly advisory: boolean;
  /** Whether it only looks on. */
  readonly telemetryOnly: boolean;
  /** Agents it is for, or null for all. */
  readonly agents: readonly string[] | null;
  /** Where it comes from, with file and line when it has them. */
  readonly source: HookSource;
}

/** Runs handlers of portable hooks. */
export interface HookEngine {
  /**
   * Adds a handler for a hook, by any name of it. The returned function takes it out again; firings under way keep it.
   *
   * @throws {HostError} `hooks.unknown_hook`, `hooks.option_invalid`
   */
  register(hook: string, handler: HookHandler, options?: HookOptions): () => void;
  /** Adds what a source of hooks has made. The returned function takes it all out again. */
  add(registrations: Iterable<HookRegistration>): () => void;
  /**
   * Fires an event: await it. When every handler answers at once, so does this. Never rejects for a handler.
   *
   * @throws {HostError} `hooks.unknown_hook`, `hooks.event_invalid`
   */
  fire(event: FiredEvent, options?: { readonly scope?: object }): MaybePromise<HookResult>;
  /** The handlers in the order they run, of one hook or of all. */
  list(hook?: string): ListedHook[];
}

const TIMEOUT_MS = 3_000;
const MAX_TIMEOUT_MS = 600_000;
/** A handler that fires its own hook without end, unseen, ends here. */
const MAX_UNDER_WAY = 10_000;

/** A firing that is under way, and the one it was fired from. */
interface Frame {
  readonly engine: object;
  readonly hook: PortableHookName;
  readonly outer: unknown;
}

/** Returns an engine without handlers. */
export function createHookEngine(options: HookEngineOptions): HookEngine {
  return new Engine(options);
}

class Engine implements HookEngine {
  readonly #options: HookEngineOptions;
  readonly #deadlines: ReturnType<typeof createDeadlines>;
  readonly #onTrace: ((trace: HookTrace) => void) | null;
  /** By hook, in order. A list is never changed: firings under way go on with theirs. */
  readonly #entries = new Map<PortableHookName, readonly Entry[]>();
  /** The firing whose handler runs right now, until its first wait. */
  #running: unknown = null;
  #underWay = 0;

  constructor(options: HookEngineOptions) {
    this.#options = options;
    this.#onTrace = options.onTrace ?? null;
    this.#deadlines = createDeadlines(options.clock);
  }

  register(hook: string, handler: HookHandler, options: HookOptions = {}): () => void {
    return this.add([{ ...options, hook: hook as PortableHookName, handler }]);
  }

  add(registrations: Iterable<HookRegistration>): () => void {
    const added = Array.from(registrations, entryOf);
    for (const entry of added) this.#change(entry.hook, (entries) => inOrder([...entries, entry]));
    return () => {
      for (const entry of added) this.#change(entry.hook, (entries) => entries.filter((one) => one !== entry));
    };
  }

  #change(hook: PortableHookName, change: (entries: readonly Entry[]) => readonly Entry[]): void {
    this.#entries.set(hook, change(this.#entries.get(hook) ?? []));
  }

  fire(given: FiredEvent, { scope = {} }: { readonly scope?: object } = {}): MaybePromise<HookResult> {
    const event = this.#checked(given);
    const entries = this.#entries.get(event.hook) ?? [];
    const storage = this.#options.asyncStorage;
    const outer = storage?.getStore() ?? this.#running;
    if (this.#isWithin(outer, event.hook)) return this.#refused(event, entries);
    if (this.#underWay >= MAX_UNDER_WAY) throw tooMany(event.hook);
    const frame: Frame = { engine: this, hook: event.hook, outer };
    const firing = this.#open(event, scope, frame);
    const result = storage ? storage.run(frame, () => firing.run(entries)) : firing.run(entries);
    return isPromise(result) ? this.#counted(result) : result;
  }

  list(hook?: string): ListedHook[] {
    const hooks = hook === undefined ? PORTABLE_HOOKS : [requireHook(hook)];
    return hooks.flatMap((name) =>
      (this.#entries.get(name) ?? []).map(({ handler: _, matches: __, ...entry }, index) => {
        return { ...entry, place: index + 1 };
      })
    );
  }

  #open(event: HookEvent, scope: object, frame: Frame): Firing {
    const { clock, openRoom, injectBudgetBytes = INJECT_BUDGET_BYTES } = this.#options;
    const room = openRoom ? openRoom(scope) : openContextRoom(injectBudgetBytes);
    const call: FiringPorts["call"] = ({ handler }, event, context) => {
      const before = this.#running;
      this.#running = frame;
      try {
        return handler(event, context);
      } finally {
        this.#running = before;
      }
    };
    try {
      return new Firing(event, { clock, call, deadlines: this.#deadlines, room, onTrace: this.#onTrace, scope });
    } catch (error) {
      throw invalidEvent(event.hook, messageOf(error));
    }
  }

  #checked(given: FiredEvent): HookEvent {
    const hook = requireHook(given.hook);
    if (typeof given.sessionId !== "string") throw invalidEvent(hook, '"sessionId" is no text');
    if (typeof given.agent !== "string") throw invalidEvent(hook, '"agent" is no text');
    const timestamp = given.timestamp ?? new Date(this.#options.clock.now()).toISOString();
    return { ...given, hook, timestamp };
  }

  #isWithin(outer: unknown, hook: PortableHookName): boolean {
    for (let frame = outer as Frame | null | undefined; frame; frame = frame.outer as Frame | null) {
      if (frame.engine === this && frame.hook === hook) return true;
    }
    return false;
  }

  /** A handler fired its own hook again: nobody is asked, and that is told. */
  #refused(event: HookEvent, entries: readonly Entry[]): HookResult {
    const { hook, sessionId, agent, input, output } = event;
    const reason = `${hook} was fired by a handler of ${hook}`;
    const trace = entries.map(({ source }): HookTrace => {
      return { hook, sessionId, agent, source, outcome: "skipped", durationMs: 0, reason };
    });
    for (const each of trace) this.#onTrace?.(each);
    const warnings = [`${reason}: no handler was asked`];
    return { hook, blocked: false, blockedBy: null, reason: null, input, output, context: [], warnings, trace };
  }

  async #counted(result: Promise<HookResult>): Promise<HookResult> {
    this.#underWay++;
    try {
      return await result;
    } finally {
      this.#underWay--;
    }
  }
}

function entryOf(registration: HookRegistration): Entry {
  const { handler, priority = DEFAULT_PRIORITY, timeoutMs = TIMEOUT_MS, onFailure = "pass" } = registration;
  const hook = requireHook(registration.hook);
  if (typeof handler !== "function") throw invalidOption(hook, "handler", "is no function");
  if (!Number.isFinite(priority)) throw invalidOption(hook, "priority", `is ${priority}, and no number`);
  if (!(timeoutMs >= 1 && timeoutMs <= MAX_TIMEOUT_MS)) {
    throw invalidOption(hook, "timeoutMs", `is ${timeoutMs}, and not within 1 and ${MAX_TIMEOUT_MS}`);
  }
  if (onFailure !== "pass" && onFailure !== "block") {
    throw invalidOption(hook, "onFailure", `is "${onFailure}", and neither "pass" nor "block"`);
  }
  const { advisory = false, telemetryOnly = false, agents = null, matches = null } = registration;
  const source = registration.source ?? { kind: "code", id: handler.name || "anonymous" };
  return { hook, handler, priority, timeoutMs, onFailure, advisory, telemetryOnly, agents, matches, source };
}

function tooMany(hook: PortableHookName): HostError {
  return new HostError("hooks.event_invalid", `Cannot fire ${hook}: ${MAX_UNDER_WAY} firings are under way`, {
    data: { hook },
    hint: "Does a handler fire its own hook? Give the engine an AsyncLocalStorage, which tells",
  });
}

function invalidEvent(hook: string, problem: string): HostError {
  return new HostError("hooks.event_invalid", `Cannot fire ${hook}: ${problem}`, {
    data: { hook },
    hint: "An event has hook, sessionId and agent, and everything in it is plain JSON",
  });
}

function invalidOption(hook: string, option: string, problem: string): HostError {
  return new HostError("hooks.option_invalid", `Cannot register for ${hook}: "${option}" ${problem}`, {
    data: { hook, option },
    hint: "Timeouts are in milliseconds; the lowest priority runs first",
  });
}
