/**
 * One call of a client in flight: its questions to the person or the model behind the client, and its outcome.
 *
 * @module
 */
import { HostError } from "../core/errors/host_error.ts";
import { isMap } from "../core/values/plain_data.ts";
import type { Era, Json, RequestContext } from "./sdk_types.ts";

/** A request towards the client. */
export interface Question {
  /** Names it among the questions of one call; modern clients answer by it. */
  readonly key: string;
  readonly method: "elicitation/create" | "sampling/createMessage" | "roots/list";
  readonly params: Json;
}

/** A request of a client, and what the client can do. */
export interface Caller {
  readonly era: Era;
  readonly context: RequestContext;
  /** `ClientCapabilities`, of the handshake or of this request. */
  readonly capabilities: Json;
}

/** The call that a flight makes. */
export interface CallFacts {
  readonly method: string;
  /** Params of the request without `_meta`: a retry must repeat them. */
  readonly params: Json;
  /** Plugin that answers, where that is known before. */
  readonly plugin: string | null;
  /** Full name of the tool; null for anything else. */
  readonly tool: string | null;
}

interface OpenQuestion {
  readonly question: Question;
  readonly resolve: (answer: Json) => void;
}

/** A call in flight. It outlives the request that began it when it is parked until the client's answers come. */
export class Flight {
  readonly facts: CallFacts;
  /** The newest request of the client about this call. */
  caller: Caller;
  /** Whether {@link caller} has had its answer, and the call waits for the next one. */
  isParked = false;
  readonly #controller = new AbortController();
  readonly #open = new Map<string, OpenQuestion>();
  readonly #outcome: Promise<void>;
  #result: { readonly value: Json } | { readonly thrown: unknown } | null = null;
  #stirred = Promise.withResolvers<void>();
  #given: Record<string, unknown>;

  /** Begins `work`; its signal aborts with {@link end}. */
  constructor(caller: Caller, facts: CallFacts, work: (flight: Flight) => Promise<Json>) {
    this.caller = caller;
    this.facts = facts;
    this.#given = { ...caller.context.mcpReq.inputResponses };
    this.#outcome = work(this).then(
      (value) => void (this.#result = { value }),
      (thrown) => void (this.#result = { thrown }),
    );
  }

  /** Aborts when the call is to end. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The outcome, once there is one. */
  get result(): { readonly value: Json } | { readonly thrown: unknown } | null {
    return this.#result;
  }

  /** Questions that wait for the client. */
  get questions(): readonly Question[] {
    return [...this.#open.values()].map(({ question }) => question);
  }

  /** Cancels the call, and with it its questions. */
  end(reason: unknown): void {
    this.#controller.abort(reason);
  }

  /** Resolves when there is an outcome, or a question waits. */
  async stirs(): Promise<void> {
    while (this.#result === null && this.#open.size === 0) await Promise.race([this.#outcome, this.#stirred.promise]);
  }

  /** Resolves with the outcome. */
  async settled(): Promise<Json> {
    await this.#outcome;
    if (this.#result && "value" in this.#result) return this.#result.value;
    throw this.#result?.thrown;
  }

  /** Sends a notification that belongs to the call; dropped while the call is parked. */
  notify(method: string, params: Json): void {
    if (!this.isParked) this.caller.context.mcpReq.notify({ method, params }).catch(() => {}); // The client has gone.
  }

  /** Whether the client said that it takes this question. */
  takes(question: Pick<Question, "method" | "params">): boolean {
    return declares(this.caller.capabilities, question);
  }

  /** Puts a question to a modern client, with the next answer to its request, unless it came with its answer. */
  ask(question: Question, given: AbortSignal): Promise<Json> {
    const early = this.#given[question.key];
    delete this.#given[question.key];
    if (isAnswer(question.method, early)) return Promise.resolve(early);
    const signal = AbortSignal.any([given, this.signal]);
    const { promise, resolve, reject } = Promise.withResolvers<Json>();
    const withdraw = (): void => {
      this.#open.delete(question.key);
      reject(signal.reason);
    };
    if (signal.aborted) withdraw();
    signal.addEventListener("abort", withdraw, { once: true });
    this.#open.set(question.key, { question, resolve });
    this.#stir();
    return promise.finally(() => signal.removeEventListener("abort", withdraw));
  }

  /** Goes on with a retry and its answers; a question whose answer is missing or malformed stays open. */
  resume(caller: Caller): void {
    const answers = caller.context.mcpReq.inputResponses ?? {};
    this.caller = caller;
    this.isParked = false;
    this.#given = {};
    for (const [key, { question, resolve }] of this.#open) {
      const answer = Object.hasOwn(answers, key) ? answers[key] : undefined;
      if (!isAnswer(question.method, answer)) continue;
      this.#open.delete(key);
      resolve(answer);
    }
  }

  #stir(): void {
    this.#stirred.resolve();
    this.#stirred = Promise.withResolvers();
  }
}

/** Whether a client that declared `capabilities` takes a question, by the rules of revision 2026-07-28. */
export function declares(capabilities: Json, { method, params }: Pick<Question, "method" | "params">): boolean {
  const { elicitation, sampling, roots } = capabilities;
  if (method === "roots/list") return isMap(roots);
  if (method === "sampling/createMessage") {
    return isMap(sampling) && ((params.tools ?? params.toolChoice) === undefined || sampling.tools !== undefined);
  }
  if (!isMap(elicitation)) return false;
  if (params.mode === "url") return elicitation.url !== undefined;
  // A capability without modes is older than the modes, and means forms.
  return elicitation.form !== undefined || elicitation.url === undefined;
}

/** Whether a value has the shape of an answer to such a question. */
function isAnswer(method: Question["method"], value: unknown): value is Json {
  if (!isMap(value)) return false;
  if (method === "roots/list") return Array.isArray(value.roots);
  if (method === "sampling/createMessage") return value.content !== undefined && typeof value.role === "string";
  return value.action === "decline" || value.action === "cancel" ||
    (value.action === "accept" && (value.content === undefined || isMap(value.content)));
}

/** The reason of calls that end because their client does not come back, or has gone. */
export function clientGone(message: string): HostError {
  return new HostError("protocol.cancelled", message);
}
