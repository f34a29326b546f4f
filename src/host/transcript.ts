/**
 * The messages of a session since its idle hook last fired, as many as one line of the wire can carry.
 *
 * @module
 */
import { HostError, messageOf } from "../core/errors/host_error.ts";
import type { Message } from "../core/compaction/messages.ts";
import { MAX_LINE_BYTES } from "../core/wire/connection_types.ts";

/** A message as plugins get to see it. */
export type TranscriptMessage = Pick<Message, "role" | "content">;

/** Params of `on_session_idle`. */
export interface TranscriptParams {
  /** Oldest first. */
  readonly transcript: readonly TranscriptMessage[];
  /** Present when older messages had to go, or one that was too large. */
  readonly truncated?: true;
}

/** Room on the line for the call, its context and an agent's overrides. */
const ENVELOPE_BYTES = 128 * 1024;

const encoder = new TextEncoder();

/** Keeps the newest messages that fit on a line. */
export class Transcript {
  readonly #maxBytes: number;
  #messages: { readonly message: TranscriptMessage; readonly bytes: number }[] = [];
  #first = 0;
  #bytes = 0;
  #isTruncated = false;

  /** Begins empty; by default as large as a line of the wire allows. */
  constructor(maxBytes: number = MAX_LINE_BYTES - ENVELOPE_BYTES) {
    this.#maxBytes = maxBytes;
  }

  /** False also when every message was too large to keep. */
  get isEmpty(): boolean {
    return this.#messages.length === this.#first && !this.#isTruncated;
  }

  /**
   * Adds a message: its role and its content, as they are now.
   *
   * @throws {HostError} `host.misuse` for what is no message.
   */
  add({ role, content }: Message): void {
    if (typeof role !== "string") throw misuse("it has no role");
    let json: string;
    try {
      json = JSON.stringify({ role, content });
    } catch (error) {
      throw misuse(messageOf(error));
    }
    const bytes = encoder.encode(json).length + 1; // The comma between two.
    this.#messages.push({ message: typeof content === "string" ? { role, content } : JSON.parse(json), bytes });
    this.#bytes += bytes;
    while (this.#bytes > this.#maxBytes) {
      this.#bytes -= this.#messages[this.#first++]!.bytes;
      this.#isTruncated = true;
    }
    // Dropped messages leave the list in large steps: one at a time would move the whole list each time.
    if (this.#first > 1000 && this.#first * 2 > this.#messages.length) this.#forget();
  }

  /** Returns the messages, and is empty afterwards. */
  take(): TranscriptParams {
    this.#forget();
    const transcript = this.#messages.map(({ message }) => message);
    const params = this.#isTruncated ? { transcript, truncated: true as const } : { transcript };
    this.#messages = [];
    this.#bytes = 0;
    this.#isTruncated = false;
    return params;
  }

  #forget(): void {
    this.#messages.splice(0, this.#first);
    this.#first = 0;
  }
}

function misuse(reason: string): HostError {
  return new HostError("host.misuse", `Cannot record this message: ${reason}`, {
    hint: "A message is { role, content } in plain JSON",
  });
}
