/**
 * What a job runs: a function of the embedder's, and what it is given.
 *
 * @module
 */
import type { SummaryEvents, TokenUsage } from "../events/types.ts";

/** What one run of an agent is given. */
export interface AgentContext {
  /** The agent's path. */
  readonly agentName: string;
  /** What it is asked. */
  readonly input: string;
  /** The session it belongs to. */
  readonly conversationId: string;
  /** Whose it is, or absent. */
  readonly scopeId?: string;
  /** The job, when the run is a background job. */
  readonly jobId?: string;
  /** How often the job has been begun, this time included; 1 for a run without a job. */
  readonly attempt: number;
  /** Aborts when the job is cancelled, given to another worker, or when the host stops. */
  readonly signal: AbortSignal;
  /**
   * Tells those who follow the run, with data that JSON can hold. A type is letters, digits and `: . _ -`; `done`, `lost`
   * and `restarted` are taken. Throws a `TypeError` for anything else.
   */
  emit(type: string, data?: unknown): void;
}

/** What a run answers: the text alone, or with what it took. */
export type AgentAnswer = string | {
  /** The answer. */
  readonly output: string;
  /** Tokens it took. */
  readonly usage?: TokenUsage;
  /** Tools it called. Default: those called through its context. */
  readonly toolsUsed?: readonly string[];
};

/** Runs an agent once. What it throws is the reason of its failure. */
export type AgentRun<C extends AgentContext = AgentContext> = (context: C) => AgentAnswer | Promise<AgentAnswer>;

/** What is asked of an agent. */
export interface RunRequest {
  /** The agent's path. */
  readonly agentName: string;
  /** What it is asked. */
  readonly input: string;
  /** The session it belongs to. Default: a new id. */
  readonly conversationId?: string;
  /** Whose it is. */
  readonly scopeId?: string;
}

/** How a run without a job ended well. */
export interface RunResult {
  /** The answer. */
  readonly output: string;
  /** Tokens it took. */
  readonly usage: TokenUsage;
  /** Tools it called. */
  readonly toolsUsed: string[];
  /** The session it belonged to. */
  readonly conversationId: string;
}

/** Takes lifecycle events of runs, jobs and schedules: an emitter does. */
export interface JobEvents {
  /** Emits an event. Never throws. */
  emit<E extends keyof SummaryEvents>(event: E, data: Omit<SummaryEvents[E], "timestamp">): void;
}
