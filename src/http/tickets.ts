/**
 * Tickets for streams: a page can set no header on an EventSource, and the token belongs in no address.
 *
 * @module
 */
import type { Clock } from "../core/ports/ports.ts";
import { randomText } from "./token.ts";

/** How long a ticket opens its path. A stream that is open by then goes on. */
const LIFE_MS = 60_000;
/** Tickets that are open at a time; the oldest goes for one more. */
const MAX_OPEN = 1000;
const PARAMETER = "ticket";

/** A ticket: who sends it may GET its path, and nothing else. */
export interface Ticket {
  readonly ticket: string;
  readonly path: string;
  /** Until when it opens the path, ISO 8601. */
  readonly expiresAt: string;
}

/** The tickets of one server; none outlives it. */
export class Tickets {
  readonly #open = new Map<string, { readonly path: string; readonly untilMs: number }>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns a new ticket for a path. */
  issue(path: string): Ticket {
    const untilMs = this.#clock.now() + LIFE_MS;
    const ticket = randomText();
    if (this.#open.size >= MAX_OPEN) this.#open.delete(this.#open.keys().next().value!);
    this.#open.set(ticket, { path, untilMs });
    return { ticket, path, expiresAt: new Date(untilMs).toISOString() };
  }

  /** Returns the request without its ticket when that opens its path; else null. */
  admitted(request: Request): Request | null {
    if (request.method !== "GET" || !request.url.includes(`${PARAMETER}=`)) return null;
    const url = new URL(request.url);
    // The key is a random text of its own: looking it up tells nothing about others.
    const found = this.#open.get(url.searchParams.get(PARAMETER) ?? "");
    if (!found || found.path !== url.pathname || found.untilMs <= this.#clock.now()) return null;
    url.searchParams.delete(PARAMETER);
    return new Request(url, { headers: request.headers });
  }
}
