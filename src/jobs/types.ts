/**
 * A background run of an agent: its record, where records are kept, and how processes share the work.
 *
 * @module
 */
import type { ApprovalStore } from "../core/approvals/types.ts";
import type { TokenUsage } from "../events/types.ts";
import type { ScopeRules } from "./fair_turns.ts";

/** Where a job is in its life. The last three are final. */
export type JobStatus = "queued" | "running" | "completed" | "failed" | "cancelled";

/** A background run of an agent. */
export interface Job {
  /** Unique among all jobs of the store. */
  id: string;
  /** Path of the agent that runs it. */
  agentName: string;
  /** The request to the agent, in words. */
  input: string;
  /** The session it belongs to. */
  conversationId: string;
  /** The tenant it belongs to, where one host serves several. */
  scopeId?: string;
  /** Queued, running, or one of the final ones. */
  status: JobStatus;
  /** The agent's answer, once completed; absent where `resultAside` stands for it. */
  result?: string;
  /** Stands for an answer that is not in this record: it is in a list, or too big. */
  resultAside?: ResultAside;
  /** The reason of the failure, once failed. */
  error?: string;
  /** Code of the error table, where the run failed with one, such as `jobs.result_too_large`. */
  errorCode?: string;
  /** Calls of its run that wait for a person; absent when none does. Its lease is kept meanwhile. */
  waiting?: JobWaiting[];
  /** Tokens that the run used. */
  usage?: TokenUsage;
  /** Full names of the tools it called. */
  toolsUsed?: string[];
  /** When it was accepted, ISO 8601. */
  createdAt: string;
  /** When its last run began, ISO 8601. */
  startedAt?: string;
  /** When its status became final, ISO 8601. */
  completedAt?: string;
}

/** Stands for an answer that is kept beside its record: `jobs.result(id)` and `GET /jobs/:id/result` return it whole. */
export interface ResultAside {
  /** Always true: the record has no part of the answer. */
  readonly truncated: true;
  /** Length of the answer as UTF-8. */
  readonly bytes: number;
}

/** A call of a job that waits for a person. */
export interface JobWaiting {
  /** Id of the request, as in `host.approvals.list()`. */
  approvalId: string;
  /** Full name of the tool. */
  tool: string;
  /** Since when, ISO 8601. */
  since: string;
}

/** A job about to be kept: the store gives it an id and the time. */
export type NewJob = Omit<Job, "id" | "createdAt">;

/** Selects the jobs of a scope that are listed. */
export interface JobPage {
  /** Only jobs in this status. */
  readonly status?: JobStatus;
  /** Only jobs of this agent. */
  readonly agentName?: string;
  /** So many at most: the newest of them. Default: all. */
  readonly limit?: number;
  /** Only those that were created before the job of this id. */
  readonly before?: string;
}

/** Selects one page of records for {@link JobStore.page}. */
export interface JobPageQuery extends Pick<JobPage, "status" | "agentName"> {
  /** Only jobs of this scope; null for those without one; absent for those of every scope. */
  readonly scopeId?: string | null;
  /** Records at most, from 1; the store says in `next` whether more follow. */
  readonly limit: number;
  /** Bytes of records after which the page ends, with the record that reaches them. */
  readonly maxBytes: number;
  /** The `next` of the page before, which was in this store's own words. */
  readonly after?: string;
}

/** One page of jobs, the newest first. */
export interface JobList {
  /** Without results, unless these were asked for. */
  readonly jobs: readonly Job[];
  /** Leads to the page that follows, also when jobs are removed meanwhile; null on the last one. */
  readonly next: string | null;
}

/**
 * Keeps job records. `scopeId` is part of a job's address: a job of a scope is found in that scope alone, one without a
 * scope without one. Ids and scopes that are not plain names throw `jobs.id_invalid`.
 */
export interface JobStore {
  /** Keeps a new job; resolves when it is stored. */
  create(job: NewJob): Promise<Job>;
  /** Returns a job, or null when there is none in the scope. */
  get(id: string, scopeId?: string): Promise<Job | null>;
  /** Returns the jobs of a scope, the oldest first. A store may leave the page to its caller and return all. */
  list(scopeId?: string, page?: JobPage): Promise<Job[]>;
  /** Changes fields of a job, whatever its scope; id, scope and creation stay. Throws `jobs.unknown`. */
  update(id: string, updates: Partial<Job>): Promise<Job>;
  /** Removes a job, and its result; false when there is none. */
  delete(id: string, scopeId?: string): Promise<boolean>;
  /**
   * Returns one page of records, without reading results. Throws `http.cursor_invalid`. A store without it is asked for
   * {@link list}, and shows operators only the jobs that have no scope.
   */
  page?(query: JobPageQuery): Promise<JobList>;
  /** Returns the job of that id in whichever scope, or null. A store without it has none to show to operators. */
  find?(id: string): Promise<Job | null>;
  /** Reads the result of a record with `resultAside`, as UTF-8, piece by piece; null when there is none. */
  result?(id: string): Promise<AsyncIterable<Uint8Array> | null>;
}

/** A job one worker may run, until its lease ends. */
export interface JobClaim {
  /** The job, with the status `running`. */
  readonly job: Job;
  /** How often it has been begun, this time included. */
  readonly attempt: number;
  /** Name of the worker that runs it. */
  readonly worker: string;
}

/** A worker's request for a job. */
export interface ClaimRequest {
  /** Name of the worker: no two processes share one. */
  readonly worker: string;
  /** Paths of the agents it can run. */
  readonly agents: readonly string[];
  /** Length of the lease: the longest time between two heartbeats. */
  readonly leaseMs: number;
  /** The share of each scope. Absent: only the order is fair. */
  readonly scopes?: ScopeRules;
}

/** How a run ended; `queued` begins the job again after a delay. */
export type JobOutcome =
  | { readonly status: "completed"; readonly result: string; readonly usage: TokenUsage; readonly toolsUsed: string[] }
  | {
    readonly status: "failed";
    readonly error: string;
    readonly errorCode?: string;
    readonly toolsUsed?: string[];
  }
  | { readonly status: "queued"; readonly delayMs: number };

/** How to go on with jobs whose worker is gone. */
export interface RecoveryPolicy {
  /** A job that was begun fewer times is queued again, another fails. */
  readonly maxAttempts: number;
  /** The error of those that fail. */
  readonly error: string;
}

/** Which finished jobs are forgotten. */
export interface ForgetRequest {
  /** Those that ended so long ago; `Infinity` for none. */
  readonly maxAgeMs: number;
  /** Those beyond so many, the first that ended first; `Infinity` for none. */
  readonly maxFinished: number;
  /** So many at once, at most. */
  readonly batch: number;
}

/** Shares jobs among workers: each job is run by one at a time, and one whose worker is gone is found. */
export interface JobQueue {
  /**
   * Hands a waiting job of the agents to a worker, now running under a lease: of each scope in turn, the oldest first.
   * Null when none waits, or when each that waits belongs to a scope that runs as many as it may.
   */
  claim(request: ClaimRequest): Promise<JobClaim | null>;
  /** Renews a lease. False when the worker no longer has it: the job was cancelled, or given to another. */
  heartbeat(claim: JobClaim, leaseMs: number): Promise<boolean>;
  /** Ends a claim. Null when the worker no longer has it: then nothing changes. */
  release(claim: JobClaim, outcome: JobOutcome): Promise<Job | null>;
  /**
   * Ends a claim that `recover` has taken from its worker: the lease ran out while the store could not be reached. Null
   * when another worker has begun the job since, or when it ended otherwise than with `lostError`. A queue without it
   * loses the answers of such runs.
   */
  reclaim?(claim: JobClaim, outcome: JobOutcome, lostError: string): Promise<Job | null>;
  /** Cancels a job that has not come to its end. Null when it has, or when there is none. */
  cancel(id: string, scopeId?: string): Promise<Job | null>;
  /** Notes which calls of a running job wait for a person. A queue without it leaves {@link Job.waiting} out. */
  setWaiting?(id: string, waiting: readonly JobWaiting[]): Promise<void>;
  /** Takes every lease that has run out from its worker; returns those jobs as they are now: queued or failed. */
  recover(policy: RecoveryPolicy): Promise<Job[]>;
  /** True for the first caller with this time, and when no later one was given: one turn of a schedule is one job. */
  takeTurn(cronId: string, dueMs: number): Promise<boolean>;
  /** Removes records of finished jobs; returns how many. As many as `batch`: there may be more to remove. */
  forget(request: ForgetRequest): Promise<number>;
}

/** Where jobs live: records, and the queue beside them. */
export interface JobBackend {
  /** Creates, reads and changes records. */
  readonly store: JobStore;
  /** Hands jobs to workers. */
  readonly queue: JobQueue;
  /** Keeps requests for a person's yes. Absent: a host keeps them in memory, and they end with it. */
  readonly approvals?: ApprovalStore;
  /** Lets go of files and connections. */
  close(): Promise<void>;
}

/** Whether a status is final. */
export function isFinal(status: JobStatus): boolean {
  return status !== "queued" && status !== "running";
}
