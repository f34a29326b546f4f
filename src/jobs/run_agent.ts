/**
 * One run of an agent, with a job or without: its context, its answer and its events.
 *
 * @module
 */
import { messageOf } from "../core/errors/host_error.ts";
import type { TokenUsage } from "../events/types.ts";
import type { Clock } from "../core/ports/ports.ts";
import { cutText } from "../core/values/cut_text.ts";
import { defined } from "../core/values/plain_data.ts";
import { withSpan } from "../otel/tracing.ts";
import type { Tracing } from "../otel/types.ts";
import type { AgentAnswer, AgentContext, AgentRun, JobEvents } from "./agent.ts";
import { checkSize } from "./results_aside.ts";

/** A run's context and its cleanup. */
export interface PreparedRun<C extends AgentContext> {
  /** The context that the run gets. */
  readonly context: C;
  /** Tools it has called so far. */
  toolsUsed(): string[];
  /** Tokens it has used so far, as far as is known; they count where the answer names none. */
  usage?(): TokenUsage | null;
  /** Lets go of what the context held. */
  close(): Promise<void>;
}

/** Completes the context of a run. */
export type PrepareRun<C extends AgentContext> = (base: AgentContext) => PreparedRun<C> | Promise<PreparedRun<C>>;

/** Everything that a run needs besides its agent. */
export interface RunnerPorts<C extends AgentContext> {
  readonly prepare: PrepareRun<C>;
  /** Null when nobody wants events. */
  readonly events: JobEvents | null;
  readonly tracing: Tracing | null;
  readonly clock: Clock;
  /** A run with a longer answer fails with `jobs.result_too_large`. */
  readonly maxResultBytes: number;
}

export type RunOutcome =
  & { readonly toolsUsed: string[]; readonly durationMs: number }
  & (
    | { readonly ok: true; readonly output: string; readonly usage: TokenUsage }
    | { readonly ok: false; readonly error: string; readonly cause: unknown }
  );

/** A longer message is cut: it goes into the record of the job, which stays small. */
const MAX_ERROR_BYTES = 16 * 1024;
/** Characters of an answer that an event carries; the result has all of it. */
const MAX_EVENT_CHARS = 1024 * 1024;

/** Returns an answer as events carry it: a long one cut, because every listener and webhook would hold a copy. */
export function eventOutput(output: string): string {
  return output.length <= MAX_EVENT_CHARS ? output : cutText(output, MAX_EVENT_CHARS);
}

/** Emits `agent:start` and runs an agent. Never rejects. {@link emitRunEnd} emits the end. */
export async function runAgent<C extends AgentContext>(
  run: AgentRun<C>,
  base: AgentContext,
  { prepare, events, tracing, clock, maxResultBytes }: RunnerPorts<C>,
): Promise<RunOutcome> {
  const { agentName, input, jobId } = base;
  const startedMs = clock.monotonic();
  let prepared: PreparedRun<C> | null = null;
  events?.emit("agent:start", { ...subjectOf(base), input });
  try {
    const facts = { name: agentName, agent: agentName, session: base.conversationId, ...attributesOf(jobId) };
    const answer = await withSpan(tracing, "run", facts, async () => {
      prepared = await prepare(base);
      const answer = readAnswer(await run(prepared.context), prepared.usage?.() ?? null);
      checkSize(answer.output, maxResultBytes);
      return answer;
    });
    const used = answer.toolsUsed ?? prepared!.toolsUsed();
    return { ok: true, ...answer, toolsUsed: [...used], durationMs: clock.monotonic() - startedMs };
  } catch (cause) {
    const toolsUsed = (prepared as PreparedRun<C> | null)?.toolsUsed() ?? [];
    const error = cutText(messageOf(cause), MAX_ERROR_BYTES);
    return { ok: false, error, cause, toolsUsed, durationMs: clock.monotonic() - startedMs };
  } finally {
    await (prepared as PreparedRun<C> | null)?.close().catch(() => {}); // The run has ended, so a failing cleanup changes nothing.
  }
}

/** Emits `agent:end` or `agent:error`. */
export function emitRunEnd(base: AgentContext, outcome: RunOutcome, events: JobEvents | null): void {
  const { input } = base;
  const duration = outcome.durationMs;
  if (outcome.ok) {
    const { usage, toolsUsed } = outcome;
    const output = eventOutput(outcome.output);
    events?.emit("agent:end", { ...subjectOf(base), input, output, toolsUsed, usage, duration });
  } else events?.emit("agent:error", { ...subjectOf(base), input, error: outcome.error, duration });
}

type Subject = Pick<AgentContext, "agentName" | "conversationId" | "scopeId" | "jobId">;

function subjectOf({ agentName, conversationId, scopeId, jobId }: Subject): Subject {
  return { agentName, conversationId, ...defined({ scopeId, jobId }) };
}

function attributesOf(jobId: string | undefined): { attributes?: Record<string, string> } {
  return jobId === undefined ? {} : { attributes: { "kaged.job": jobId } };
}

/** Throws a `TypeError` for an answer that is none: the run then fails with it. */
function readAnswer(
  answer: AgentAnswer,
  used: TokenUsage | null,
): { output: string; usage: TokenUsage; toolsUsed?: readonly string[] } {
  const given = typeof answer === "string" ? { output: answer } : answer;
  if (typeof given?.output !== "string") throw new TypeError("The agent answered neither a text nor { output }");
  const said = given.usage ?? used;
  const { promptTokens = 0, completionTokens = 0 } = said ?? {};
  const totalTokens = said?.totalTokens ?? promptTokens + completionTokens;
  const usage = { promptTokens, completionTokens, totalTokens };
  return { output: given.output, usage, ...(given.toolsUsed && { toolsUsed: given.toolsUsed }) };
}
