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
import { type HostToolName, isHostTool } from "../core/tools/host_tools.ts";
import { byteLength } from "../core/values/cut_text.ts";
import type { CallingJob, GateCall, GatedTool } from "./gate_call.ts";
import type { Blockable } from "./hook_types.ts";
import type { HostHooks } from "./host_hooks.ts";
import type { SessionOptions } from "./session_types.ts";
import { OwnTools, type ToolPorts } from "./tool_own.ts";
import { Transcript } from "./transcript.ts";
import type { CompactionRequest, Host, HostTool, Session, ToolCallOptions, ToolOutcome } from "./types.ts";

/** The host around its sessions. */
interface SessionPorts extends Pick<HostHooks, "onStart" | "onEnd" | "onIdle">, ToolPorts {
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
  /** The host's own tools that models were given, each with the agent. */
  readonly #listed = new Set<string>();
  #isRunning = false;

  /** Begins without an open session. */
  constructor(ports: SessionPorts) {
    this.#ports = ports;
  }

  /** Opens one; its id is made when none is given. Throws `session.duplicate`. */
  open(id: string = this.#ports.ids.create("ses"), options: SessionOptions = {}): HostSession {
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
      onListed: (tool, agent) => void this.#listed.add(`${agent} ${tool}`),
    }, options);
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

  /** Whether any session has listed a tool of the host's own for an agent. A loop may have another tool of that name. */
  hasListed(tool: string, agent: string): boolean {
    return this.#listed.has(`${agent} ${tool}`);
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

/** The sessions around one of them. */
interface SessionOwner {
  isRunning(): boolean;
  onClose(): void;
  onListed(tool: string, agent: string): void;
}

/** The one implementation of {@link Session}. */
export class HostSession implements Session {
  /** Unique among the open sessions of the host. */
  readonly id: string;
  readonly #ports: SessionPorts;
  readonly #owner: SessionOwner;
  readonly #own: OwnTools;
  readonly #transcript = new Transcript();
  readonly #firing = new Set<Promise<unknown>>();
  #start: ReturnType<SessionPorts["onStart"]> | null = null;
  #cancelTimer: (() => void) | null = null;
  #end: Promise<Blockable> | null = null;
  #isClosed = false;
  #context: string[] = [];

  /** Use {@link Sessions.open}. */
  constructor(id: string, ports: SessionPorts, owner: SessionOwner, options: SessionOptions) {
    this.id = id;
    this.#ports = ports;
    this.#owner = owner;
    this.#own = new OwnTools(ports, options);
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

  /** Returns the tools of an agent, or those of the host that stand for them. */
  tools(of?: Parameters<Session["tools"]>[0]): HostTool[] {
    const { agent, tools } = this.#own.list(of);
    for (const { name } of tools) if (isHostTool(name)) this.#owner.onListed(name, agent);
    return tools;
  }

  /** Returns what the tools of each plugin cost an agent. */
  usage(agent: string = PRIMARY): ReturnType<Session["usage"]> {
    return this.#own.usage(agent);
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
    const agent = options.agent ?? PRIMARY;
    const maxBytes = this.#own.limit(options);
    this.touch();
    const passed = this.#ports.pass({ tool, args, agent, session: this, options, outputOnly, job });
    return this.#own.finish(passed, { agent, plugin: tool.owner.plugin, maxBytes });
  }

  /** Returns the session as a background job has it: calls through it are the job's. */
  of(job: CallingJob): Session {
    const whole = this as Session;
    return {
      id: this.id,
      start: (systemPrompt) => whole.start(systemPrompt),
      record: (message) => whole.record(message),
      idle: () => whole.idle(),
      tools: (of) => whole.tools(of),
      usage: (agent) => whole.usage(agent),
      callTool: (name, args, options = {}) => this.#found(name, args, options, job),
      takeContext: () => whole.takeContext(),
      compact: (request) => whole.compact(request),
      close: () => whole.close(),
    };
  }

  #found(name: string, args: Args, options: ToolCallOptions, job?: CallingJob): Promise<ToolOutcome> {
    if (isHostTool(name)) return this.#callOwn(name, args, options, job);
    try {
      return this.call(this.find(name, options.agent), args, options, { job });
    } catch (error) {
      return Promise.reject(error);
    }
  }

  async #callOwn(name: HostToolName, args: Args, options: ToolCallOptions, job?: CallingJob): Promise<ToolOutcome> {
    this.#checkOpen();
    if (name === "call_tool") {
      const called = await this.#own.called(args, options.agent ?? PRIMARY);
      this.#checkOpen(); // The check of the arguments took a moment.
      return await this.call(called.tool, called.args, options, { job });
    }
    this.touch();
    return await this.#own.answer(name, args, options);
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
    this.#own.end();
    await Promise.allSettled([...this.#firing, this.#ports.onClosed(this.id)]);
    return this.#start ? await this.#ports.onEnd(this.id) : {};
  }

  /** Forgets that the session rests. */
  dropTimer(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
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
