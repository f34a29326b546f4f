/**
 * The gate: every call of a tool walks through it, whichever door it came in by. docs/hooks.md lists the doors, and what
 * is below the gate.
 *
 * 1. The door has found the session and the tool; the arguments are checked against the tool's schema.
 * 2. Rules: they allow, deny or ask, and are judged again for arguments that step 3 changed.
 * 3. `PreToolUse`: a handler may block, ask, add context, or modify the arguments, which are then checked again. Where a
 *    rule or a handler asks, a person is asked now, once for all of them.
 * 4. The plugin is called.
 * 5. `PostToolUse`, for a failure `OnError` before it: a handler may add context, modify the output, or block it.
 * 6. The outcome: the output as modified, or the error of who blocked or of the tool; with both, added context.
 *
 * @module
 */
import type { Verdict } from "../core/rules/rules.ts";
import { asHostError, HostError } from "../core/errors/host_error.ts";
import type { Clock } from "../core/ports/ports.ts";
import { checkArguments, surelyFit } from "../core/tools/check_arguments.ts";
import { unlessAborted } from "../core/values/unless_aborted.ts";
import { cancelledError } from "../core/wire/calls.ts";
import type { CallEnd } from "../core/wire/connection_types.ts";
import type { Emitter } from "../events/emitter.ts";
import type { HookEngine } from "../hooks/engine/engine.ts";
import { changersOf } from "../hooks/engine/asks.ts";
import type { HookResult } from "../hooks/engine/result.ts";
import type { HookEvent } from "../hooks/engine/types.ts";
import type { HookContext } from "../hooks/sources/plugin/fire_hook.ts";
import { PluginScope } from "../hooks/sources/plugin/plugin_scope.ts";
import type { OpenSpan, Tracing } from "../otel/types.ts";
import { callParams, type CallPlugin, unlessUnknown } from "./call_plugin.ts";
import type { GateCall } from "./gate_call.ts";
import { applyRules, type Asking, askPerson, type JudgePorts, recordWatched } from "./judge_call.ts";
import type { ToolOutcome } from "./types.ts";

/** The rooms of a host that the walk passes. */
export interface GatePorts extends JudgePorts {
  readonly engine: HookEngine;
  readonly callPlugin: CallPlugin;
  readonly emitter: Emitter | null;
  readonly tracing: Tracing | null;
  readonly clock: Pick<Clock, "monotonic">;
  /** Remembers the links in the result of an MCP server's tool. */
  noteLinks(session: string, plugin: string, output: unknown): void;
  /** Returns the context of work that an agent does in a session. */
  contextOf(agent: string, session: string): HookContext;
}

type Args = Readonly<Record<string, unknown>>;

/** Shared by every walk until a handler says something: most calls have none. */
const NOTHING: readonly string[] = [];
const UNTRACED: OpenSpan = { carrier: {}, fail() {} };

/** Walks one call through the gate. Rejects with the error of a call that is refused or fails. */
export function passGate(call: GateCall, ports: GatePorts): Promise<ToolOutcome> {
  const { tool, agent, session } = call;
  if (!ports.tracing) return new Walk(call, ports, UNTRACED).run();
  const facts = { name: tool.name, agent, session: session.id, attributes: { "kaged.plugin": tool.owner.plugin } };
  return ports.tracing.span("tool", facts, (span) => new Walk(call, ports, span).run());
}

/** Its methods have no `#`: on Bun every object carries a mark for such methods, which takes longer than to make it. */
class Walk implements CallEnd {
  readonly #call: GateCall;
  readonly #ports: GatePorts;
  readonly #span: OpenSpan;
  #context = NOTHING;
  #warnings = NOTHING;
  #args: Args;
  /** The context under which the plugin was called. */
  #made: HookContext | null = null;
  #startedMs: number | null = null;
  #durationMs: number | null = null;

  constructor(call: GateCall, ports: GatePorts, span: OpenSpan) {
    this.#call = call;
    this.#ports = ports;
    this.#span = span;
    this.#args = call.args;
  }

  /** Where nobody judges the call, it is on the wire when this returns, and nothing but its one promise was made. */
  run(): Promise<ToolOutcome> {
    try {
      const isChecked = surelyFit(this.#call.tool, this.#args);
      if (isChecked && !this.isJudged()) return this.make(this.contextOf());
      return this.walk(isChecked);
    } catch (thrown) {
      return Promise.reject(this.noted(asHostError(thrown)));
    }
  }

  async walk(isChecked: boolean): Promise<ToolOutcome> {
    let context: HookContext;
    try {
      if (!isChecked) await checkArguments(this.#call.tool, this.#args);
      context = this.contextOf();
      if (this.isJudged()) await this.judge(context);
      if (this.#call.options.whenAllowed) await this.unlessCancelled(this.#call.options.whenAllowed());
    } catch (thrown) {
      throw this.noted(asHostError(thrown));
    }
    return await this.make(context);
  }

  /** Whether anybody has a word to say before the call is made. */
  isJudged(): boolean {
    const { engine, rules } = this.#ports;
    return !rules.isEmpty || engine.has("PreToolUse") || this.#call.options.whenAllowed !== undefined;
  }

  contextOf(): HookContext {
    const context = this.#ports.contextOf(this.#call.agent, this.#call.session.id);
    const { carrier } = this.#span;
    return carrier === UNTRACED.carrier ? context : { ...context, ...carrier };
  }

  /** The plugin has answered. */
  ok(output: unknown): ToolOutcome | Promise<ToolOutcome> {
    const { tool: { definition, owner }, session } = this.#call;
    if (definition) {
      try {
        this.#ports.noteLinks(session.id, owner.plugin, output);
      } catch (thrown) {
        return this.failed(thrown);
      }
    }
    this.setDuration();
    return this.isHeard(null) ? this.heard(output, null) : this.outcome(output);
  }

  /** The call has failed. Handlers hear of it before the caller does. */
  failed(thrown: unknown): Promise<ToolOutcome> {
    const error = asHostError(unlessUnknown(thrown, this.#call.tool.owner.instance));
    this.setDuration();
    if (this.isHeard(error)) return this.heard(undefined, error);
    throw this.noted(error);
  }

  setDuration(): void {
    if (this.#startedMs !== null) this.#durationMs = this.#ports.clock.monotonic() - this.#startedMs;
  }

  /** Handlers hear how a call ended even when its caller has gone. */
  async heard(output: unknown, error: HostError | null): Promise<ToolOutcome> {
    try {
      return this.outcome(await this.unlessCancelled(this.after(output, error, this.#made!)));
    } catch (thrown) {
      throw this.noted(asHostError(thrown));
    }
  }

  outcome(output: unknown): ToolOutcome {
    this.end(true, output);
    return { output, context: copyOf(this.#context), warnings: copyOf(this.#warnings) };
  }

  /** Whether anybody is there to hear how long the call takes; who comes during it hears of its end without that. */
  isTimed(): boolean {
    const { emitter, engine } = this.#ports;
    return emitter !== null || engine.has("PostToolUse") || engine.has("OnError");
  }

  isHeard(error: HostError | null): boolean {
    const { engine } = this.#ports;
    return engine.has("PostToolUse") || (error !== null && engine.has("OnError"));
  }

  noted(error: HostError): HostError {
    this.#span.fail(error.code);
    this.end(false, { error: { code: error.code, message: error.message } });
    return error;
  }

  /** Has rules, handlers and, where one of them asks, a person judge the call. */
  async judge(context: HookContext): Promise<void> {
    const given = this.#args;
    let verdict = applyRules(this.#call, context, this.#ports);
    const fired = this.#ports.engine.has("PreToolUse") ? await this.before(context) : null;
    if (this.#args !== given) verdict = applyRules(this.#call, context, this.#ports);
    if (verdict?.decision === "watch") recordWatched(this.#call, verdict, context, this.#ports);
    const asking = askingOf(verdict, fired, given);
    if (asking.asked.length === 0) return;
    const answered = askPerson(this.#call, this.#args, asking, context, this.#ports);
    this.#args = await this.unlessCancelled(answered);
  }

  async before(context: HookContext): Promise<HookResult> {
    const { tool } = this.#call;
    const given = this.#args;
    const fired = this.fire("PreToolUse", { tool: { name: tool.name }, input: given }, context);
    const result = await this.unlessCancelled(fired);
    if (result.isRecursive) throw recursionError(tool);
    if (result.blocked) throw this.block(result, context);
    if (result.input === given) return result;
    try {
      await checkArguments(tool, result.input);
    } catch (cause) {
      throw changedArgumentsError(tool, result, cause as HostError);
    }
    this.#args = result.input as Args;
    return result;
  }

  /** Waits for handlers no longer than the caller of the tool does; they go on unheard then. */
  unlessCancelled<T>(work: Promise<T>): Promise<T> {
    const { tool, options } = this.#call;
    return unlessAborted(work, options.signal, (signal) => cancelledError(tool.name, signal));
  }

  /** Calls the plugin; the walk itself is the end of that call. */
  make(context: HookContext): Promise<ToolOutcome> {
    const { tool: { name, owner }, options: { signal, timeoutMs, onProgress } } = this.#call;
    const params = callParams(this.#args, owner.override);
    this.#made = context;
    if (this.isTimed()) this.#startedMs = this.#ports.clock.monotonic();
    const options = signal || onProgress || timeoutMs !== undefined ? { ...this.#call.options, context } : { context };
    return this.#ports.callPlugin(owner.instance, name, params, options, this) as Promise<ToolOutcome>;
  }

  /** Returns the output as handlers leave it. Throws the tool's own error unless one of them gave an output for it. */
  async after(made: unknown, error: HostError | null, context: HookContext): Promise<unknown> {
    const time = this.#durationMs === null ? {} : { durationMs: this.#durationMs };
    const tool = { name: this.#call.tool.name, success: error === null, ...time };
    const failure = error && { error: { message: error.message, code: error.code } };
    let output = made;
    let block: HostError | null = null;
    for (const hook of error ? ["OnError", "PostToolUse"] as const : ["PostToolUse"] as const) {
      if (!this.#ports.engine.has(hook)) continue;
      const result = await this.fire(hook, { tool, input: this.#args, output, ...failure }, context);
      // Both are fired even where the first blocks: those who count failures must not miss one.
      if (result.blocked) block ??= this.block(result, context, error);
      output = result.output;
    }
    if (block) throw block;
    if (error && output === made) throw error;
    return output;
  }

  async fire(
    hook: HookEvent["hook"],
    event: Pick<HookEvent, "tool" | "input" | "output" | "error">,
    context: HookContext,
  ): Promise<HookResult> {
    const { agent, session: { id: sessionId } } = this.#call;
    const scope = new PluginScope({ context });
    const options = hook === "PreToolUse" ? { scope, canAsk: true } : { scope };
    const result = await this.#ports.engine.fire({ hook, sessionId, agent, ...event }, options);
    this.#context = [...this.#context, ...result.context];
    this.#warnings = [...this.#warnings, ...result.warnings];
    return result;
  }

  block(result: HookResult, { agent_path, session_id, request_id }: HookContext, cause?: HostError | null): HostError {
    const { tool: { name: tool, owner: { plugin: name, instance } } } = this.#call;
    const error = blockedError(tool, result, cause);
    const { hook, by, reason } = error.data as { hook: string; by: string; reason: string };
    const data = { tool, hook, by, reason, agent_path, session_id };
    this.#ports.audit.emit("plugin.tool_blocked", { name, instance }, data, request_id);
    return error;
  }

  /** Says how the call ended to listeners of events, and hands on text that handlers added. */
  end(isOk: boolean, output: unknown): void {
    const { agent, session, tool } = this.#call;
    this.#ports.emitter?.emit("tool:execute", {
      agentName: agent,
      toolName: tool.name,
      input: { ...this.#args },
      output: output ?? null,
      duration: this.#durationMs ?? 0,
      conversationId: session.id,
    });
    if (this.#context.length > 0) this.handOver([...this.#context], isOk);
  }

  /** Text goes to who asked for it; where it reaches nobody, the session keeps it. */
  handOver(texts: readonly string[], isOk: boolean): void {
    const { options: { onContext }, session, outputOnly } = this.#call;
    if (onContext) onContext(texts);
    else if (outputOnly || !isOk) session.keep(texts);
  }
}

/** Every outcome has lists of its own, which its caller may add to. */
function copyOf(texts: readonly string[]): string[] {
  return texts === NOTHING ? [] : [...texts];
}

const MAX_REASON = 500;

/** The error of a call that a handler blocked, before it was made or afterwards; `cause` is the tool's own failure. */
function blockedError(
  tool: string,
  { hook, blockedBy, reason: whole }: HookResult,
  cause?: HostError | null,
): HostError {
  const [by, reason] = [blockedBy ?? "", (whole ?? "").slice(0, MAX_REASON)];
  const subject = hook === "PreToolUse" ? `The call of "${tool}"` : `The output of "${tool}"`;
  return new HostError("tool.blocked", `${subject} was blocked by ${by}: ${reason}`, {
    data: { tool, hook, by, reason },
    hint: hook === "PreToolUse" ? "The tool was not called" : "The tool was called; its output is withheld",
    ...(cause && { cause }),
  });
}

/** The error of a call that a handler of `PreToolUse` makes while it is being asked: nobody else could judge it. */
function recursionError({ name: tool }: { readonly name: string }): HostError {
  const reason = "A handler of PreToolUse called a tool, and no handler can judge that call";
  return new HostError("tool.blocked", `The call of "${tool}" was blocked by the gate: ${reason}`, {
    data: { tool, hook: "PreToolUse", by: "gate", reason },
    hint: "Call tools once the handler has answered",
  });
}

/** Returns those that ask a person: the rule, then handlers in their order. */
function askingOf(verdict: Verdict | null, fired: HookResult | null, given: Args): Asking {
  const rule = verdict?.decision === "ask" && verdict.source
    ? [{ source: verdict.source, reason: verdict.reason }]
    : [];
  const hooks = (fired?.asked ?? []).map(
    ({ source: { id }, reason }) => {
      return { source: { kind: "hook", id } as const, reason };
    },
  );
  return { asked: [...rule, ...hooks], given, changedBy: fired ? changersOf(fired.trace) : [] };
}

/** The error of arguments that a handler of `PreToolUse` made unfit for the tool. */
function changedArgumentsError(
  { name: tool }: { readonly name: string },
  { trace }: HookResult,
  cause: HostError,
): HostError {
  const changedBy = changersOf(trace);
  return new HostError("tool.arguments_invalid", `${cause.message}, as ${changedBy.join(", ")} changed the arguments`, {
    data: { ...cause.data as object, tool, changed_by: changedBy },
    hint: "Correct the hook: its modifiedInput must fit the tool's schema",
    cause,
  });
}
