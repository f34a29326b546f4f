/**
 * The calls of one client, in flight and parked. A legacy client is asked by requests of their own. A modern one gets its
 * questions as an `input_required` result: the call is parked under a state that only its client knows, and goes on where
 * it stopped when the client sends the request again with the answers.
 *
 * @module
 */
import { HostError } from "../core/errors/host_error.ts";
import type { Clock } from "../core/ports/ports.ts";
import { canonicalText } from "../core/values/canonical_text.ts";
import { type Caller, type CallFacts, clientGone, Flight, type Question } from "./flight.ts";
import type { AskOptions, Json } from "./sdk_types.ts";

/** How long a parked call waits for its client. */
export const PARKED_MS: number = 15 * 60_000;

/** Most parked calls of a client; the one that waits longest ends for a new one. */
export const MAX_PARKED: number = 64;

const STATE_BYTES = 32;

interface Parked {
  readonly flight: Flight;
  readonly cancelTimer: () => void;
}

/** Names the call that a question belongs to, as far as that is known. */
export interface Asker {
  readonly plugin: string | null;
  readonly tool?: string;
}

/** The calls of one client. */
export class Flights {
  readonly #clock: Clock;
  readonly #flying = new Set<Flight>();
  readonly #parked = new Map<string, Parked>();
  #isOver = false;

  /** Begins without a call. */
  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Calls under way, the oldest first. */
  get all(): readonly Flight[] {
    return [...this.#flying];
  }

  /**
   * Makes a call, or goes on with a parked one that the request answers. Resolves with the result, or with an
   * `input_required` result.
   *
   * @throws {HostError} `mcp.request_state_invalid`, or as `work` does.
   */
  async follow(caller: Caller, facts: CallFacts, work: (flight: Flight) => Promise<Json>): Promise<Json> {
    const { mcpReq } = caller.context;
    const state = caller.era === "modern" ? mcpReq.requestState() : undefined;
    const flight = state === undefined ? this.#begin(caller, facts, work) : this.#unpark(state, caller, facts);
    const cancel = (): void => flight.end(mcpReq.signal.reason);
    if (mcpReq.signal.aborted) cancel();
    mcpReq.signal.addEventListener("abort", cancel, { once: true });
    try {
      if (caller.era === "legacy") return await flight.settled();
      do {
        await flight.stirs();
        // A server may ask several things at once: one result takes them all.
        if (flight.result === null) await nextTurn();
      } while (flight.result === null && flight.questions.length === 0);
      return flight.result === null && !flight.signal.aborted ? this.#park(flight) : await flight.settled();
    } finally {
      mcpReq.signal.removeEventListener("abort", cancel);
    }
  }

  /** Whether a question of `asker` can be put to the client now. */
  canAsk(question: Omit<Question, "key">, asker: Asker): boolean {
    return this.#flightFor(question, asker) !== undefined;
  }

  /** Puts a question to the client, as part of the call it belongs to. Null when no call of the client can take it. */
  ask(question: Question, asker: Asker, { signal, timeout }: AskOptions): Promise<Json> | null {
    const flight = this.#flightFor(question, asker);
    if (!flight) return null;
    const { era, context } = flight.caller;
    if (era === "legacy") {
      const options = { signal: AbortSignal.any([signal, flight.signal]), timeout };
      return context.mcpReq.send(legacyRequest(question), options);
    }
    const taken = new Set(flight.questions.map(({ key }) => key));
    const key = taken.has(question.key) ? `${question.key}-${crypto.randomUUID()}` : question.key;
    return flight.ask({ ...question, key }, signal);
  }

  /** Ends every call: the client has gone. */
  end(): void {
    this.#isOver = true;
    for (const { cancelTimer } of this.#parked.values()) cancelTimer();
    this.#parked.clear();
    for (const flight of this.#flying) flight.end(clientGone("The client has gone"));
  }

  #begin(caller: Caller, facts: CallFacts, work: (flight: Flight) => Promise<Json>): Flight {
    if (this.#isOver) throw clientGone("The client has gone");
    const flight = new Flight(caller, facts, async (own) => {
      await null; // The flight is listed before its work can ask anything.
      return await work(own);
    });
    this.#flying.add(flight);
    const forget = (): void => void this.#flying.delete(flight);
    flight.settled().then(forget, forget);
    return flight;
  }

  /**
   * The call of the tool, else of the plugin, else of anything, whose client takes the question. One that waits for
   * nothing yet comes first: a call that is parked may never go on.
   */
  #flightFor(question: Omit<Question, "key">, { plugin, tool }: Asker): Flight | undefined {
    const waits = (flight: Flight): number => flight.isParked ? 2 : flight.questions.length > 0 ? 1 : 0;
    const able = this.all.filter((flight) => flight.takes(question)).sort((a, b) => waits(a) - waits(b));
    return able.find(({ facts }) => tool !== undefined && facts.tool === tool) ??
      able.find(({ facts }) => plugin !== null && facts.plugin === plugin) ??
      able[0];
  }

  #park(flight: Flight): Json {
    const requestState = newState();
    flight.isParked = true;
    const [eldest] = this.#parked;
    if (eldest && this.#parked.size >= MAX_PARKED) this.#drop(eldest[0], "Too many calls wait for their client");
    const cancelTimer = this.#clock.after(PARKED_MS, () => this.#drop(requestState, "The client did not come back"));
    this.#parked.set(requestState, { flight, cancelTimer });
    const inputRequests = Object.fromEntries(
      flight.questions.map(({ key, method, params }) => [key, { method, params }]),
    );
    return { resultType: "input_required", inputRequests, requestState };
  }

  #drop(state: string, reason: string): void {
    const parked = this.#parked.get(state);
    parked?.cancelTimer();
    this.#parked.delete(state);
    parked?.flight.end(clientGone(reason));
  }

  #unpark(state: unknown, caller: Caller, facts: CallFacts): Flight {
    const parked = typeof state === "string" ? this.#parked.get(state) : undefined;
    if (!parked) {
      throw stateInvalid("No call waits under this requestState: it is not of this session, was used, or has ended");
    }
    const { flight, cancelTimer } = parked;
    if (canonicalText([flight.facts.method, flight.facts.params]) !== canonicalText([facts.method, facts.params])) {
      throw stateInvalid("The requestState belongs to another call: repeat the request with its own params");
    }
    cancelTimer();
    this.#parked.delete(state as string);
    flight.resume(caller);
    return flight;
  }
}

/** A state that nobody guesses. */
function newState(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(STATE_BYTES));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Legacy clients know an address to open by an id, which newer servers do not send. */
export function legacyRequest({ method, params }: Question): { method: string; params: Json } {
  if (method !== "elicitation/create" || params.mode !== "url" || params.elicitationId !== undefined) {
    return { method, params };
  }
  return { method, params: { ...params, elicitationId: crypto.randomUUID() } };
}

function stateInvalid(message: string): HostError {
  return new HostError("mcp.request_state_invalid", message, { hint: "Send the request again without requestState" });
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}
