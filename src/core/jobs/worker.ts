/**
 * Takes jobs from the queue and runs them: so many at a time, each under a lease that heartbeats renew, and finds the
 * jobs of workers that are gone.
 *
 * @module
 */
import { HostError } from "../errors.ts";
import type { Clock } from "../ports.ts";
import { withSpan } from "../tracing/tracing.ts";
import type { AgentContext, AgentRun, JobEvents } from "./agent.ts";
import type { JobStreams } from "./job_streams.ts";
import { runAgent, type RunnerPorts, type RunOutcome, tellEnd } from "./run_agent.ts";
import { isFinal, type Job, type JobBackend, type JobClaim, type JobOutcome } from "./types.ts";

/** When and how often a job is begun again. */
export interface RetryPolicy {
  /** How often a job may be begun. Default 1: one whose process dies has failed. */
  readonly maxAttempts: number;
  /** Whether a run that fails is begun again too. Default: only one whose process dies is. */
  readonly retryErrors: boolean;
  /** Wait before the second attempt at a run that failed; doubled for each one after. */
  readonly retryDelayMs: number;
}

/** What a worker works with. */
export interface WorkerOptions<C extends AgentContext> extends RunnerPorts<C> {
  /** Its name: no two processes share one. */
  readonly name: string;
  /** Records and queue. */
  readonly backend: JobBackend;
  /** What each agent runs. */
  readonly runs: ReadonlyMap<string, AgentRun<C>>;
  /** What runs tell while they run. */
  readonly streams: JobStreams;
  /** Jobs it runs at a time. */
  readonly concurrency: number;
  /** Length of a lease; it is renewed three times in that span. */
  readonly leaseMs: number;
  /** How often it looks for jobs that others have queued. */
  readonly pollMs: number;
  /** When a job is begun again. */
  readonly retry: RetryPolicy;
  /** Hears of trouble with the store: the worker goes on trying. */
  readonly onProblem: (error: unknown) => void;
}

interface Running {
  readonly claim: JobClaim;
  readonly abort: AbortController;
  heldUntilMs: number;
  /** Set when the claim was ended from outside: what the run answers no longer counts. */
  isReleased: boolean;
}

const LOST = "The process that ran the job ended, or could not say that it lives";
const STOPPED = "The host stopped while the job ran";

/** One process's share of the work. */
export class Worker<C extends AgentContext> {
  readonly #options: WorkerOptions<C>;
  readonly #running = new Set<Running>();
  readonly #work = new Set<Promise<void>>();
  #isOpen = false;
  #isStopped = false;
  #isPumping = false;
  #isPoked = false;
  #cancelPoll: () => void = () => {};
  #cancelBeat: () => void = () => {};

  /** It takes nothing before {@link open}. */
  constructor(options: WorkerOptions<C>) {
    this.#options = options;
  }

  /** Finds the jobs of workers that are gone, then begins to take jobs. Returns what it found. */
  async open(): Promise<Job[]> {
    if (this.#isStopped) throw new HostError("jobs.stopped", "The jobs were stopped", { hint: "Make new ones" });
    if (this.#isOpen) return [];
    this.#isOpen = true;
    const found = await this.#recover();
    this.#beat();
    this.poke();
    return found;
  }

  /** There may be a job to take. */
  poke(): void {
    this.#isPoked = true;
    if (this.#isPumping || !this.#isOpen || this.#isStopped) return;
    this.#isPumping = true;
    void this.#pump();
  }

  /** Aborts a run whose job was cancelled. */
  abort(id: string): void {
    const reason = new HostError("jobs.finished", `The job "${id}" was cancelled`);
    for (const { claim, abort } of this.#running) if (claim.job.id === id) abort.abort(reason);
  }

  /** Resolves when nothing runs and nothing waits to be taken here. */
  async idle(): Promise<void> {
    while (this.#work.size > 0) await Promise.all(this.#work);
  }

  /** Takes no more jobs, waits for those that run, then aborts the rest and gives them back or fails them. */
  async stop(graceMs: number): Promise<void> {
    this.#isStopped = true;
    this.#cancelPoll();
    await this.#settledWithin(graceMs);
    this.#cancelBeat();
    await Promise.all([...this.#running].map((running) => this.#interrupt(running)));
  }

  async #pump(): Promise<void> {
    const { backend: { queue }, runs, concurrency, name: worker, leaseMs, pollMs, clock, onProblem } = this.#options;
    this.#cancelPoll();
    try {
      while (this.#isPoked && !this.#isStopped) {
        this.#isPoked = false;
        while (this.#running.size < concurrency && runs.size > 0 && !this.#isStopped) {
          const claim = await queue.claim({ worker, agents: [...runs.keys()], leaseMs });
          if (!claim) break;
          this.#begin(claim);
        }
      }
    } catch (error) {
      onProblem(error);
    }
    this.#isPumping = false;
    if (this.#isStopped) return;
    if (this.#isPoked) return this.poke();
    this.#cancelPoll = clock.after(pollMs, () => this.poke());
  }

  #begin(claim: JobClaim): void {
    const { clock, leaseMs } = this.#options;
    const running = { claim, abort: new AbortController(), heldUntilMs: clock.now() + leaseMs, isReleased: false };
    this.#running.add(running);
    const work = this.#run(running).catch(this.#options.onProblem).finally(() => {
      this.#running.delete(running);
      this.#work.delete(work);
      this.poke();
    });
    this.#work.add(work);
  }

  async #run(running: Running): Promise<void> {
    const { runs, streams, tracing } = this.#options;
    const { claim: { job, attempt }, abort: { signal } } = running;
    const stream = streams.begin(job, attempt);
    const emit = (type: string, data?: unknown): void => {
      if (!signal.aborted) stream.push(type, data); // The stream may be another attempt's by now.
    };
    const context: AgentContext = { ...contextOf(job, attempt), signal, emit };
    const facts = { name: job.agentName, agent: job.agentName, attributes: { "kaged.job": job.id } };
    await withSpan(tracing, "job", facts, async (span) => {
      const outcome = await runAgent(runs.get(job.agentName)!, context, this.#options);
      if (!outcome.ok) span.fail(signal.aborted ? "aborted" : "agent_error");
      await this.#settle(running, context, outcome);
    });
  }

  async #settle(running: Running, context: AgentContext, outcome: RunOutcome): Promise<void> {
    if (running.isReleased) return;
    const next = outcomeOf(outcome, running.claim.attempt, this.#options.retry);
    const job = await this.#release(running, next);
    if (running.isReleased) return;
    if (!job) return await this.#gone(running.claim.job);
    this.#tell(job, outcome, context);
    this.#ended(job);
  }

  /** Ends the claim. A store that is away is asked again: the answer of an agent is not thrown away. */
  async #release(running: Running, outcome: JobOutcome): Promise<Job | null> {
    const { backend: { queue }, onProblem, clock, pollMs } = this.#options;
    for (;;) {
      try {
        return await queue.release(running.claim, outcome);
      } catch (error) {
        onProblem(error);
      }
      if (this.#isStopped || running.isReleased) return null;
      await new Promise<void>((resolve) => clock.after(pollMs, resolve));
    }
  }

  /** The claim was no longer ours: the job was cancelled, here or elsewhere, or another has it. */
  async #gone({ id, scopeId }: Job): Promise<void> {
    const job = await this.#options.backend.store.get(id, scopeId);
    if (job) this.#options.streams.end(job);
    else this.#options.streams.drop(id);
  }

  /** Renews every lease, three times in its span; a run whose lease is lost is aborted. Finds the jobs of others. */
  #beat(): void {
    const { clock, leaseMs } = this.#options;
    this.#cancelBeat = clock.after(leaseMs / 3, async () => {
      await Promise.all([...this.#running].map((running) => this.#renew(running)));
      if (!this.#isStopped) await this.#recover();
      if (!this.#isStopped || this.#running.size > 0) this.#beat();
    });
  }

  async #renew(running: Running): Promise<void> {
    const { backend: { queue }, clock, leaseMs, onProblem } = this.#options;
    const nowMs = clock.now();
    try {
      if (await queue.heartbeat(running.claim, leaseMs)) {
        running.heldUntilMs = nowMs + leaseMs;
        return;
      }
    } catch (error) {
      onProblem(error);
      if (clock.now() < running.heldUntilMs) return;
    }
    // Cancelled elsewhere, or taken by another: two may never run it at the same time.
    running.abort.abort(new HostError("jobs.finished", `The job "${running.claim.job.id}" is no longer ours to run`));
  }

  async #recover(): Promise<Job[]> {
    const { backend: { queue }, retry: { maxAttempts }, onProblem } = this.#options;
    let found: Job[] = [];
    try {
      found = await queue.recover({ maxAttempts, error: LOST });
    } catch (error) {
      onProblem(error);
    }
    for (const job of found) {
      if (isFinal(job.status)) this.#tellFailed(job);
      this.#ended(job);
    }
    if (found.length > 0) this.poke();
    return found;
  }

  async #interrupt(running: Running): Promise<void> {
    const { claim } = running;
    const isRepeatable = claim.attempt < this.#options.retry.maxAttempts;
    const outcome: JobOutcome = isRepeatable ? { status: "queued", delayMs: 0 } : { status: "failed", error: STOPPED };
    const job = await this.#release(running, outcome);
    running.isReleased = job !== null;
    running.abort.abort(new HostError("jobs.stopped", STOPPED));
    if (!job) return await this.#gone(claim.job);
    if (isFinal(job.status)) this.#tellFailed(job);
    this.#ended(job);
  }

  #ended(job: Job): void {
    this.#options.streams.end(job);
  }

  #tell(job: Job, outcome: RunOutcome, context: AgentContext): void {
    const { events } = this.#options;
    const { id: jobId, agentName } = job;
    const duration = outcome.durationMs;
    if (outcome.ok) {
      events?.emit("job:end", { jobId, agentName, output: outcome.output, duration, usage: outcome.usage });
    }
    tellEnd(context, outcome, events);
    if (!outcome.ok && isFinal(job.status)) {
      events?.emit("job:error", { jobId, agentName, error: outcome.error, duration });
    }
  }

  #tellFailed(job: Job): void {
    tellFailed(job, this.#options.events, this.#options.clock);
  }

  async #settledWithin(graceMs: number): Promise<void> {
    if (this.#work.size === 0) return;
    let cancel = (): void => {};
    await Promise.race([
      this.idle(),
      new Promise<void>((resolve) => cancel = this.#options.clock.after(graceMs, resolve)),
    ]);
    cancel();
  }
}

/** Tells of a job that failed without an answer of its agent: `agent:error`, then `job:error`. */
function tellFailed(job: Job, events: JobEvents | null, clock: Clock): void {
  const { id: jobId, agentName, input, conversationId, scopeId, error = "" } = job;
  const duration = lifeOf(job, clock);
  const scope = scopeId === undefined ? {} : { scopeId };
  events?.emit("agent:error", { agentName, input, error, duration, conversationId, ...scope, jobId });
  events?.emit("job:error", { jobId, agentName, error, duration });
}

/** How long a job has run; how long it has waited, when it never ran. */
export function lifeOf({ startedAt, createdAt, completedAt }: Job, clock: Pick<Clock, "now">): number {
  const endMs = completedAt === undefined ? clock.now() : Date.parse(completedAt);
  return Math.max(0, endMs - Date.parse(startedAt ?? createdAt));
}

function contextOf({ id: jobId, agentName, input, conversationId, scopeId }: Job, attempt: number) {
  return { jobId, agentName, input, conversationId, attempt, ...(scopeId !== undefined && { scopeId }) };
}

function outcomeOf(outcome: RunOutcome, attempt: number, retry: RetryPolicy): JobOutcome {
  if (outcome.ok) {
    const { output: result, usage, toolsUsed } = outcome;
    return { status: "completed", result, usage, toolsUsed };
  }
  const { error, toolsUsed } = outcome;
  if (!retry.retryErrors || attempt >= retry.maxAttempts) return { status: "failed", error, toolsUsed };
  return { status: "queued", delayMs: retry.retryDelayMs * 2 ** (attempt - 1) };
}
