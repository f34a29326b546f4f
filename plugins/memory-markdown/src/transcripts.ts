/**
 * Holds transcripts of idle sessions back until there is enough to read.
 *
 * @module
 */
import type { WireMessage } from "../../shared/message_text.ts";

const MAX_SESSIONS = 100;
const MAX_HELD = 500;

/** Messages held for one session. */
export interface HeldTranscript<Owner> {
  /** Whose it is, as given with it last. */
  readonly owner: Owner;
  /** Messages since the last look. */
  readonly messages: readonly WireMessage[];
}

/** Transcripts that wait. */
export class Transcripts<Owner> {
  readonly #held = new Map<string, HeldTranscript<Owner>>();

  /** Adds to a session's transcript; returns it whole once the user has had `turns` turns, else null. */
  add(
    key: string,
    { owner, messages, turns }: HeldTranscript<Owner> & { turns: number },
  ): readonly WireMessage[] | null {
    const all = [...this.#held.get(key)?.messages ?? [], ...messages];
    this.#held.delete(key);
    if (all.filter(({ role }) => role === "user").length >= turns) return all;
    this.#held.set(key, { owner, messages: all.slice(-MAX_HELD) });
    for (const oldest of this.#held.keys()) if (this.#held.size > MAX_SESSIONS) this.#held.delete(oldest);
    return null;
  }

  /** Returns everything that waits, and holds it no longer. */
  takeAll(): HeldTranscript<Owner>[] {
    const all = [...this.#held.values()];
    this.#held.clear();
    return all;
  }
}
