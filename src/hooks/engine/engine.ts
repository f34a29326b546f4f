/**
 * The portable hook engine: handlers of any source in one ordered chain.
 *
 * @module
 */
import { HostError, messageOf } from "../../core/errors/host_error.ts";
import type { AsyncStorage, Clock } from "../../core/ports/ports.ts";
import { inOrder } from "../dispatch/order.ts";
import type { MaybePromise } from "../dispatch/types.ts";
import { type ContextRoom, openContextRoom } from "./context_room.ts";
import { createDeadlines } from "./deadlines.ts";
import { type Entry, entryOf, type ListedHook } from "./entry.ts";
import { Firing, type FiringPorts } from "./firing.ts";
import { PORTABLE_HOOKS, requireHook } from "./names.ts";
import { tellOf } from "./outcome.ts";
import type { HookResult, HookTrace } from "./result.ts";
import { sealEvent } from "./sealed_event.ts";
import type { HookEvent, HookHandler, HookOptions, HookRegistration, PortableHookName } from "./types.ts";

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
   * does so before its first wait is known, and others are stopped when some 256 firings wait in one session.
   */
  readonly asyncStorage?: AsyncStorage | undefined;
}

/** An event as it is fired: any name of the hook, and the time when it is not now. */
export interface FiredEvent extends Omit<HookEvent, "hook" | "timestamp"> {
  /** The moment, by its portable name or another. */
  readonly hook: string;
  /** When, ISO 8601. Default: now. */
  readonly timestamp?: string;
}

/** Runs handlers of portable hooks. */
export interface HookEngine {
  /**
   * Adds a handler for a hook, by any name of it. The returned function takes it out again; firings under way keep it.
   *
   * @throws {HostError} `hook.unknown`, `hook.option_invalid`
   */
  register(hook: string, handler: HookHandler, options?: HookOptions): () => void;
  /**
   * Adds what a source of hooks has made; `first`, before what is there already with the same priority. The returned
   * function takes it all out again.
   */
  add(registrations: Iterable<HookRegistration>, options?: { readonly first?: boolean }): () => void;
  /**
   * Fires an event: await it. When every handler answers at once, so does this. Never rejects for a handler.
   *
   * @throws {HostError} `hook.unknown`, `hook.event_invalid`
   */
  fire(event: FiredEvent, options?: { readonly scope?: object | null }): MaybePromise<HookResult>;
  /** The handlers in the order they run, of one hook or of all. */
  list(hook?: string): ListedHook[];
}

/** Firings that may wait at a time. */
const MAX_UNDER_WAY = 10_000;
/** Firings of one hook in one session that may wait, where it cannot be seen which comes from which. */
const MAX_OF_SESSION = 256;
const LOOK_EVERY = 16;

/** Returns an engine without handlers. */
export function createHookEngine(options: HookEngineOptions): HookEngine {
  return new Engine(options);
}

class Engine implements HookEngine {
  readonly #clock: Clock;
  readonly #storage: AsyncStorage | null;
  readonly #ports: FiringPorts;
  /** By hook, in order. A list is never changed: firings under way go on with theirs. */
  readonly #entries = new Map<PortableHookName, readonly Entry[]>();

  constructor({ clock, onTrace, openRoom, asyncStorage, injectBudgetBytes }: HookEngineOptions) {
    this.#clock = clock;
    this.#storage = asyncStorage ?? null;
    this.#ports = {
      clock,
      deadlines: createDeadlines(clock),
      openRoom: openRoom ?? (() => openContextRoom(injectBudgetBytes)),
      onTrace: onTrace ?? null,
      within: (firing, work) => asyncStorage ? asyncStorage.run(firing, work) : work(),
      running: null,
    };
  }

  register(hook: string, handler: HookHandler, options: HookOptions = {}): () => void {
    return this.add([{ ...options, hook: hook as PortableHookName, handler }]);
  }

  add(
    registrations: Iterable<HookRegistration>,
    { first = false }: { readonly first?: boolean } = {},
  ): () => void {
    const added = Array.from(registrations, entryOf);
    for (const hook of new Set(added.map((entry) => entry.hook))) {
      const own = added.filter((entry) => entry.hook === hook);
      this.#change(hook, (entries) => inOrder(first ? [...own, ...entries] : [...entries, ...own]));
    }
    return () => {
      for (const entry of added) this.#change(entry.hook, (entries) => entries.filter((one) => one !== entry));
    };
  }

  #change(hook: PortableHookName, change: (entries: readonly Entry[]) => readonly Entry[]): void {
    this.#entries.set(hook, change(this.#entries.get(hook) ?? []));
  }

  fire(given: FiredEvent, { scope = null }: { readonly scope?: object | null } = {}): MaybePromise<HookResult> {
    const hook = requireHook(given.hook);
    if (typeof given.sessionId !== "string") throw invalidEvent(hook, '"sessionId" is no text');
    if (typeof given.agent !== "string") throw invalidEvent(hook, '"agent" is no text');
    if (typeof (given.timestamp ?? "") !== "string") throw invalidEvent(hook, '"timestamp" is no text');
    const entries = this.#entries.get(hook) ?? [];
    if (entries.length === 0) return untouched(hook, given);
    const outer = this.#ports.running ?? this.#outer();
    for (let firing = outer; firing; firing = firing.outer) {
      if (firing.event.hook === hook && firing.isOf(this.#ports)) return this.#refused(hook, given, entries);
    }
    this.#checkCount(hook, given.sessionId);
    const event = this.#sealed(given, hook);
    const firing = new Firing({ event, given, entries, scope, outer }, this.#ports);
    return this.#storage ? this.#storage.run(firing, () => firing.run()) : firing.run();
  }

  list(hook?: string): ListedHook[] {
    const hooks = hook === undefined ? PORTABLE_HOOKS : [requireHook(hook)];
    return hooks.flatMap((name) =>
      (this.#entries.get(name) ?? []).map(({ handler: _, matches: __, ...entry }, index) => {
        return { ...entry, place: index + 1 };
      })
    );
  }

  /** Throws when more firings wait than can be meant: without a storage, a handler may fire its own hook unseen. */
  #checkCount(hook: PortableHookName, sessionId: string): void {
    const { waiting } = this.#ports.deadlines;
    if (waiting.length >= MAX_UNDER_WAY) throw tooMany(hook, MAX_UNDER_WAY);
    if (this.#storage || waiting.length < MAX_OF_SESSION || waiting.length % LOOK_EVERY !== 0) return;
    let count = 0;
    for (const { event } of waiting) if (event.hook === hook && event.sessionId === sessionId) count++;
    if (count >= MAX_OF_SESSION) throw tooMany(hook, count);
  }

  /** The firing that what runs here comes from, across waits; of any engine that shares the storage. */
  #outer(): Firing | null {
    const firing = this.#storage?.getStore();
    return firing instanceof Firing ? firing : null;
  }

  #sealed(given: FiredEvent, hook: PortableHookName): HookEvent {
    try {
      return sealEvent(given, hook, given.timestamp ?? new Date(this.#clock.now()).toISOString());
    } catch (error) {
      throw invalidEvent(hook, messageOf(error));
    }
  }

  /** A handler fired its own hook again: nobody is asked, and that is told. */
  #refused(hook: PortableHookName, given: FiredEvent, entries: readonly Entry[]): HookResult {
    const { sessionId, agent } = given;
    const reason = `${hook} was fired by a handler of ${hook}`;
    const trace = entries.map(({ source }): HookTrace => {
      return { hook, sessionId, agent, source, outcome: "skipped", durationMs: 0, reason };
    });
    const warnings = [`${reason}: no handler was asked`];
    const { onTrace } = this.#ports;
    if (onTrace) { for (const each of trace) tellOf(each, onTrace, warnings); }
    return { ...untouched(hook, given), warnings, trace };
  }
}

/** What comes of a firing when nobody is asked. */
function untouched(hook: PortableHookName, { input, output }: FiredEvent): HookResult {
  return { hook, blocked: false, blockedBy: null, reason: null, input, output, context: [], warnings: [], trace: [] };
}

function tooMany(hook: PortableHookName, count: number): HostError {
  return new HostError("hook.event_invalid", `Cannot fire ${hook}: ${count} firings are under way`, {
    data: { hook, count },
    hint: "Does a handler fire its own hook? Give the engine an AsyncLocalStorage, which tells",
  });
}

function invalidEvent(hook: string, problem: string): HostError {
  return new HostError("hook.event_invalid", `Cannot fire ${hook}: ${problem}`, {
    data: { hook },
    hint: "An event has hook, sessionId and agent, and everything in it is plain JSON",
  });
}
