/**
 * A conversation with a plugin that notes everything out of turn: noise, answers nobody waits for, what it asks.
 *
 * @module
 */
import { asHostError, HostError } from "../../core/errors/host_error.ts";
import type { Clock, Exit } from "../../core/ports/ports.ts";
import { isMessageId, parseLine } from "../../core/wire/codec.ts";
import { errorToWire } from "../../core/wire/wire_errors.ts";
import type { OpenWire, PluginWire } from "../plugin_wire.ts";
import { isMap, mapOf } from "../../core/values/plain_data.ts";
import { endingOf } from "../../core/values/ending_of.ts";

/** A JSON object of the wire, unchecked. */
export type WireMessage = Readonly<Record<string, unknown>>;

/** A notification, and the monotonic time at which it came. */
export interface Notice {
  readonly message: WireMessage;
  readonly atMs: number;
}

/** Everything out of turn, over all processes of one run. */
export interface Notes {
  /** Lines that are no JSON, or no UTF-8. */
  readonly noise: string[];
  /** Responses that no request waited for. */
  readonly strays: string[];
  readonly notices: Notice[];
  /** Methods it asked of the host. */
  readonly requests: string[];
}

/** The newest lines of host (`sent`) and plugin (`came`) while one rule is tried, shortened. */
export interface Exchange {
  readonly sent: string[];
  readonly came: string[];
}

/** A response, or why there is none. */
export type Answer =
  | { readonly response: WireMessage; readonly missing?: undefined }
  | { readonly response?: undefined; readonly missing: string };

/** Answers what a plugin asks of its host. */
export type AnswerPlugin = (method: string, params: unknown, signal: AbortSignal) => Promise<unknown>;

/** How a conversation is held. */
export interface ConversationOptions {
  readonly open: OpenWire;
  readonly clock: Clock;
  /** Takes everything out of turn. */
  readonly notes: Notes;
  /** Returns the exchange of the rule at hand, to add lines to. */
  readonly exchange: () => Exchange;
  readonly onRequest: AnswerPlugin;
}

/** Longest a plugin may take for what needs no work. */
export const STEP_MS = 10_000;
/** Requests of the plugin that are answered at once; more are refused. */
const MAX_REQUESTS = 64;

/** A plugin's process and the requests it owes an answer to. */
export class Conversation {
  /** The process itself; set by {@link open}. */
  wire!: PluginWire;
  /** The failure of the cage, or the limit the plugin went over, once that has ended it. */
  fault: HostError | null = null;
  /** Why nothing more can be said, or null. */
  over: string | null = null;
  readonly #options: ConversationOptions;
  readonly #waiting = new Map<string, (answer: Answer) => void>();
  readonly #ending = new AbortController();
  #lastId = 0;
  #requests = 0;

  private constructor(options: ConversationOptions) {
    this.#options = options;
  }

  /** Starts the plugin and listens to it. */
  static async open(options: ConversationOptions): Promise<Conversation> {
    const talk = new Conversation(options);
    talk.wire = await options.open({
      line: (text) => talk.#take(text),
      undecodable: (start) => note(options.notes.noise, cut(start)),
      oversize: () => talk.#finish("It wrote a line of more than 4 MiB"),
    });
    void talk.wire.ended.then(({ exit, fault }) => {
      talk.fault = fault;
      talk.#finish(fault?.message ?? `It ended ${endingOf(exit)}`);
    });
    return talk;
  }

  /** Sends a message; `jsonrpc` is filled in. */
  send(message: WireMessage): void {
    this.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");
  }

  /** Writes text as it is, also half a line or several. */
  write(text: string): void {
    keepLines(this.#options.exchange().sent, text);
    this.wire.write(text);
  }

  /** Sends a request and waits for its response. */
  ask(
    method: string,
    params: unknown = {},
    options: { readonly id?: string | number; readonly timeoutMs?: number } = {},
  ): Promise<Answer> {
    const { id = ++this.#lastId, timeoutMs } = options;
    const answer = this.answerTo(id, timeoutMs);
    this.send({ id, method, params });
    return answer;
  }

  /** Waits for the response to a request that is sent otherwise. */
  answerTo(id: string | number, timeoutMs: number = STEP_MS): Promise<Answer> {
    return new Promise((resolve) => {
      const key = JSON.stringify(id);
      const settle = (answer: Answer): void => {
        cancel();
        this.#waiting.delete(key);
        resolve(answer);
      };
      const late = { missing: `No answer within ${timeoutMs / 1000} s` };
      const cancel = this.#options.clock.after(timeoutMs, () => settle(late));
      this.#waiting.set(key, settle);
      if (this.over !== null) settle({ missing: this.over });
    });
  }

  /** Sends `shutdown`, or closes its stdin, and waits; null when it is still there after `timeoutMs`. */
  async end(how: "shutdown" | "eof", timeoutMs: number): Promise<Exit | null> {
    if (how === "shutdown") this.send({ method: "shutdown", params: {} });
    else this.wire.endInput();
    return await orAfter(timeoutMs, null, this.wire.ended.then(({ exit }) => exit), this.#options.clock);
  }

  #take(text: string): void {
    const { notes, clock, exchange } = this.#options;
    keepLines(exchange().came, text);
    const message = parseLine(text);
    if (message === undefined) return note(notes.noise, cut(text));
    const { id, method } = (message ?? {}) as WireMessage;
    if (typeof method === "string" && id === undefined) {
      return note(notes.notices, { message: message as WireMessage, atMs: clock.monotonic() });
    }
    if (typeof method === "string" && isMessageId(id)) return void this.#answer(message as WireMessage, method);
    const settle = method === undefined && isMessageId(id) ? this.#waiting.get(JSON.stringify(id)) : undefined;
    if (!settle) note(notes.strays, cut(text));
    else if (isResponse(message)) settle({ response: message });
    else settle({ missing: `It answered what is no response: ${cut(text)}` });
  }

  async #answer({ id, params }: WireMessage, method: string): Promise<void> {
    note(this.#options.notes.requests, method);
    if (this.#requests >= MAX_REQUESTS) {
      return this.send({ id, error: { code: -32005, message: `More than ${MAX_REQUESTS} requests at once` } });
    }
    this.#requests++;
    try {
      this.send({ id, result: await this.#options.onRequest(method, params, this.#ending.signal) ?? null });
    } catch (error) {
      this.send({ id, error: errorToWire(asHostError(error)) });
    } finally {
      this.#requests--;
    }
  }

  #finish(why: string): void {
    this.over ??= why;
    this.#ending.abort();
    for (const settle of [...this.#waiting.values()]) settle({ missing: this.over });
  }
}

/** Settles as `work` does, or resolves with `late` when that takes longer than `ms`. */
export function orAfter<T>(ms: number, late: T, work: Promise<T>, clock: Clock): Promise<T> {
  const { promise, resolve } = Promise.withResolvers<T>();
  const cancel = clock.after(ms, () => resolve(late));
  return Promise.race([work, promise]).finally(cancel);
}

/** Returns the error of a request that the host does not offer. */
export function notOffered(method: string): HostError {
  return new HostError("protocol.method_unknown", `No method "${method}"`, { data: { method } });
}

/** A response has a result or an error with a code and a message, and never both. */
function isResponse(value: unknown): value is WireMessage {
  if (!isMap(value) || value.jsonrpc !== "2.0" || ("result" in value) === ("error" in value)) return false;
  const { code, message } = mapOf(value, "error");
  return !("error" in value) || (Number.isInteger(code) && typeof message === "string");
}

/** Notes of one kind that are kept: a plugin that floods the host does not fill its memory. */
const MAX_NOTES = 1_000;
/** Lines of an exchange that are kept in either direction. */
const MAX_LINES = 4;
/** Characters of a line that are kept. */
const MAX_CHARS = 200;

/** Adds to a list of notes, unless it is full. */
function note<T>(list: T[], item: T): void {
  if (list.length < MAX_NOTES) list.push(item);
}

/** Adds the lines of a text to one direction of an exchange. */
function keepLines(lines: string[], text: string): void {
  for (const line of text.split("\n")) if (line !== "") lines.push(cut(line));
  lines.splice(0, lines.length - MAX_LINES);
}

/** Shortens a line for a person. */
function cut(line: string): string {
  return line.length > MAX_CHARS ? `${line.slice(0, MAX_CHARS)}… (${line.length} characters)` : line;
}
