/**
 * The desk of a host: its rules, its store, and the jobs that say they wait.
 *
 * @module
 */
import { Desk } from "../core/approvals/desk.ts";
import type { DeskPorts } from "../core/approvals/desk_types.ts";
import { messageOf } from "../core/errors/host_error.ts";
import type { AgentContext } from "../jobs/agent.ts";
import type { JobWaiting } from "../jobs/types.ts";

/** The desk, as the other rooms of a host use it. */
export interface HostDesk extends Pick<Desk, "ask" | "close" | "figures" | "sessionEnded"> {
  /** For front ends. */
  readonly approvals: Desk;
  /** Tells the readers of a run what becomes of its requests, until the returned function is called. */
  hear(run: Pick<AgentContext, "jobId" | "emit">): () => void;
  /** Withdraws the requests of a job that has come to its end. Never rejects. */
  jobEnded(id: string): Promise<void>;
}

/** The host around it. */
export interface HostDeskPorts extends DeskPorts {
  /** Notes which calls of a job wait. */
  readonly setWaiting: (jobId: string, waiting: readonly JobWaiting[]) => Promise<void>;
}

/** Returns the desk of a host. */
export function hostDesk(ports: HostDeskPorts): HostDesk {
  const desk = new Desk(ports);
  noteWaiting(desk, ports);
  const warned = (error: unknown): void => ports.warn(`Approvals: ${messageOf(error)}`);
  return {
    approvals: desk,
    ask: (call) => desk.ask(call),
    close: () => desk.close(),
    get figures() {
      return desk.figures;
    },
    sessionEnded: (id) => desk.sessionEnded(id).catch(warned),
    jobEnded: (id) => desk.jobEnded(id).catch(warned),
    hear({ jobId, emit }) {
      if (jobId === undefined) return () => {};
      return desk.on(({ type, approval: { id, tool, expiresAt, jobId: of, state, end } }) => {
        if (of !== jobId) return;
        if (type === "requested") emit("approval:requested", { approvalId: id, tool, expiresAt });
        else emit("approval:ended", { approvalId: id, tool, state, reason: end?.reason ?? null });
      });
    },
  };
}

/** Keeps `waiting` of each job as its requests come and go, one change of a job after the other. */
function noteWaiting(desk: Desk, { setWaiting, warn }: HostDeskPorts): void {
  const waiting = new Map<string, JobWaiting[]>();
  let last: Promise<unknown> = Promise.resolve();
  desk.on(({ type, approval: { id: approvalId, jobId, tool, createdAt: since } }) => {
    if (jobId === null) return;
    const others = (waiting.get(jobId) ?? []).filter((one) => one.approvalId !== approvalId);
    const now = type === "requested" ? [...others, { approvalId, tool, since }] : others;
    if (now.length > 0) waiting.set(jobId, now);
    else waiting.delete(jobId);
    last = last.then(() => setWaiting(jobId, now))
      .catch((error) => warn(`A job could not say that it waits: ${messageOf(error)}`));
  });
}
