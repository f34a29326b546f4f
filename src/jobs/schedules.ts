/**
 * Runs at set times: each turn of a schedule is a job. The cron library only computes the next turn; waiting for it uses
 * the host's clock.
 *
 * @module
 */
import type { Cron } from "croner";
import { HostError, messageOf } from "../core/errors/host_error.ts";
import type { Clock } from "../core/ports/ports.ts";
import type { JobEvents, RunRequest } from "./agent.ts";
import { checkName } from "./job_names.ts";
import type { Job, JobQueue } from "./types.ts";
import { lifeOf } from "./job_ends.ts";

/** The same request to an agent, at set times. */
export interface Schedule extends RunRequest {
  /** Its id: processes that share a queue and a schedule's id share its turns. */
  readonly cronId: string;
  /** When, as a cron pattern: `minute hour day month weekday`, or with seconds before. */
  readonly pattern: string;
  /** Time zone, such as `Europe/Berlin`. Default: that of the machine. */
  readonly timezone?: string;
}

/** A schedule until it is stopped. */
export interface OpenSchedule {
  /** The id it was given. */
  readonly cronId: string;
  /** When its next turn is, ISO 8601, or null when there is none. */
  readonly nextAt: string | null;
  /** Ends it; what it has started runs on. */
  stop(): void;
}

interface SchedulesOptions {
  readonly clock: Clock;
  /** Decides which process takes a turn. */
  readonly queue: Pick<JobQueue, "takeTurn">;
  readonly start: (request: RunRequest) => Promise<Job>;
  /** Resolves when a job has come to its end. */
  readonly finished: (job: Job) => Promise<Job>;
  /** Takes `cron:executed`; null when nobody wants events. */
  readonly events: JobEvents | null;
  /** Called for each turn that is skipped or fails. */
  readonly onProblem: (error: unknown) => void;
}

/** The schedules of one process. */
export class Schedules {
  readonly #options: SchedulesOptions;
  readonly #open = new Map<string, OpenSchedule>();

  constructor(options: SchedulesOptions) {
    this.#options = options;
  }

  /** Every schedule under way. */
  list(): OpenSchedule[] {
    return [...this.#open.values()];
  }

  /** Adds one. Rejects with `jobs.schedule_invalid` or `jobs.schedule_duplicate`. */
  async add(schedule: Schedule): Promise<OpenSchedule> {
    const { cronId } = schedule;
    checkName("A schedule", cronId);
    const cron = await cronOf(schedule);
    if (this.#open.has(cronId)) {
      throw new HostError("jobs.schedule_duplicate", `There is a schedule "${cronId}" already`, {
        data: { cronId },
        hint: "Stop it first, or use another id",
      });
    }
    const open = this.#follow(schedule, cron);
    this.#open.set(cronId, open);
    return open;
  }

  /** Stops every schedule; jobs they have started run on. */
  stop(): void {
    for (const schedule of this.#open.values()) schedule.stop();
  }

  #follow(schedule: Schedule, cron: Cron): OpenSchedule {
    const { clock, onProblem } = this.#options;
    const { cronId } = schedule;
    let dueMs: number | null = null;
    let cancel = (): void => {};
    let isBusy = false;
    const wind = (): void => {
      dueMs = cron.nextRun(new Date(clock.now()))?.getTime() ?? null;
      if (dueMs !== null) cancel = clock.after(Math.max(0, dueMs - clock.now()), ring);
    };
    const ring = (): void => {
      const turnMs = dueMs!;
      if (clock.now() < turnMs) return wind(); // The wall clock was set back meanwhile.
      wind();
      if (isBusy) return onProblem(new Error(`Schedule "${cronId}" skips a turn: the one before still runs`));
      isBusy = true;
      this.#turn(schedule, turnMs).catch((error) => {
        if (this.#open.has(cronId)) onProblem(error); // A stopped schedule does not wait for its job.
      }).finally(() => isBusy = false);
    };
    wind();
    return {
      cronId,
      get nextAt() {
        return dueMs === null ? null : new Date(dueMs).toISOString();
      },
      stop: () => {
        cancel();
        dueMs = null;
        this.#open.delete(cronId);
      },
    };
  }

  async #turn({ cronId, pattern: _pattern, timezone: _timezone, ...request }: Schedule, turnMs: number): Promise<void> {
    const { queue, start, finished, events, clock } = this.#options;
    if (!await queue.takeTurn(cronId, turnMs)) return;
    const job = await finished(await start(request));
    events?.emit("cron:executed", {
      cronId,
      agentName: job.agentName,
      executionId: job.id,
      status: job.status === "completed" ? "completed" : "failed",
      duration: lifeOf(job, clock),
    });
  }
}

async function cronOf({ cronId, pattern, timezone }: Schedule): Promise<Cron> {
  const { Cron } = await import("croner");
  try {
    const cron = new Cron(pattern, { paused: true, ...(timezone !== undefined && { timezone }) });
    cron.nextRun(); // Croner checks the time zone only here.
    return cron;
  } catch (cause) {
    throw new HostError("jobs.schedule_invalid", `Schedule "${cronId}" cannot be read: ${messageOf(cause)}`, {
      data: { cronId, pattern, timezone },
      hint: 'Write minute hour day month weekday, such as "0 9 * * 1-5"; a time zone such as Europe/Berlin',
      cause,
    });
  }
}
