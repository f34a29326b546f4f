/**
 * The resolver of a gated cage. It knows the names that were granted. Of any other name it tells the gatekeeper, and
 * answers that there is no such name: a client that heeds no proxy is refused by name too. No question leaves the cage.
 *
 * @module
 */
import { answerTo, CODE, readQuestion, RECORD } from "./dns_message.ts";

/** Surroundings of a resolver. */
export interface ResolverOptions {
  /** Names that have an address in the cage: name → IPv4 address. */
  readonly names: Readonly<Record<string, string>>;
  /** Tells the gatekeeper of a name that was asked for; resolves when the gatekeeper has heard it, and never rejects. */
  readonly report: (name: string) => Promise<void>;
  /** Returns the time in milliseconds. */
  readonly now: () => number;
}

/** Names the gatekeeper is told of at the same time, at most: it serves the plugin's connections with the rest. */
export const MAX_WAITING = 16;
/** Names it is told of within a second, at most. */
export const MAX_PER_SECOND = 100;
/** Time within which questions of different types about one name are one lookup: clients ask for A and AAAA at once. */
const ONE_LOOKUP_MS = 2_000;
/** Lookups that are remembered, and types of each, at most. */
const MAX_LOOKUPS = 256;
const MAX_TYPES = 8;
/** Addresses to be named, and not names to be connected to: nothing could be granted for them. */
const REVERSE = /(^|\.)(in-addr|ip6)\.arpa$/;

/** A name that was asked for. */
interface Lookup {
  readonly types: Set<number>;
  readonly startMs: number;
  readonly heard: Promise<void>;
}

/** Returns a function from a message to its answer; null where there is none. It never rejects. */
export function createResolver(
  { names, report, now }: ResolverOptions,
): (message: Uint8Array) => Promise<Uint8Array | null> {
  const known = new Map(Object.entries(names));
  const lookups = new Map<string, Lookup>();
  let waiting = 0;
  let second = { startMs: now(), count: 0 };

  /** Whether one more name may be reported now. */
  function mayReport(): boolean {
    const nowMs = now();
    if (nowMs - second.startMs >= 1_000) second = { startMs: nowMs, count: 0 };
    return waiting < MAX_WAITING && second.count < MAX_PER_SECOND;
  }

  function reported(name: string): Promise<void> {
    second.count++;
    waiting++;
    return report(name).finally(() => waiting--);
  }

  /** Returns when the gatekeeper has heard of this lookup; null where there are too many to tell. */
  function heard(name: string, type: number): Promise<void> | null {
    const nowMs = now();
    const open = lookups.get(name);
    const isSame = open && !open.types.has(type) && open.types.size < MAX_TYPES;
    if (isSame && nowMs - open.startMs < ONE_LOOKUP_MS) {
      open.types.add(type);
      return open.heard;
    }
    if (!mayReport()) return null;
    lookups.delete(name); // Set anew, it is the newest.
    const lookup = { types: new Set([type]), startMs: nowMs, heard: reported(name) };
    lookups.set(name, lookup);
    if (lookups.size > MAX_LOOKUPS) lookups.delete(lookups.keys().next().value!);
    return lookup.heard;
  }

  return async (message) => {
    const question = readQuestion(message);
    if (question === null || "code" in question) return question && answerTo(message, question, question);
    const { name, type } = question;
    const address = known.get(name);
    if (address !== undefined || name === "") {
      // For all other types there is a name without such a record: clients then ask for the address they can have.
      const isAsked = type === RECORD.A || type === RECORD.ANY;
      return answerTo(message, question, { code: CODE.ok, address: isAsked ? address ?? null : null });
    }
    const told = REVERSE.test(name) ? Promise.resolve() : heard(name, type);
    if (told === null) return answerTo(message, question, { code: CODE.failed });
    await told;
    return answerTo(message, question, { code: CODE.noName });
  };
}
