/**
 * Everything that happens to requests: recorded in the audit, counted, and told to listeners.
 *
 * @module
 */
import type { ApprovalAudit } from "../audit/approval_events.ts";
import { messageOf } from "../errors/host_error.ts";
import type { ApprovalEvent, DeskFigures, DeskPorts } from "./desk_types.ts";
import type { Approval, ApprovalEnd } from "./types.ts";

type Subject = { readonly name: string; readonly instance: string };

/** What a desk has seen. */
export class DeskLog {
  readonly #ports: Pick<DeskPorts, "audit" | "warn" | "projectId">;
  readonly #listeners = new Set<(event: ApprovalEvent) => void>();
  readonly #ended: Record<ApprovalEnd["state"], number> = { allowed: 0, denied: 0, expired: 0, withdrawn: 0 };
  readonly #answerSeconds = { sum: 0, count: 0 };

  constructor(ports: Pick<DeskPorts, "audit" | "warn" | "projectId">) {
    this.#ports = ports;
  }

  /** Figures so far. */
  get figures(): Omit<DeskFigures, "waiting"> {
    return { ended: { ...this.#ended }, answerSeconds: { ...this.#answerSeconds } };
  }

  on(listener: (event: ApprovalEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** A call waits; `isNew` unless its request was kept by a host before. */
  requested(approval: Approval, isNew: boolean): void {
    const { source, reason, expiresAt } = approval;
    const data = { ...auditOf(approval), source, reason, expires_at: expiresAt };
    if (isNew) this.#ports.audit.emit("approval.requested", this.#subjectOf(approval), data);
    this.#tell("requested", approval);
  }

  /** This process ended a request. */
  ended(done: Approval): void {
    const { audit } = this.#ports;
    const { state, end } = done;
    if (state === "waiting" || !end) return;
    const [data, subject] = [auditOf(done), this.#subjectOf(done)];
    this.#ended[state]++;
    if (state === "expired") audit.emit("approval.expired", subject, data);
    else if (state === "withdrawn") audit.emit("approval.withdrawn", subject, { ...data, reason: end.reason ?? "" });
    else audit.emit("approval.answered", subject, { ...data, ...this.#timed(done, end) });
    this.heard(done);
  }

  /** Another process ended a request, and has recorded that. */
  heard(done: Approval): void {
    const { state } = done;
    if (state !== "waiting") this.#tell(state === "expired" || state === "withdrawn" ? state : "answered", done);
  }

  /** A rule or an answer for later calls came or went. */
  rulesChanged(change: "added" | "revoked", rule: string, by: string): void {
    this.#ports.audit.emit("rules.changed", this.#host, { change, rule, by });
  }

  #timed({ createdAt }: Approval, { at, by, reason, answer }: ApprovalEnd) {
    const waitedMs = Math.max(0, Date.parse(at) - Date.parse(createdAt));
    this.#answerSeconds.sum += waitedMs / 1000;
    this.#answerSeconds.count++;
    const { decision, scope = "once", arguments: edited } = answer!;
    return { decision, scope, by: by ?? "person", reason, edited: edited !== undefined, waited_ms: waitedMs };
  }

  #tell(type: ApprovalEvent["type"], approval: Approval): void {
    for (const listener of this.#listeners) {
      try {
        listener({ type, approval });
      } catch (error) {
        this.#ports.warn(`A listener of approvals failed: ${messageOf(error)}`);
      }
    }
  }

  get #host(): Subject {
    return { name: "host", instance: this.#ports.projectId };
  }

  #subjectOf({ plugin, projectId }: Approval): Subject {
    return plugin === null ? this.#host : { name: plugin, instance: projectId };
  }
}

function auditOf({ id, tool, agentPath, sessionId, jobId }: Approval): ApprovalAudit {
  return { approval_id: id, tool, agent_path: agentPath, session_id: sessionId, job_id: jobId };
}
