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

/** Events of the level `summary`: runs of agents, background jobs, schedules. */
export interface SummaryEvents {
  /** An agent starts to work on an input. */
  "agent:start": {
    agentName: string;
    input: string;
    conversationId: string;
    scopeId?: string;
    /** Present when the run is a background job. */
    jobId?: string;
    timestamp: string;
  };
  /** A run has ended with an answer. */
  "agent:end": {
    agentName: string;
    input: string;
    output: string;
    toolsUsed: string[];
    usage: TokenUsage;
    duration: number;
    conversationId: string;
    scopeId?: string;
    jobId?: string;
    timestamp: string;
  };
  /** A run has ended with an error. */
  "agent:error": {
    agentName: string;
    input: string;
    error: string;
    duration: number;
    conversationId: string;
    scopeId?: string;
    jobId?: string;
    timestamp: string;
  };
  /** A background job is accepted. */
  "job:start": {
    jobId: string;
    agentName: string;
    input: string;
    conversationId: string;
    scopeId?: string;
    timestamp: string;
  };
  /** A background job is done. */
  "job:end": {
    jobId: string;
    agentName: string;
    output: string;
    duration: number;
    usage: TokenUsage;
    timestamp: string;
  };
  /** A background job has failed. */
  "job:error": { jobId: string; agentName: string; error: string; duration: number; timestamp: string };
  /** A background job was cancelled. */
  "job:cancelled": { jobId: string; agentName: string; duration: number; timestamp: string };
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
  "tool:execute": {
    agentName: string;
    toolName: string;
    input: Record<string, unknown>;
    output: unknown;
    duration: number;
    conversationId: string;
    timestamp: string;
  };
  /** An agent hands work to another. */
  "delegate:start": {
    parentAgent: string;
    childAgent: string;
    input: string;
    conversationId: string;
    timestamp: string;
  };
  /** An agent has work back from another. */
  "delegate:end": {
    parentAgent: string;
    childAgent: string;
    output: string;
    duration: number;
    conversationId: string;
    timestamp: string;
  };
  /** A model was called and has answered. */
  "model:call": {
    agentName: string;
    model: string;
    promptTokens: number;
    completionTokens: number;
    duration: number;
    conversationId: string;
    timestamp: string;
  };
  /** A hook was fired at a plugin. */
  "hook:execute": {
    agentName: string;
    plugin: string;
    hook: string;
    /** How it went: `ok`, or why the plugin had no say. */
    outcome: "ok" | "timeout" | "failed";
    duration: number;
    conversationId: string;
    timestamp: string;
  };
  /** Figures of a portable hook, without anything a person has written. */
  "hook:metric": {
    agentName: string;
    hook: string;
    /** The same for a session and those it rotated into. */
    correlationId: string;
    figures: Record<string, string | number | boolean>;
    conversationId: string;
    timestamp: string;
  };
  /** A context window was compacted. */
  "compaction:execute": {
    agentName: string;
    trigger: string;
    by: "compactor" | "drop" | "summarize" | "none";
    before: Size;
    after: Size;
    duration: number;
    conversationId: string;
    timestamp: string;
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
