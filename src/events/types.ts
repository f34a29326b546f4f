/**
 * Lifecycle events of agents, field by field. Each describes a whole step (a run, a job, a tool call); the tokens of an
 * answer are another matter.
 *
 * Times are ISO 8601, durations are milliseconds. `agentName` is the agent's path, `conversationId` the session's id.
 *
 * @module
 */
import type { Size } from "../core/compaction/messages.ts";

/** Tokens that went through a model. */
export interface TokenUsage {
  /** Tokens that the model read. */
  promptTokens: number;
  /** Tokens that the model wrote. */
  completionTokens: number;
  /** Sum of the two. */
  totalTokens: number;
}

/** Fields of every event of an agent in a session. */
export interface AgentFields {
  /** Path of the agent. */
  agentName: string;
  /** Id of the session. */
  conversationId: string;
  /** When it was emitted. */
  timestamp: string;
}

/** Fields of every event of a run. */
export interface RunFields extends AgentFields {
  /** The task that the run works on. */
  input: string;
  /** Scope of the caller, when it has one. */
  scopeId?: string;
  /** Present when the run is a background job. */
  jobId?: string;
}

/** Fields of every event of a background job that is over. */
export interface JobFields {
  /** Id of the job. */
  jobId: string;
  /** Path of the agent that ran it. */
  agentName: string;
  /** Milliseconds it took. */
  duration: number;
  /** When it was emitted. */
  timestamp: string;
}

/** Fields of the hand-over of work between agents. */
export interface DelegateFields {
  /** Path of the agent that hands work over. */
  parentAgent: string;
  /** Path of the agent that does it. */
  childAgent: string;
  /** Id of the session. */
  conversationId: string;
  /** When it was emitted. */
  timestamp: string;
}

/** Events of the level `summary`: runs of agents, background jobs, schedules. */
export interface SummaryEvents {
  /** An agent starts to work on an input. */
  "agent:start": RunFields;
  /** A run has ended with an answer. */
  "agent:end": RunFields & { output: string; toolsUsed: string[]; usage: TokenUsage; duration: number };
  /** A run has ended with an error. */
  "agent:error": RunFields & { error: string; duration: number };
  /** A background job is accepted. */
  "job:start": AgentFields & { jobId: string; input: string; scopeId?: string };
  /** A background job is done. */
  "job:end": JobFields & { output: string; usage: TokenUsage };
  /** A background job has failed. */
  "job:error": JobFields & { error: string };
  /** A background job was cancelled. */
  "job:cancelled": JobFields;
  /** A scheduled run is over, well or not. */
  "cron:executed": {
    cronId: string;
    agentName: string;
    executionId: string;
    status: "completed" | "failed";
    duration: number;
    timestamp: string;
  };
}

/** Events of the level `trace`: the steps within a run. */
export interface TraceEvents {
  /** A tool was called and has returned. */
  "tool:execute": AgentFields & {
    toolName: string;
    input: Record<string, unknown>;
    output: unknown;
    duration: number;
  };
  /** An agent hands work to another. */
  "delegate:start": DelegateFields & { input: string };
  /** An agent has work back from another. */
  "delegate:end": DelegateFields & { output: string; duration: number };
  /** A model was called and has answered. */
  "model:call": AgentFields & { model: string; promptTokens: number; completionTokens: number; duration: number };
  /** A hook was fired at a plugin. */
  "hook:execute": AgentFields & {
    plugin: string;
    hook: string;
    /** `ok`, or why the answer of the plugin does not count. */
    outcome: "ok" | "timeout" | "failed";
    duration: number;
  };
  /** Figures of a portable hook, without anything a person has written. */
  "hook:metric": AgentFields & {
    hook: string;
    /** The same for a session and those it rotated into. */
    correlationId: string;
    figures: Record<string, string | number | boolean>;
  };
  /** A context window was compacted. */
  "compaction:execute": AgentFields & {
    trigger: string;
    by: "compactor" | "drop" | "summarize" | "none";
    before: Size;
    after: Size;
    duration: number;
  };
}

/** Every event with its fields. */
export interface EmittedEvents extends SummaryEvents, TraceEvents {}

/** Name of an event, apart from `"*"`. */
export type EmittedName = keyof EmittedEvents;

/** Any event, with its name as `type`: subscribers to `"*"` get these. */
export type AnyEvent = { [E in EmittedName]: { type: E } & EmittedEvents[E] }[EmittedName];

/** The data that subscribers get: of each event by its name, and of all of them by `"*"`. */
export interface Events extends EmittedEvents {
  /** Every event, with its name as `type`. */
  "*": AnyEvent;
}

/** A name that can be subscribed to. */
export type EventName = keyof Events;

/** How much is emitted: `trace` is all, `summary` leaves the steps within a run out. */
export type EventLevel = "summary" | "trace";

const LEVELS: Readonly<Record<EmittedName, EventLevel>> = {
  "agent:start": "summary",
  "agent:end": "summary",
  "agent:error": "summary",
  "job:start": "summary",
  "job:end": "summary",
  "job:error": "summary",
  "job:cancelled": "summary",
  "cron:executed": "summary",
  "tool:execute": "trace",
  "delegate:start": "trace",
  "delegate:end": "trace",
  "model:call": "trace",
  "hook:execute": "trace",
  "hook:metric": "trace",
  "compaction:execute": "trace",
};

/** Every name that can be subscribed to, apart from `"*"`. */
export const EVENT_NAMES: readonly EmittedName[] = Object.keys(LEVELS) as EmittedName[];

/** Returns the level an event belongs to. */
export function levelOf(event: EmittedName): EventLevel {
  return LEVELS[event];
}
