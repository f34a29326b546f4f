/**
 * The function of the embedder that a job runs, its context and its answer.
 *
 * @module
 */
import type { SummaryEvents, TokenUsage } from "../events/types.ts";

/** The context of one run of an agent. */
export interface AgentContext {
  /** Path of the agent, such as `primary.subagents.researcher`. */
  readonly agentName: string;
  /** The request to the agent, in words. */
  readonly input: string;
  /** The session it belongs to. */
  readonly conversationId: string;
  /** The tenant it belongs to; absent where the host serves one. */
  readonly scopeId?: string;
  /** The job, when the run is a background job. */
  readonly jobId?: string;
  /** How often the job has been begun, this time included; 1 for a run without a job. */
  readonly attempt: number;
  /** Aborts when the job is cancelled, given to another worker, or when the host stops. */
  readonly signal: AbortSignal;
  /**
   * Sends an event to the readers of the run, with data that JSON can hold. A type is letters, digits and `: . _ -`; `done`, `lost`
   * and `restarted` are taken. Throws a `TypeError` for anything else.
   */
  emit(type: string, data?: unknown): void;
}

/** The answer of a run: the text alone, or with its usage. */
export type AgentAnswer = string | {
  /** The answer in words. */
  readonly output: string;
  /** Tokens that the run used. */
  readonly usage?: TokenUsage;
  /** Tools it called. Default: those called through its context. */
  readonly toolsUsed?: readonly string[];
};

/** Runs an agent once. What it throws is the reason of its failure. */
export type AgentRun<C extends AgentContext = AgentContext> = (context: C) => AgentAnswer | Promise<AgentAnswer>;

/** A request to an agent. */
export interface RunRequest {
  /** Path of the agent, which has a registered run. */
  readonly agentName: string;
  /** The request itself, in words. */
  readonly input: string;
  /** The session it belongs to. Default: a new id. */
  readonly conversationId?: string;
  /** The tenant it belongs to. Default: none. */
  readonly scopeId?: string;
}

/** How a run without a job ended well. */
export interface RunResult {
  /** The agent's answer in words. */
  readonly output: string;
  /** Tokens it used; zeros where the run reported none. */
  readonly usage: TokenUsage;
  /** Full names of the tools it called. */
  readonly toolsUsed: string[];
  /** The session it belonged to. */
  readonly conversationId: string;
}

/** Steps of a run that a host times and reports. */
export interface AgentSteps {
  /**
   * Hands work to another agent of this program, in the same session and until the run is aborted: a subagent by its
   * name, or any agent by its path. Fires `SubagentStart` and `SubagentStop`, and emits `delegate:start` and
   * `delegate:end`, whose output is empty when the other agent failed.
   *
   * @throws {HostError} `jobs.agent_unknown`, `jobs.run_failed`, or `tool.blocked` when a handler blocks it.
   */
  delegate(agent: string, input: string): Promise<RunResult>;
  /**
   * Calls a model: resolves with what `call` resolves with, and emits `model:call` with the time and the tokens in its
   * `usage` (as the AI SDK, OpenAI and Anthropic name them). A run whose answer names no usage has the sum of these.
   */
  callModel<T>(model: string, call: () => T | Promise<T>): Promise<T>;
}

/** Takes lifecycle events of runs, jobs and schedules: an emitter does. */
export interface JobEvents {
  /** Emits an event. Never throws. */
  emit<E extends keyof SummaryEvents>(event: E, data: Omit<SummaryEvents[E], "timestamp">): void;
}
