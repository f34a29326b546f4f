/**
 * A person's yes or no to one call of a tool: the request, the answer, and where both are kept.
 *
 * @module
 */
import type { ApprovalSource } from "../rules/rules.ts";

export type { ApprovalSource };

/** One call that waits for a person. Known secrets are masked in every text of it. */
export interface ApprovalRequest {
  /** Unique among all requests of the store. */
  readonly id: string;
  /** When it was made, ISO 8601. */
  readonly createdAt: string;
  /** When nobody has answered by then, the call is denied. ISO 8601. */
  readonly expiresAt: string;
  /** Id of the project that it is about. */
  readonly projectId: string;
  /** Path of the agent that calls. */
  readonly agentPath: string;
  /** Null for a request of the network, which belongs to no session. */
  readonly sessionId: string | null;
  /** The background job that makes the call, or null. */
  readonly jobId: string | null;
  /** Full name of the tool; `connect` for the network, `elicit` and `sample` for requests of MCP servers. */
  readonly tool: string;
  /** Plugin that offers the tool; null for a tool of the embedder's own loop. */
  readonly plugin: string | null;
  /** The arguments as they would be sent; for `elicit`, the server's message and the form (`requestedSchema`). */
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Whether parts of the arguments are left out for their size. Those of a list can be read with the request's id. */
  readonly argumentsCut: boolean;
  /** The arguments as the caller gave them and who changed them; null when no handler did. */
  readonly changed: { readonly before: Readonly<Record<string, unknown>>; readonly by: readonly string[] } | null;
  /** The first of those that ask. */
  readonly source: ApprovalSource;
  /** All that ask, {@link source} included: an answer with a scope holds for each of them. */
  readonly sources: readonly ApprovalSource[];
  /** Why it is asked, in words of a rule or a handler; several are joined. */
  readonly reason: string;
}

/** How far an answer reaches: this call, this tool until the session ends, or this tool from now on. */
export type ApprovalScope = "once" | "session" | "always";

/** A person's answer. */
export interface ApprovalAnswer {
  /** Whether the call goes on. */
  readonly decision: "allow" | "deny";
  /** Default `once`. */
  readonly scope?: ApprovalScope;
  /** For the model where the call is denied; for the audit in any case. */
  readonly reason?: string;
  /** The arguments to be sent in place of the request's. Only with `allow` and `once`. */
  readonly arguments?: Readonly<Record<string, unknown>>;
  /** What a person filled in, where the request is the form of an MCP server (`elicitation`). Only with `allow`. */
  readonly content?: Readonly<Record<string, unknown>>;
}

/** Where a request is in its life; all but the first are final. */
export type ApprovalState = "waiting" | "allowed" | "denied" | "expired" | "withdrawn";

/** How a request ended. */
export interface ApprovalEnd {
  /** How: answered, run out, or withdrawn. */
  readonly state: Exclude<ApprovalState, "waiting">;
  /** ISO 8601. */
  readonly at: string;
  /** The front end or the person that answered: `cli`, `http`, `onAsk`, …; null where nobody did. */
  readonly by: string | null;
  /** The answer; null for a request that expired or was withdrawn. */
  readonly answer: ApprovalAnswer | null;
  /** Why it ended, where that is known. */
  readonly reason: string | null;
}

/** A request with its end, as it is kept. */
export interface Approval extends ApprovalRequest {
  /** Whether it waits, or how it ended. */
  readonly state: ApprovalState;
  /** Its end; null while it waits. */
  readonly end: ApprovalEnd | null;
}

/** An answer that holds for later calls, until it is revoked or its session ends. */
export interface StandingAnswer {
  /** Unique among all answers of the store. */
  readonly id: string;
  /** ISO 8601. */
  readonly createdAt: string;
  /** Id of the project that it is about. */
  readonly projectId: string;
  /** Path of the agent that calls. */
  readonly agentPath: string;
  /** Full name of the tool. */
  readonly tool: string;
  /** The plugin whose connections or requests it is about; absent for calls of tools. */
  readonly plugin?: string;
  /** Whose question it answers. */
  readonly source: ApprovalSource;
  /** Whether such calls go on. */
  readonly decision: "allow" | "deny";
  /** The reason that was given, or null. */
  readonly reason: string | null;
  /** The session it holds for; null: for every one. */
  readonly sessionId: string | null;
  /** The front end or the person that answered, or null. */
  readonly by: string | null;
}

/** Selects kept requests, the newest first. */
export interface ApprovalQuery {
  /** Id of the project that it is about. */
  readonly projectId: string;
  /** Only those that wait, or only those that ended. Default: all. */
  readonly state?: "waiting" | "ended";
  /** So many at most. */
  readonly limit: number;
  /** Only those opened before the request of this id. */
  readonly before?: string;
}

/**
 * Keeps requests and standing answers beside the jobs, so that a host that dies keeps them. Each call is whole or has no
 * effect, also among several processes.
 */
export interface ApprovalStore {
  /**
   * Keeps a request. `call` names the same call of the same job over restarts: where a request of that call waits or was
   * answered, that one is returned and nothing is kept. One that waits lasts until the new `expiresAt` then.
   */
  open(request: Approval, call: string | null): Promise<Approval>;
  /** Returns a request, or null. */
  get(id: string): Promise<Approval | null>;
  /** Returns those of the requests that no longer wait: another process may have answered. */
  ended(ids: readonly string[]): Promise<Approval[]>;
  /** Ends a request that waits. Null when it does not, or is not there: the first end counts. */
  end(id: string, end: ApprovalEnd): Promise<Approval | null>;
  /** Returns requests of a project, the newest first. Big arguments may be cut (`argumentsCut`). */
  list(query: ApprovalQuery): Promise<Approval[]>;
  /** Ends the waiting requests of a job; returns them. */
  endJob(jobId: string, end: ApprovalEnd): Promise<Approval[]>;
  /** Ends the waiting requests of no job that ran out by then: their host is gone. Returns them. */
  endLost(projectId: string, before: string, end: ApprovalEnd): Promise<Approval[]>;
  /** Keeps an answer for later calls, in place of one for the same source, tool, agent and session. */
  keep(answer: StandingAnswer): Promise<void>;
  /** Returns the standing answers of a project, the oldest first: one that replaced another is as old as itself. */
  standing(projectId: string): Promise<StandingAnswer[]>;
  /** Forgets a standing answer; false when there is none. */
  revoke(id: string): Promise<boolean>;
  /** Forgets the answers that hold for a session. */
  endSession(projectId: string, sessionId: string): Promise<void>;
  /** Removes requests that ended before then; returns how many. */
  forget(before: string): Promise<number>;
}
