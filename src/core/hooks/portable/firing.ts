/**
 * One firing of one hook: each handler in turn, what it may do to the event, and what is told of it.
 *
 * @module
 */
import { HostError, messageOf } from "../../errors.ts";
import type { Clock } from "../../ports.ts";
import { inTurn, isPromise } from "../dispatch/in_turn.ts";
import { jsonCopy } from "../dispatch/json_copy.ts";
import type { MaybePromise } from "../dispatch/types.ts";
import { CallContext } from "./call_context.ts";
import type { ContextRoom } from "./context_room.ts";
import type { Deadlines } from "./deadlines.ts";
import { type NormalResponse, readResponse } from "./response.ts";
import type { HookResult, HookTrace, HookTraceOutcome } from "./result.ts";
import type {
  HookCallContext,
  HookEvent,
  HookHandler,
  HookOptions,
  HookProgress,
  HookSource,
  PortableHookName,
} from "./types.ts";

/** A handler with every option settled. */
export interface Entry extends Required<Pick<HookOptions, "priority" | "timeoutMs" | "onFailure" | "advisory">> {
  /** The moment. */
  readonly hook: PortableHookName;
  /** The handler. */
  readonly handler: HookHandler;
  /** Runs after a block too, without a say. */
  readonly telemetryOnly: boolean;
  /** Agents it is for, or null for all. */
  readonly agents: readonly string[] | null;
  /** Whether it wants an event, or null for all. */
  readonly matches: ((event: HookEvent) => boolean) | null;
  /** Where it comes from. */
  readonly source: HookSource;
}

/** What a firing needs of its engine. */
export interface FiringPorts {
  /** Time. */
  readonly clock: Pick<Clock, "monotonic">;
  /** Calls a handler. */
  readonly call: (entry: Entry, event: HookEvent, context: HookCallContext) => unknown;
  /** Ends handlers that take too long. */
  readonly deadlines: Deadlines;
  /** Room for injected text. */
  readonly room: ContextRoom;
  /** Hears of each handler. */
  readonly onTrace: ((trace: HookTrace) => void) | null;
  /** The object handlers of this firing share. */
  readonly scope: object;
}

type TraceFacts = Omit<HookTrace, "hook" | "sessionId" | "agent" | "source" | "outcome" | "durationMs">;

interface Injected {
  readonly source: HookSource;
  readonly text: string;
  readonly bytes: number;
}

const MAX_REASON_CHARS = 500;
const NOTHING: TraceFacts = {};

/** One firing. */
export class Firing {
  readonly #ports: FiringPorts;
  readonly #given: HookEvent;
  /** The event as it stands: nobody outside holds it. */
  #event: HookEvent;
  #changedInput = false;
  #changedOutput = false;
  #blockedBy: string | null = null;
  #reason: string | null = null;
  #injected: Injected[] = [];
  #asked = 0;
  #broke = 0;
  readonly #warnings: string[] = [];
  readonly #trace: HookTrace[] = [];

  /** Takes a copy of the event. Throws a `TypeError` when it is no JSON. */
  constructor(given: HookEvent, ports: FiringPorts) {
    this.#given = given;
    this.#event = jsonCopy(given);
    this.#ports = ports;
  }

  /** What has come of it so far. */
  get progress(): HookProgress {
    return {
      asked: this.#asked,
      broke: this.#broke,
      warnings: this.#warnings.length,
      injections: this.#injected.length,
      injectedBytes: this.#injected.reduce((sum, { bytes }) => sum + bytes, 0),
      blockedBy: this.#blockedBy,
    };
  }

  /** Asks each handler in turn; at once, when all of them answer at once. Never throws for a handler. */
  run(entries: readonly Entry[]): MaybePromise<HookResult> {
    const done = inTurn(entries, (entry) => this.#ask(entry));
    return isPromise(done) ? done.then(() => this.#result()) : this.#result();
  }

  #ask(entry: Entry): MaybePromise<void> {
    const startedMs = this.#ports.clock.monotonic();
    if (this.#blockedBy !== null && !entry.telemetryOnly) {
      return this.#tell(entry, `blocked by ${this.#blockedBy}`, startedMs, NOTHING);
    }
    const context = new CallContext(this, this.#ports.scope);
    try {
      const unwanted = this.#whyUnwanted(entry);
      if (unwanted !== null) return this.#tell(entry, "skipped", startedMs, { reason: unwanted });
      this.#asked++;
      const answer: unknown = this.#ports.call(entry, jsonCopy(this.#event), context);
      if (isPromise(answer)) return this.#wait(entry, answer, startedMs, context);
      this.#take(entry, answer, startedMs);
    } catch (error) {
      this.#fail(entry, error, startedMs);
    }
  }

  #whyUnwanted({ agents, matches }: Entry): string | null {
    if (agents !== null && !agents.includes(this.#event.agent)) return `It is for ${agents.join(", ")}`;
    return matches === null || matches(jsonCopy(this.#event)) ? null : "Its matcher does not want this event";
  }

  #wait(entry: Entry, answer: Promise<unknown>, startedMs: number, context: CallContext): Promise<void> {
    return new Promise((resolve) => {
      let isOver = false;
      const settle = (act: () => void): void => {
        if (isOver) return;
        isOver = true;
        cancel();
        act();
        resolve();
      };
      const cancel = this.#ports.deadlines.set(entry.timeoutMs, () => {
        const error = new HostError("hooks.timeout", `No answer within ${entry.timeoutMs} ms`);
        context.abort(error);
        settle(() => this.#fail(entry, error, startedMs));
      });
      const fail = (error: unknown): void => settle(() => this.#fail(entry, error, startedMs));
      Promise.resolve(answer).then((value) => {
        settle(() => {
          try {
            this.#take(entry, value, startedMs);
          } catch (error) {
            this.#fail(entry, error, startedMs);
          }
        });
      }, fail);
    });
  }

  /** Acts on an answer. Throws when it cannot be used, before anything is changed. */
  #take(entry: Entry, answer: unknown, startedMs: number): void {
    const response = readResponse(answer, this.#event.hook);
    if (response === null || isEmpty(response)) return this.#tell(entry, "quiet", startedMs, hookIdOf(response));
    if (entry.telemetryOnly) {
      const { action } = response;
      return this.#tell(entry, "ran", startedMs, { action, hadNoSay: true, ...hookIdOf(response) });
    }
    this.#warnings.push(...response.warnings);
    const facts = { action: response.action, ...this.#inject(entry, response), ...hookIdOf(response) };
    if (response.action !== "block" && response.action !== "modify") return this.#tell(entry, "ran", startedMs, facts);
    if (entry.advisory) {
      const wish = response.action === "block" ? `would block: ${response.reason}` : "would modify what it was given";
      this.#warnings.push(`${entry.source.id} ${wish}`);
      return this.#tell(entry, "ran", startedMs, { ...facts, hadNoSay: true });
    }
    if (response.action === "block") this.#block(entry, response.reason!);
    const changed = this.#change(response);
    this.#tell(entry, "ran", startedMs, {
      ...facts,
      ...(response.reason !== null && { reason: response.reason.slice(0, MAX_REASON_CHARS) }),
      ...(changed.length > 0 && { changed }),
    });
  }

  #block(entry: Entry, reason: string): void {
    this.#blockedBy = entry.source.id;
    this.#reason = reason;
  }

  #change({ input, output }: NormalResponse): ("input" | "output")[] {
    if (input) this.#event = { ...this.#event, input: input.value };
    if (output) this.#event = { ...this.#event, output: output.value };
    this.#changedInput ||= input !== undefined;
    this.#changedOutput ||= output !== undefined;
    return [...(input ? ["input" as const] : []), ...(output ? ["output" as const] : [])];
  }

  #inject({ source }: Entry, { context, overwrites }: NormalResponse): TraceFacts {
    const { room } = this.#ports;
    if (overwrites) {
      for (const one of this.#injected) room.giveBack(one.source, one.bytes);
      this.#injected = [];
    }
    if (context.length === 0) return NOTHING;
    let injectedBytes = 0;
    let isCut = false;
    for (const each of context) {
      const { text, bytes, cut } = room.take(source, each);
      this.#injected.push({ source, text, bytes });
      injectedBytes += bytes;
      isCut ||= cut;
    }
    if (isCut) this.#warnings.push(`Text of ${source.id} was cut to fit: ${injectedBytes} bytes of it are injected`);
    return { injectedBytes, ...(isCut && { cut: true }) };
  }

  #fail(entry: Entry, thrown: unknown, startedMs: number): void {
    this.#broke++;
    const message = `Hook failed: ${messageOf(thrown).slice(0, MAX_REASON_CHARS)}`;
    this.#warnings.push(message);
    if (entry.onFailure === "block" && !entry.telemetryOnly && !entry.advisory) this.#block(entry, message);
    this.#tell(entry, "broke", startedMs, { reason: message });
  }

  #tell(entry: Entry, outcome: HookTraceOutcome, startedMs: number, facts: TraceFacts): void {
    const { hook, sessionId, agent } = this.#event;
    const { clock, onTrace } = this.#ports;
    const durationMs = clock.monotonic() - startedMs;
    const trace: HookTrace = { hook, sessionId, agent, source: entry.source, outcome, durationMs, ...facts };
    this.#trace.push(trace);
    if (!onTrace) return;
    try {
      onTrace(trace);
    } catch (error) {
      this.#warnings.push(`Listener of traces failed: ${messageOf(error)}`);
    }
  }

  #result(): HookResult {
    return {
      hook: this.#event.hook,
      blocked: this.#blockedBy !== null,
      blockedBy: this.#blockedBy,
      reason: this.#reason,
      input: this.#changedInput ? this.#event.input : this.#given.input,
      output: this.#changedOutput ? this.#event.output : this.#given.output,
      context: this.#injected.map(({ text }) => text),
      warnings: this.#warnings,
      trace: this.#trace,
    };
  }
}

function isEmpty({ action, context, warnings, overwrites }: NormalResponse): boolean {
  return (action === "passThrough" || action === "injectContext") && context.length === 0 && warnings.length === 0 &&
    !overwrites;
}

function hookIdOf(response: NormalResponse | null): TraceFacts {
  return response === null || response.hookId === null ? NOTHING : { hookId: response.hookId };
}
