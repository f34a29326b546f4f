/**
 * Background runs of agents: jobs that outlive the request that asked for them, in memory, files, SQLite or Postgres.
 *
 * @example A job, its events and its result
 * ```ts
 * import assert from "node:assert/strict";
 * import { createJobs, memoryJobs } from "@kaged/plugin-host/jobs";
 *
 * await using jobs = createJobs({ backend: memoryJobs() });
 * jobs.agent("greeter", ({ input, emit }) => {
 *   emit("text", { delta: "Hello" });
 *   return `Hello, ${input}`;
 * });
 * await jobs.work();
 * const { id } = await jobs.start({ agentName: "greeter", input: "Ada" });
 * for await (const { type, data } of await jobs.stream(id)) {
 *   if (type === "text") assert.deepEqual(data, { delta: "Hello" });
 * }
 * assert.equal((await jobs.get(id)).result, "Hello, Ada");
 * ```
 *
 * @module
 */
export { createJobs } from "./create_jobs.ts";
export type { CreateJobsOptions, JobFilter, JobPageFilter, Jobs, JobsClient, JobsOptions } from "./jobs.ts";
export type { AgentAnswer, AgentContext, AgentRun, AgentSteps, JobEvents, RunRequest, RunResult } from "./agent.ts";
export type { ScopeLimit, ScopeRules } from "./fair_turns.ts";
export type { PreparedRun, PrepareRun } from "./run_agent.ts";
export { StreamEvent, type StreamReader } from "./event_stream.ts";
export type { OpenSchedule, Schedule } from "./schedules.ts";
export type {
  ClaimRequest,
  ForgetRequest,
  Job,
  JobBackend,
  JobClaim,
  JobList,
  JobOutcome,
  JobPage,
  JobPageQuery,
  JobQueue,
  JobStatus,
  JobStore,
  JobWaiting,
  NewJob,
  RecoveryPolicy,
  ResultAside,
} from "./types.ts";
export { fileJobs, type FileJobsOptions } from "./file_jobs.ts";
export { memoryJobs, sqliteJobs, type SqliteJobsOptions } from "./sqlite_jobs.ts";
export { postgresJobs, type PostgresJobsOptions } from "./postgres_jobs.ts";
export type { PostgresOptions } from "./postgres_pool.ts";
export type { SummaryEvents, TokenUsage } from "../events/types.ts";
export type {
  Authorizer,
  Clock,
  Database,
  DatabaseOpener,
  DatabaseOptions,
  FileInfo,
  Files,
  Ids,
  SqlLimits,
  SqlValue,
  Statement,
} from "../core/ports/ports.ts";
export type { OpenSpan, RunFacts, SpanAttributes, SpanFacts, SpanKind, TraceCarrier, Tracing } from "../otel/types.ts";
