/**
 * Calls of one MCP server that have not ended, and the sessions they are made for. A call may consist of several requests
 * with pauses between them, so that the connection's own count of open requests says too little.
 *
 * @module
 */
import type { McpCallPlace } from "./peer.ts";

interface OpenSession {
  readonly place: McpCallPlace | null;
  count: number;
  readonly end: () => void;
}

/** Keeps the open calls of one server. */
export class OpenCalls {
  readonly #sessions = new Map<string | null, OpenSession>();
  #onIdle: (() => void)[] = [];

  /** Takes note of a call until the returned function is called, once. */
  begin(place: McpCallPlace | null): () => void {
    const key = place?.session ?? null;
    const known = this.#sessions.get(key);
    if (known === undefined) return this.#first(key, place);
    known.count++;
    return known.end;
  }

  #first(key: string | null, place: McpCallPlace | null): () => void {
    const end = (): void => {
      if (--entry.count > 0) return;
      this.#sessions.delete(key);
      if (this.#sessions.size > 0) return;
      for (const resolve of this.#onIdle) resolve();
      this.#onIdle = [];
    };
    const entry = { place, count: 1, end };
    this.#sessions.set(key, entry);
    return end;
  }

  /** The agent and session of all open calls; null when there is none, or they are of several sessions, or of none. */
  get place(): McpCallPlace | null {
    const [only, other] = this.#sessions.values();
    return other === undefined ? only?.place ?? null : null;
  }

  /** Sessions with open calls. */
  get sessions(): readonly string[] {
    return [...this.#sessions.keys()].filter((session) => session !== null);
  }

  get isIdle(): boolean {
    return this.#sessions.size === 0;
  }

  /** Resolves when no call is open. */
  idle(): Promise<void> {
    if (this.#sessions.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#onIdle.push(resolve));
  }
}
