/**
 * Conversations of the primary agent: what starts them, what is said, when they rest.
 *
 * @module
 */
import { HostError } from "../core/errors/host_error.ts";
import type { Message } from "../core/compaction/messages.ts";
import type { Clock, Ids } from "../core/ports/ports.ts";
import type { SessionStarted } from "./hook_types.ts";
import { Transcript, type TranscriptParams } from "./transcript.ts";
import type { Session } from "./types.ts";

/** What a session needs of the host around it. */
export interface SessionPorts {
  /** Fires `SessionStart`: the text to go before the prompt. Never rejects for a handler. */
  onStart(session: string): Promise<SessionStarted>;
  /** Fires `SessionEnd`. Never rejects for a handler. */
  onEnd(session: string): Promise<void>;
  /** Fires `on_session_idle`. Never rejects for a plugin. */
  onIdle(session: string, params: TranscriptParams): Promise<unknown>;
  /** Time. */
  readonly clock: Clock;
  /** Makes ids. */
  readonly ids: Ids;
  /** How long a session may rest before its idle hook fires. */
  readonly idleWindowMs: number;
}

/** The open sessions of one host. */
export class Sessions {
  readonly #ports: SessionPorts;
  readonly #open = new Map<string, HostSession>();
  #isRunning = false;

  /** None is open. */
  constructor(ports: SessionPorts) {
    this.#ports = ports;
  }

  /** Opens one. Throws `session.duplicate`. */
  open(id: string = this.#ports.ids.create("ses")): Session {
    if (typeof id !== "string" || id === "") {
      throw new HostError("host.misuse", "Cannot open a session: its id is no text");
    }
    if (this.#open.has(id)) {
      throw new HostError("session.duplicate", `Session "${id}" is open already`, {
        data: { session_id: id },
        hint: "Close it first, or use another id",
      });
    }
    const session = new HostSession(id, this.#ports, {
      isRunning: () => this.#isRunning,
      onClose: () => void this.#open.delete(id),
    });
    this.#open.set(id, session);
    return session;
  }

  /** Whether one is open. */
  has(id: string): boolean {
    return this.#open.has(id);
  }

  /** Returns an open one. Throws `session.unknown`. */
  find(id: string): HostSession {
    const session = this.#open.get(id);
    if (session) return session;
    throw unknownSession(id);
  }

  /** Ids of those that are open. */
  ids(): string[] {
    return [...this.#open.keys()];
  }

  /** Lets idle timers be set: from now on activity winds them. */
  resume(): void {
    this.#isRunning = true;
  }

  /** Drops every idle timer; the next activity after {@link resume} winds its session's again. */
  suspend(): void {
    this.#isRunning = false;
    for (const session of this.#open.values()) session.dropTimer();
  }
}

/** One session. */
export class HostSession implements Session {
  /** Its id. */
  readonly id: string;
  readonly #ports: SessionPorts;
  readonly #owner: { readonly isRunning: () => boolean; readonly onClose: () => void };
  readonly #transcript = new Transcript();
  readonly #firing = new Set<Promise<unknown>>();
  #start: ReturnType<SessionPorts["onStart"]> | null = null;
  #cancelTimer: () => void = () => {};
  #end: Promise<void> | null = null;
  #isClosed = false;

  /** Use {@link Sessions.open}. */
  constructor(id: string, ports: SessionPorts, owner: { isRunning: () => boolean; onClose: () => void }) {
    this.id = id;
    this.#ports = ports;
    this.#owner = owner;
  }

  /** Fires `SessionStart` the first time; later calls put the same text before the prompt they are given. */
  async start(systemPrompt: string): ReturnType<Session["start"]> {
    this.#checkOpen();
    this.#start ??= this.#track(this.#ports.onStart(this.id));
    const { text, injected, ...rest } = await this.#start;
    const parts = [text, systemPrompt].filter((part) => part !== "");
    return { systemPrompt: parts.join("\n\n"), injected: [...injected], ...rest };
  }

  /** Adds a message and winds the idle clock. */
  record(message: Message): void {
    this.#checkOpen();
    this.#transcript.add(message);
    this.touch();
  }

  /** Winds the idle clock, when there is anything to tell. */
  touch(): void {
    this.dropTimer();
    if (this.#isClosed || this.#transcript.isEmpty || !this.#owner.isRunning()) return;
    this.#cancelTimer = this.#ports.clock.after(this.#ports.idleWindowMs, () => void this.#fireIdle());
  }

  /** Fires `on_session_idle` now. */
  async idle(): Promise<void> {
    this.#checkOpen();
    this.dropTimer();
    await this.#fireIdle();
  }

  /** Ends the session once its hooks under way are over; one that was started fires `SessionEnd` then. */
  async close(): Promise<void> {
    this.#end ??= this.#endOnce();
    await this.#end;
  }

  async #endOnce(): Promise<void> {
    this.#isClosed = true;
    this.dropTimer();
    this.#owner.onClose();
    await Promise.allSettled(this.#firing);
    if (this.#start) await this.#ports.onEnd(this.id);
  }

  /** Forgets that the session rests. */
  dropTimer(): void {
    this.#cancelTimer();
    this.#cancelTimer = () => {};
  }

  #fireIdle(): Promise<unknown> {
    return this.#track(this.#ports.onIdle(this.id, this.#transcript.take()));
  }

  #track<T>(work: Promise<T>): Promise<T> {
    this.#firing.add(work);
    const forget = () => this.#firing.delete(work);
    work.then(forget, forget);
    return work;
  }

  #checkOpen(): void {
    if (this.#isClosed) throw unknownSession(this.id);
  }
}

function unknownSession(id: string): HostError {
  return new HostError("session.unknown", `No session "${id}" is open`, {
    data: { session_id: id },
    hint: "Open it with openSession(); a subagent's calls carry the session of its primary",
  });
}
