/**
 * Events of calls that wait for a person, and of the rules about them.
 *
 * @module
 */

/** The request for a person's yes that an event is about. */
export interface ApprovalAudit {
  /** Id of the request, as in `host.approvals.list()`. */
  approval_id: string;
  /** Full name of the tool; `connect` for the network. */
  tool: string;
  /** Path of the agent that calls. */
  agent_path: string;
  /** Null for the network. */
  session_id: string | null;
  /** The background job that calls, or null. */
  job_id: string | null;
}

/** Data of these events, by type. */
export interface ApprovalAuditData {
  /** A call of its tool waits for a person; `source` is who asks. */
  "approval.requested": ApprovalAudit & { source: { kind: string; id: string }; reason: string; expires_at: string };
  /** A person answered; `by` is the front end, `edited` whether other arguments were sent than asked for. */
  "approval.answered": ApprovalAudit & {
    decision: "allow" | "deny";
    scope: "once" | "session" | "always";
    by: string;
    reason: string | null;
    edited: boolean;
    waited_ms: number;
  };
  /** Nobody answered in time: denied. */
  "approval.expired": ApprovalAudit;
  /** Nobody waits for the answer any more: the call was aborted, its job ended, or its host is gone. */
  "approval.withdrawn": ApprovalAudit & { reason: string };
  /** A rule on tools came or went, in words; `by` is who did it. */
  "rules.changed": { change: "added" | "revoked" | "read"; rule: string; by: string };
}
