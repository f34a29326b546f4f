/**
 * Runs whose start was emitted as an event, and whose end was not yet.
 *
 * @module
 */
import type { ApiSpan, RunFacts } from "./types.ts";

/** A run between its start and its end. */
export interface OpenRun extends Required<Omit<RunFacts, "jobId">> {
  readonly jobId: string | undefined;
  readonly span: ApiSpan;
  /** The span that was active where it began. */
  readonly under: ApiSpan | undefined;
}

/** Keeps runs until they end. */
export interface OpenRuns {
  /** Keeps a run. Returns the span of the oldest one when there are too many: it is no longer kept. */
  open(run: OpenRun): ApiSpan | null;
  /** Lets go of the newest run of this agent, session and job; its span, or null when there is none. */
  close(run: Pick<OpenRun, "agentName" | "conversationId" | "jobId">): ApiSpan | null;
  /** The newest run of an agent in a session, or null. */
  find(agentName: string, conversationId: string): OpenRun | null;
}

/** Runs that a program may leave open by never emitting their end. */
const MAX_OPEN = 1000;

/** Returns a keeper without runs. */
export function openRuns(): OpenRuns {
  const runs: OpenRun[] = [];
  return {
    open(run) {
      runs.push(run);
      return runs.length > MAX_OPEN ? runs.shift()!.span : null;
    },
    close({ agentName, conversationId, jobId }) {
      const at = runs.findLastIndex((run) =>
        run.agentName === agentName && run.conversationId === conversationId && run.jobId === jobId
      );
      return at < 0 ? null : runs.splice(at, 1)[0]!.span;
    },
    find: (agentName, conversationId) =>
      runs.findLast((run) => run.agentName === agentName && run.conversationId === conversationId) ?? null,
  };
}
