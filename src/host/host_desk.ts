/**
 * The desk of a host: its rules, its store, and the jobs that say they wait.
 *
 * @module
 */
import { Desk } from "../core/approvals/desk.ts";
import type { Args, DeskPorts } from "../core/approvals/desk_types.ts";
import { messageOf } from "../core/errors/host_error.ts";
import { isMap } from "../core/values/plain_data.ts";
import type { HookEngineOptions } from "../hooks/engine/engine.ts";
import type { AgentContext } from "../jobs/agent.ts";
import type { JobWaiting } from "../jobs/types.ts";
import type { LiveRules } from "./live_rules.ts";

/** The desk, as the other rooms of a host use it. */
export interface HostDesk extends Pick<Desk, "ask" | "close" | "resume" | "figures" | "sessionEnded"> {
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
  const notes = noteWaiting(desk, ports);
  const warned = (error: unknown): void => ports.warn(`Approvals: ${messageOf(error)}`);
  return {
    approvals: desk,
    ask: (call) => desk.ask(call),
    close: () => desk.close(),
    resume() {
      notes.clear(); // Another process may have answered in the meantime.
      desk.resume();
    },
    get figures() {
      return desk.figures;
    },
    sessionEnded: (id) => desk.sessionEnded(id).catch(warned),
    async jobEnded(id) {
      await desk.jobEnded(id).catch(warned);
      notes.delete(id);
    },
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

/** Returns what asks about tools of the embedder's own loop, for handlers that ask around them. */
export function askForLoop(
  desk: Pick<Desk, "ask">,
  { settings }: Pick<LiveRules, "settings">,
): NonNullable<HookEngineOptions["onAsk"]> {
  return async ({ tool, agent: agentPath, sessionId, input, before, changedBy, asked }) => {
    const shown = (value: unknown): Args => isMap(value) ? value : { input: value };
    const ruling = await desk.ask({
      agentPath,
      sessionId,
      jobId: null,
      tool,
      plugin: null,
      arguments: shown(input),
      changed: changedBy.length > 0 ? { before: shown(before), by: changedBy } : null,
      asked: asked.map(({ source: { id }, reason }) => ({ source: { kind: "hook", id }, reason })),
      call: null,
      waitMs: settings.waitSec * 1000,
    });
    if (!ruling.isAllowed) return { decision: "deny", by: ruling.by, reason: ruling.reason };
    if (!ruling.isEdited) return { decision: "allow", input };
    return { decision: "allow", input: isMap(input) ? ruling.arguments : ruling.arguments["input"] };
  };
}

/**
 * Keeps `waiting` of each job as its requests come and go, one change of a job after the other. Returns the notes by job:
 * those of a run that was interrupted outlive it.
 */
function noteWaiting(desk: Desk, { setWaiting, warn }: HostDeskPorts): Map<string, JobWaiting[]> {
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
  return waiting;
}
