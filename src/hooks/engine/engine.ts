/**
 * The hook engine: handlers of any source in one ordered chain.
 *
 * @module
 */
import { HostError } from "../../core/errors/host_error.ts";
import type { AsyncStorage, Clock } from "../../core/ports/ports.ts";
import { isPromise } from "../dispatch/in_turn.ts";
import { inOrder } from "../dispatch/order.ts";
import type { MaybePromise } from "../dispatch/types.ts";
import { type AskedStep, type AskVerdict, NO_ASKS } from "./asks.ts";
import { type ContextRoom, openContextRoom } from "./context_room.ts";
import { createDeadlines } from "./deadlines.ts";
import { entriesOf, type Entry, type ListedHook } from "./entry.ts";
import { Firing, type FiringPorts, type FiringTask } from "./firing.ts";
import { HOOK_MOMENTS, requireHook } from "./names.ts";
import { reportTrace } from "./outcome.ts";
import type { HookResult, HookTrace } from "./result.ts";
import { replaceEvent, sealEvent } from "./sealed_event.ts";
import type { HookEvent, HookHandler, HookMoment, HookOptions, HookRegistration } from "./types.ts";

/** How an engine is set up. Everything has a default. */
export interface HookEngineOptions {
  /** Time. Default: the runtime's. */
  readonly clock?: Clock;
  /** Called with the trace of each handler, as soon as that handler is done. */
  readonly onTrace?: (trace: HookTrace) => void;
  /** Bytes of text the handlers of one firing may inject together. Default 32 KiB. */
  readonly injectBudgetBytes?: number;
  /** Makes the room for injected text in place of {@link injectBudgetBytes}, one for each firing. */
  readonly openRoom?: (scope: object) => ContextRoom;
  /**
   * Recognises a handler that fires its own hook again after a wait. Default: an `AsyncLocalStorage`. An engine of a
   * host without one recognises such a handler only before its first wait, and otherwise stops it when 256 firings of
   * one hook wait in one session.
   */
  readonly asyncStorage?: AsyncStorage | undefined;
  /**
   * Whether a call of this tool fires its own hooks already, as the tools of a host do. `agentHooks()` then fires none
   * around it, so that no handler hears one call twice. Default: no tool does.
   */
  readonly isGatedTool?: (tool: string, agent: string) => boolean;
  /**
   * Asks a person about a call that handlers of `PreToolUse` want a yes for: once for each call, after the chain.
   * `agentHooks()` calls it for the tools of the loop. Default: nobody can be asked, and such a call is blocked.
   */
  readonly onAsk?: ((step: AskedStep) => Promise<AskVerdict>) | undefined;
}

/** An event as it is fired: any name of the hook, and the time when it is not now. */
export interface FiredEvent extends Omit<HookEvent, "hook" | "timestamp" | "error"> {
  /** The moment, by its portable name or another. */
  readonly hook: string;
  /** Time of the event, ISO 8601. Default: now. */
  readonly timestamp?: string;
  /** Anything that was thrown. Handlers get its message, and its code when it has one. */
  readonly error?: unknown;
}

/** Options for firing one event. */
export interface FireOptions {
  /** The object that handlers of this firing share as `context.firing`. Default: a fresh one. */
  readonly scope?: object | null;
  /**
   * Fires `SessionEnd` at the handlers of `Stop` alone: the loop is done with a turn, and the session goes on. Its end
   * does not run them again.
   */
  readonly turnEnd?: boolean;
  /**
   * Whether the caller asks a person where handlers of `PreToolUse` want that: it looks at `asked` of the result. Without
   * it the first handler that asks has blocked, so that no call goes through unasked. Default false.
   */
  readonly canAsk?: boolean;
}

/** Runs the handlers of hooks. */
export interface HookEngine {
  /**
   * Adds a handler for a hook, by any name of it. The returned function takes it out again; firings under way keep it.
   *
   * @throws {HostError} `hook.unknown`, `hook.option_invalid`
   */
  register(hook: string, handler: HookHandler, options?: HookOptions): () => void;
  /**
   * Adds one registration, or all that a source of hooks has made; `first`, before handlers of the same priority that
   * are there already. The returned function takes them all out again.
   *
   * @throws {HostError} `hook.unknown`, `hook.option_invalid`, and then nothing was added.
   */
  add(
    registrations: HookRegistration | Iterable<HookRegistration>,
    options?: { readonly first?: boolean },
  ): () => void;
  /**
   * Fires an event: await it. When every handler answers at once, so does this. Never rejects for a handler, nor for
   * what the event holds: see `docs/hooks.md` for what handlers are shown of a value that JSON cannot hold.
   *
   * @throws {HostError} `hook.unknown`; `hook.event_invalid` for an event without session or agent.
   */
  fire(event: FiredEvent, options?: FireOptions): MaybePromise<HookResult>;
  /** The handlers in the order they run, of one hook or of all. */
  list(hook?: string): ListedHook[];
  /** Whether a hook has any handler. It costs less than to make the event and find none. */
  has(hook: HookMoment): boolean;
  /** See {@link HookEngineOptions.isGatedTool}. */
  isGatedTool(tool: string, agent: string): boolean;
  /** See {@link HookEngineOptions.onAsk}; null where nobody can be asked. */
  readonly onAsk: ((step: AskedStep) => Promise<AskVerdict>) | null;
}

/** Firings that may wait at a time. */
const MAX_UNDER_WAY = 10_000;
/** Firings of one hook in one session that may wait, without an {@link AsyncStorage} that shows which fired which. */
const MAX_OF_SESSION = 256;
const LOOK_EVERY = 16;
const NO_OPTIONS: FireOptions = {};
const NO_ENTRIES: readonly Entry[] = [];
/** Sessions whose `Stop` handlers have run and whose end is still to come; the oldest is forgotten. */
const MAX_STOPPED = 10_000;

/** Returns an engine without handlers. */
export function createHookEngine(options: HookEngineOptions & { readonly clock: Clock }): HookEngine {
  return new Engine(options);
}

class Engine implements HookEngine {
  readonly isGatedTool: (tool: string, agent: string) => boolean;
  readonly onAsk: ((step: AskedStep) => Promise<AskVerdict>) | null;
  readonly #clock: Clock;
  readonly #storage: AsyncStorage | null;
  readonly #ports: FiringPorts;
  /** By hook, in order. A list is replaced and never changed: firings under way go on with theirs. */
  readonly #entries = new Map<HookMoment, readonly Entry[]>();
  readonly #stopped = new Set<string>();

  constructor(options: HookEngineOptions & { readonly clock: Clock }) {
    const { clock, onTrace, openRoom, asyncStorage, injectBudgetBytes, isGatedTool = () => false } = options;
    this.isGatedTool = isGatedTool;
    this.onAsk = options.onAsk ?? null;
    this.#clock = clock;
    this.#storage = asyncStorage ?? null;
    this.#ports = {
      clock,
      deadlines: createDeadlines(clock),
      openRoom: openRoom ?? (() => openContextRoom(injectBudgetBytes)),
      onTrace: onTrace ?? null,
      within: asyncStorage ? (firing, work) => asyncStorage.run(firing, work) : (_, work) => work(),
      running: null,
    };
  }

  register(hook: string, handler: HookHandler, options: HookOptions = {}): () => void {
    return this.add({ ...options, hook: hook as HookMoment, handler });
  }

  add(
    registrations: HookRegistration | Iterable<HookRegistration>,
    { first = false }: { readonly first?: boolean } = {},
  ): () => void {
    const added = entriesOf(registrations);
    for (const hook of new Set(added.map((entry) => entry.hook))) {
      const own = added.filter((entry) => entry.hook === hook);
      this.#change(hook, (entries) => inOrder(first ? [...own, ...entries] : [...entries, ...own]));
    }
    return () => {
      for (const entry of added) this.#change(entry.hook, (entries) => entries.filter((one) => one !== entry));
    };
  }

  #change(hook: HookMoment, change: (entries: readonly Entry[]) => readonly Entry[]): void {
    this.#entries.set(hook, change(this.#entries.get(hook) ?? []));
  }

  fire(given: FiredEvent, options: FireOptions = NO_OPTIONS): MaybePromise<HookResult> {
    const { scope = null, turnEnd = false, canAsk = false } = options;
    const hook = requireHook(given.hook);
    if (typeof given.sessionId !== "string") throw invalidEvent(hook, '"sessionId" is no text');
    if (typeof given.agent !== "string") throw invalidEvent(hook, '"agent" is no text');
    if (typeof (given.timestamp ?? "") !== "string") throw invalidEvent(hook, '"timestamp" is no text');
    let entries = this.#entries.get(hook) ?? NO_ENTRIES;
    if (turnEnd) entries = entries.filter((entry) => entry.turnEnd);
    if (entries.length === 0) return untouched(hook, given);
    const outer = this.#ports.running ?? this.#outer();
    for (let firing = outer; firing; firing = firing.task.outer) {
      if (firing.event.hook !== hook || firing.isOver || firing.ports !== this.#ports) continue;
      return this.#refused(hook, given, entries);
    }
    this.#checkCount(hook, given.sessionId);
    const { event, cut } = sealEvent(given, hook, given.timestamp ?? new Date(this.#clock.now()).toISOString());
    const stopped = hook === "SessionEnd" && this.#hasStopped(given.sessionId, turnEnd);
    const task = { event, given, entries, cut, stopped, scope, canAsk, outer };
    return hook === "on_session_idle" ? this.#runAtOnce(task) : this.#run(task);
  }

  has(hook: HookMoment): boolean {
    return (this.#entries.get(hook)?.length ?? 0) > 0;
  }

  list(hook?: string): ListedHook[] {
    const hooks = hook === undefined ? HOOK_MOMENTS : [requireHook(hook)];
    return hooks.flatMap((name) =>
      (this.#entries.get(name) ?? []).map(({ handler: _, matches: __, ...entry }, index) => {
        return { ...entry, place: index + 1 };
      })
    );
  }

  #run(task: FiringTask): MaybePromise<HookResult> {
    const firing = new Firing(task, this.#ports);
    return this.#storage === null ? firing.run() : this.#ports.within(firing, () => firing.run());
  }

  /** Each handler in a firing of its own, so that a slow one holds up none of the others. */
  #runAtOnce(task: FiringTask): MaybePromise<HookResult> {
    const scope = task.scope ?? {};
    const results = task.entries.map((entry) => {
      return this.#run({ ...task, event: replaceEvent(task.event, {}, null), scope, entries: [entry] });
    });
    return results.some(isPromise) ? Promise.all(results).then(joined) : joined(results as HookResult[]);
  }

  /** Whether the `Stop` handlers of a session that ends have run; at the end of a turn, notes that they do. */
  #hasStopped(session: string, turnEnd: boolean): boolean {
    if (!turnEnd) return this.#stopped.delete(session);
    this.#stopped.add(session);
    if (this.#stopped.size > MAX_STOPPED) this.#stopped.delete(this.#stopped.values().next().value!);
    return false;
  }

  /** Throws when more firings wait than a program can mean: without a storage, a handler may fire its own hook unseen. */
  #checkCount(hook: HookMoment, sessionId: string): void {
    const { waiting } = this.#ports.deadlines;
    if (waiting.length >= MAX_UNDER_WAY) throw tooMany(hook, MAX_UNDER_WAY);
    if (this.#storage || waiting.length < MAX_OF_SESSION || waiting.length % LOOK_EVERY !== 0) return;
    let count = 0;
    for (const { firing } of waiting) {
      if (firing?.event.hook === hook && firing.event.sessionId === sessionId) count++;
    }
    if (count >= MAX_OF_SESSION) throw tooMany(hook, count);
  }

  /** The firing that the running code comes from, across waits; of any engine that shares the storage. */
  #outer(): Firing | null {
    const firing = this.#storage?.getStore();
    return firing instanceof Firing ? firing : null;
  }

  /** The result of a firing that a handler of the same hook has caused: no handler is asked. */
  #refused(hook: HookMoment, given: FiredEvent, entries: readonly Entry[]): HookResult {
    const { sessionId, agent } = given;
    const reason = `${hook} was fired by a handler of ${hook}`;
    const trace = entries.map(({ source }): HookTrace => {
      return { hook, session: sessionId, agent, source, outcome: "skipped", durationMs: 0, reason };
    });
    const warnings = [`${reason}: no handler was asked`];
    const { onTrace } = this.#ports;
    if (onTrace) { for (const each of trace) reportTrace(each, onTrace, warnings); }
    return { ...untouched(hook, given), warnings, trace, isRecursive: true };
  }
}

/** The result of a firing that asks no handler. */
function untouched(hook: HookMoment, { input, output }: FiredEvent): HookResult {
  return {
    hook,
    blocked: false,
    blockedBy: null,
    reason: null,
    asked: NO_ASKS,
    input,
    output,
    context: [],
    warnings: [],
    trace: [],
  };
}

/** One result for firings of one event. None of them stops another, and so none counts as a block. */
function joined(results: readonly HookResult[]): HookResult {
  return {
    ...results[0]!,
    blocked: false,
    blockedBy: null,
    reason: null,
    context: results.flatMap(({ context }) => context),
    warnings: results.flatMap(({ warnings }) => warnings),
    trace: results.flatMap(({ trace }) => trace),
  };
}

function tooMany(hook: HookMoment, count: number): HostError {
  return new HostError("hook.event_invalid", `Cannot fire ${hook}: ${count} firings are under way`, {
    data: { hook, count },
    hint: "A handler may be firing its own hook: an engine with an AsyncLocalStorage recognises it",
  });
}

function invalidEvent(hook: string, problem: string): HostError {
  return new HostError("hook.event_invalid", `Cannot fire ${hook}: ${problem}`, {
    data: { hook },
    hint: "An event has the texts hook, sessionId and agent",
  });
}
