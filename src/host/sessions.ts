/**
 * Conversations of the primary agent: how they start, what is said in them, when they rest, the calls made in them.
 *
 * @module
 */
import { HostError } from "../core/errors/host_error.ts";
import type { Message } from "../core/compaction/messages.ts";
import type { CompactionResult } from "../core/compaction/types.ts";
import { PRIMARY } from "../core/contract/hook_names.ts";
import type { Clock, Ids } from "../core/ports/ports.ts";
import { byteLength } from "../core/values/cut_text.ts";
import type { CallingJob, GateCall, GatedTool } from "./gate_call.ts";
import type { Blockable } from "./hook_types.ts";
import type { HostHooks } from "./host_hooks.ts";
import { Transcript } from "./transcript.ts";
import type { CompactionRequest, Host, HostTool, Session, ToolCallOptions, ToolOutcome } from "./types.ts";

/** The host around its sessions. */
interface SessionPorts extends Pick<HostHooks, "onStart" | "onEnd" | "onIdle"> {
  /** Returns the tools an agent can call now. Throws `agent.unknown`. */
  tools(agent: string): HostTool[];
  /** Returns a tool of an agent, by its name or its alias. Throws `agent.unknown` or `tool.unknown`. */
  findTool(name: string, agent: string): GatedTool;
  /** Walks a call through the gate. */
  pass(call: GateCall): Promise<ToolOutcome>;
  compact: Host["compact"];
  /** A session has been closed. */
  onClosed(id: string): Promise<void>;
  readonly clock: Clock;
  readonly ids: Ids;
  /** How long a session may rest before its idle hook fires. */
  readonly idleWindowMs: number;
}

type Args = Readonly<Record<string, unknown>>;

/** Most bytes of text a session keeps for {@link Session.takeContext}; older text goes first. */
const MAX_KEPT_BYTES = 128 * 1024;

/** The open sessions of one host. */
export class Sessions {
  readonly #ports: SessionPorts;
  readonly #open = new Map<string, HostSession>();
  #isRunning = false;

  /** Begins without an open session. */
  constructor(ports: SessionPorts) {
    this.#ports = ports;
  }

  /** Opens one; its id is made when none is given. Throws `session.duplicate`. */
  open(id: string = this.#ports.ids.create("ses")): HostSession {
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

  /** Whether a session of that id is open. */
  has(id: string): boolean {
    return this.#open.has(id);
  }

  /** Returns an open one. Throws `session.unknown`. */
  find(id: string): HostSession {
    const session = this.#open.get(id);
    if (session) return session;
    throw unknownSession(id);
  }

  /** Returns the ids of the open ones. */
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

/** The one implementation of {@link Session}. */
export class HostSession implements Session {
  /** Unique among the open sessions of the host. */
  readonly id: string;
  readonly #ports: SessionPorts;
  readonly #owner: { readonly isRunning: () => boolean; readonly onClose: () => void };
  readonly #transcript = new Transcript();
  readonly #firing = new Set<Promise<unknown>>();
  #start: ReturnType<SessionPorts["onStart"]> | null = null;
  #cancelTimer: () => void = () => {};
  #end: Promise<Blockable> | null = null;
  #isClosed = false;
  #context: string[] = [];

  /** Use {@link Sessions.open}. */
  constructor(id: string, ports: SessionPorts, owner: { isRunning: () => boolean; onClose: () => void }) {
    this.id = id;
    this.#ports = ports;
    this.#owner = owner;
  }

  /** Fires `SessionStart` the first time; later calls put the same text before the prompt they are given. */
  async start(systemPrompt: string): ReturnType<Session["start"]> {
    this.#checkOpen();
    this.#start ??= this.#track(this.#ports.onStart(this.id, systemPrompt));
    const { given, prompt, text, injected, ...rest } = await this.#start;
    // A handler modified the prompt it was given, and no other.
    const parts = [text, systemPrompt === given ? prompt : systemPrompt].filter((part) => part !== "");
    return { systemPrompt: parts.join("\n\n"), injected: [...injected], ...rest };
  }

  /** Adds a message and winds the idle clock. */
  record(message: Message): void {
    this.#checkOpen();
    this.#transcript.add(message);
    this.touch();
  }

  /** Winds the idle clock, unless nothing was said that the hook could be sent. */
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

  /** Returns the tools of an agent. */
  tools(agent: string = PRIMARY): HostTool[] {
    return this.#ports.tools(agent);
  }

  /** Calls a tool through the gate. */
  callTool(
    name: string,
    args: Readonly<Record<string, unknown>>,
    options: ToolCallOptions = {},
  ): Promise<ToolOutcome> {
    return this.#found(name, args, options);
  }

  /** Returns a tool of an agent. Throws `session.unknown` once the session is closed. */
  find(name: string, agent: string = PRIMARY): GatedTool {
    this.#checkOpen();
    return this.#ports.findTool(name, agent);
  }

  /**
   * Calls a tool through the gate: work that winds the idle clock. Text of handlers goes to `onContext`; without one it
   * is kept when it reaches nobody, which is so for a call that fails or is made for its output alone.
   */
  call(
    tool: GatedTool,
    args: Readonly<Record<string, unknown>>,
    options: ToolCallOptions,
    { outputOnly = false, job }: { readonly outputOnly?: boolean; readonly job?: CallingJob | undefined } = {},
  ): Promise<ToolOutcome> {
    this.touch();
    return this.#ports.pass({ tool, args, agent: options.agent ?? PRIMARY, session: this, options, outputOnly, job });
  }

  /** Returns the session as a background job has it: calls through it are the job's. */
  of(job: CallingJob): Session {
    const whole = this as Session;
    return {
      id: this.id,
      start: (systemPrompt) => whole.start(systemPrompt),
      record: (message) => whole.record(message),
      idle: () => whole.idle(),
      tools: (agent) => whole.tools(agent),
      callTool: (name, args, options = {}) => this.#found(name, args, options, job),
      takeContext: () => whole.takeContext(),
      compact: (request) => whole.compact(request),
      close: () => whole.close(),
    };
  }

  #found(name: string, args: Args, options: ToolCallOptions, job?: CallingJob): Promise<ToolOutcome> {
    try {
      return this.call(this.find(name, options.agent), args, options, { job });
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** Returns the text that was kept, and forgets it. */
  takeContext(): string[] {
    const taken = this.#context;
    this.#context = [];
    return taken;
  }

  /** Keeps text for {@link takeContext}. */
  keep(texts: readonly string[]): void {
    this.#context.push(...texts);
    let bytes = this.#context.reduce((sum, text) => sum + byteLength(text), 0);
    while (bytes > MAX_KEPT_BYTES && this.#context.length > 1) bytes -= byteLength(this.#context.shift()!);
  }

  /** Makes the window of an agent smaller: work that winds the idle clock. */
  async compact<M extends { readonly role: string } = Message>(
    { agent = PRIMARY, ...request }: Omit<CompactionRequest<M>, "agent" | "session"> & { readonly agent?: string },
  ): Promise<CompactionResult<M>> {
    this.#checkOpen();
    this.touch();
    return await this.#ports.compact({ ...request, agent, session: this.id });
  }

  /** Ends the session once its hooks under way are over; one that was started fires `SessionEnd` then. */
  close(): Promise<Blockable> {
    return this.#end ??= this.#endOnce();
  }

  async #endOnce(): Promise<Blockable> {
    this.#isClosed = true;
    this.dropTimer();
    this.#owner.onClose();
    await Promise.allSettled([...this.#firing, this.#ports.onClosed(this.id)]);
    return this.#start ? await this.#ports.onEnd(this.id) : {};
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
