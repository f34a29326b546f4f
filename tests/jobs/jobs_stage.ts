/**
 * Jobs for one test: in memory unless told otherwise, on a clock the test moves, with every event noted.
 *
 * @module
 */
import { detectRuntime } from "../../src/adapters/default.ts";
import { createEmitter } from "../../src/events/emitter.ts";
import type { AnyEvent } from "../../src/events/types.ts";
import type { AgentContext } from "../../src/jobs/agent.ts";
import { createJobs } from "../../src/jobs/create_jobs.ts";
import type { CreateJobsOptions, Jobs } from "../../src/jobs/jobs.ts";
import { memoryJobs } from "../../src/jobs/sqlite_jobs.ts";
import { createFakeClock, type FakeClock } from "../support/fake_clock.ts";
import { turn, until as lookUntil } from "../support/until.ts";

/** Jobs, their clock and what was heard. */
export interface JobsStage {
  readonly jobs: Jobs;
  readonly clock: FakeClock;
  /** Every event so far. */
  readonly heard: AnyEvent[];
  /** Every problem so far. */
  readonly problems: unknown[];
}

/** A run under the test's hand. */
export interface HeldRun {
  readonly context: AgentContext;
  answer(output: string): void;
  fail(message: string): void;
}

const { ids } = await detectRuntime();

/** Makes jobs that work, unless `work` is false. */
export async function jobsStage(
  options: Partial<CreateJobsOptions> & { work?: boolean; clock?: FakeClock } = {},
): Promise<JobsStage> {
  const { work = true, clock = createFakeClock(), ...given } = options;
  const heard: AnyEvent[] = [];
  const problems: unknown[] = [];
  const events = createEmitter({ level: "summary", clock });
  events.on("*", (event) => void heard.push(event));
  const jobs = createJobs({
    runtime: { clock, ids },
    backend: memoryJobs({ clock, ids }),
    events,
    onProblem: (error) => problems.push(error),
    ...given,
  });
  if (work) await jobs.work();
  return { jobs, clock, heard, problems };
}

/** Registers an agent whose runs wait for the test; `next()` resolves with each run as it begins. */
export function heldAgent(jobs: Jobs, name = "primary"): { next(): Promise<HeldRun> } {
  const begun: HeldRun[] = [];
  jobs.agent(name, (context) =>
    new Promise((answer, reject) => {
      begun.push({ context, answer, fail: (message) => reject(new Error(message)) });
    }));
  return {
    async next() {
      await lookUntil(() => begun.length > 0, `a run of the agent "${name}"`, "turn");
      return begun.shift()!;
    },
  };
}

export { turn };

/** Waits until `isSo`, looking at every turn of the event loop. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  await lookUntil(isSo, isSo.toString(), "turn");
}
