/**
 * Takes jobs from the queue and runs a limited number at a time, each under a lease that heartbeats renew. Also recovers
 * the jobs of workers that are gone.
 *
 * @module
 */
import { HostError, messageOf } from "../core/errors/host_error.ts";
import { cutText } from "../core/values/cut_text.ts";
import { withSpan } from "../otel/tracing.ts";
import type { AgentContext, AgentRun } from "./agent.ts";
import type { ScopeRules } from "./fair_turns.ts";
import { emitFailed, emitJobEnd, outcomeOf, type RetryPolicy } from "./job_ends.ts";
import type { JobStreams } from "./job_streams.ts";
import { withinBytes, withResult } from "./results_aside.ts";
import { runAgent, type RunnerPorts, type RunOutcome } from "./run_agent.ts";
import { isFinal, type Job, type JobBackend, type JobClaim, type JobOutcome, type JobQueue } from "./types.ts";

/** Settings and ports of a worker. */
interface WorkerOptions<C extends AgentContext> extends RunnerPorts<C> {
  /** Unique among all processes that share the backend. */
  readonly name: string;
  readonly backend: JobBackend;
  /** The run of each agent, by the agent's path. */
  readonly runs: ReadonlyMap<string, AgentRun<C>>;
  /** Takes the events that runs emit. */
  readonly streams: JobStreams;
  /** Most jobs that run at a time. */
  readonly concurrency: number;
  readonly scopes: ScopeRules;
  /** Whether a scope that has no bound of its own leaves the last place of this process to others. */
  readonly leavesPlace: boolean;
  /** Length of a lease; it is renewed three times in that span. */
  readonly leaseMs: number;
  /** Time between two looks for jobs that other processes have queued. */
  readonly pollMs: number;
  readonly retry: RetryPolicy;
  /** Bytes of a result that the end of a stream carries. */
  readonly inlineBytes: number;
  /** Resolves when `job:start` was emitted for every job that is being started here; null when there is none. */
  readonly announced: () => Promise<unknown> | null;
  /** Called when the store fails; the worker tries again. */
  readonly onProblem: (error: unknown) => void;
}

interface Running {
  readonly claim: JobClaim;
  readonly abort: AbortController;
  heldUntilMs: number;
  isRenewing: boolean;
  /** Number of heartbeats that the store has taken. */
  beats: number;
  /** Set when the claim was ended from outside: the run's answer no longer counts. */
  isReleased: boolean;
}

const LOST = "The process that ran the job ended, or could not say that it lives";
const STOPPED = "The host stopped while the job ran";

/** Times that a store may refuse an answer while it takes heartbeats. */
const MAX_REFUSALS = 3;

/** One process's share of the work. */
export class Worker<C extends AgentContext> {
  readonly #options: WorkerOptions<C>;
  readonly #running = new Set<Running>();
  readonly #work = new Set<Promise<void>>();
  #isOpen = false;
  #isStopped = false;
  #pumping: Promise<void> | null = null;
  #isPoked = false;
  #cancelPoll: () => void = () => {};
  #cancelBeat: () => void = () => {};

  /** Takes no job before {@link open}. */
  constructor(options: WorkerOptions<C>) {
    this.#options = options;
  }

  /** Finds the jobs of workers that are gone, then begins to take jobs. Returns what it found. */
  async open(): Promise<Job[]> {
    if (this.#isStopped) throw new HostError("jobs.stopped", "The jobs were stopped", { hint: "Make new ones" });
    if (this.#isOpen) return [];
    this.#isOpen = true;
    const found = await this.#recover();
    if (this.#isStopped) return found;
    this.#beat();
    this.poke();
    return found;
  }

  /** Looks for a job to take, unless it does so already. */
  poke(): void {
    this.#isPoked = true;
    if (this.#pumping || !this.#isOpen || this.#isStopped) return;
    this.#pumping = this.#pump().then(() => this.#pumped());
  }

  /** Aborts a run whose job was cancelled. */
  abort(id: string): void {
    const reason = new HostError("jobs.finished", `The job "${id}" was cancelled`);
    for (const { claim, abort } of this.#running) if (claim.job.id === id) abort.abort(reason);
  }

  /** Takes no more jobs, waits for those that run, then aborts the rest and gives them back or fails them. */
  async stop(graceMs: number): Promise<void> {
    this.#isStopped = true;
    this.#cancelPoll();
    await this.#pumping; // A claim may be under way.
    await this.#settledWithin(graceMs);
    this.#cancelBeat();
    await Promise.all([...this.#running].map((running) => this.#interrupt(running)));
  }

  async #pump(): Promise<void> {
    this.#cancelPoll();
    while (this.#isPoked && !this.#isStopped) {
      this.#isPoked = false;
      // One claim finds out whether anything waits; then the free places claim at once, which a store may commit together.
      // The last place is claimed when it is known who has the others.
      while (await this.#take()) await Promise.all(Array.from({ length: this.#room - 1 }, () => this.#take()));
    }
  }

  /** Number of jobs that may be begun now. */
  get #room(): number {
    const { runs, concurrency } = this.#options;
    return this.#isStopped || runs.size === 0 ? 0 : concurrency - this.#running.size;
  }

  /** The rules of the next claim: for the last place, without the scope that has all the others. */
  get #scopes(): ScopeRules {
    const { scopes, leavesPlace } = this.#options;
    const [scopeId, ...others] = new Set([...this.#running].map(({ claim }) => claim.job.scopeId));
    if (!leavesPlace || this.#room > 1 || scopeId === undefined || others.length > 0) return scopes;
    return { ...scopes, limits: { [scopeId]: { max: 0 }, ...scopes.limits } };
  }

  /** Takes a job and begins it. False when there is none, or no room for it. */
  async #take(): Promise<boolean> {
    const { backend: { queue }, runs, name: worker, leaseMs, clock, onProblem } = this.#options;
    if (this.#room <= 0) return false;
    const heldUntilMs = clock.now() + leaseMs; // At least: the lease begins no earlier.
    try {
      const claim = await queue.claim({ worker, agents: [...runs.keys()], leaseMs, scopes: this.#scopes });
      if (claim) this.#begin(claim, heldUntilMs);
      return claim !== null;
    } catch (error) {
      onProblem(error);
      return false;
    }
  }

  #pumped(): void {
    const { clock, pollMs } = this.#options;
    this.#pumping = null;
    if (this.#isStopped) return;
    if (this.#isPoked) return this.poke();
    this.#cancelPoll = clock.after(pollMs, () => this.poke());
  }

  #begin(claim: JobClaim, heldUntilMs: number): void {
    const running = {
      claim,
      abort: new AbortController(),
      heldUntilMs,
      isRenewing: false,
      beats: 0,
      isReleased: false,
    };
    this.#running.add(running);
    const work = this.#run(running).catch(this.#options.onProblem).finally(() => {
      this.#running.delete(running);
      this.#work.delete(work);
      this.poke();
    });
    this.#work.add(work);
  }

  async #run(running: Running): Promise<void> {
    const { runs, streams, tracing, announced } = this.#options;
    const { claim: { job, attempt }, abort: { signal } } = running;
    const stream = streams.begin(job, attempt);
    const emit = (type: string, data?: unknown): void => {
      if (!signal.aborted) stream.push(type, data); // The stream may be another attempt's by now.
    };
    const context: AgentContext = { ...contextOf(job, attempt), signal, emit };
    const pending = announced();
    if (pending) await pending;
    const facts = { name: job.agentName, agent: job.agentName, attributes: { "kaged.job": job.id } };
    await withSpan(tracing, "job", facts, async (span) => {
      const outcome = await runAgent(runs.get(job.agentName)!, context, this.#options);
      if (!outcome.ok) span.fail(signal.aborted ? "aborted" : "agent_error");
      await this.#settle(running, context, outcome);
    });
  }

  async #settle(running: Running, context: AgentContext, outcome: RunOutcome): Promise<void> {
    if (running.isReleased) return;
    const wasAborted = running.abort.signal.aborted; // What an aborted run answers may be half an answer.
    const next = outcomeOf(outcome, running.claim.attempt, this.#options.retry);
    const job = await this.#release(running, next) ?? (wasAborted ? null : await this.#reclaim(running, next));
    if (running.isReleased) return;
    if (!job) return await this.#gone(running);
    const { events, clock, streams, inlineBytes } = this.#options;
    if (outcome.ok && job.status === "failed") emitFailed(job, events, clock); // Its answer could not be kept.
    else emitJobEnd(job, outcome, context, events);
    streams.end(withinBytes(outcome.ok && job.resultAside ? withResult(job, outcome.output) : job, inlineBytes));
  }

  /** Ends the claim. */
  #release(running: Running, outcome: JobOutcome): Promise<Job | null> {
    return this.#stored(running, outcome, (queue, given) => queue.release(running.claim, given));
  }

  /** Keeps the answer of a run whose lease ran out while the store was away, unless another worker has the job. */
  async #reclaim(running: Running, outcome: JobOutcome): Promise<Job | null> {
    if (outcome.status !== "completed" || running.isReleased || this.#isStopped) return null;
    return await this.#stored(running, outcome, async (queue, given) => {
      return await queue.reclaim?.(running.claim, given, LOST) ?? null;
    });
  }

  /**
   * Hands an outcome to the queue; a store that is away is asked again, because the answer of an agent is not thrown away.
   * A store that takes heartbeats and yet refuses the answer will never take it: then the job fails.
   */
  async #stored(
    running: Running,
    outcome: JobOutcome,
    ask: (queue: JobQueue, outcome: JobOutcome) => Promise<Job | null>,
  ): Promise<Job | null> {
    const { backend: { queue }, onProblem, clock, pollMs } = this.#options;
    let given = outcome;
    let beatsBefore = Infinity;
    for (let refusals = 1;; refusals++) {
      try {
        return await ask(queue, given);
      } catch (error) {
        onProblem(error);
        beatsBefore = Math.min(beatsBefore, running.beats);
        if (given === outcome && refusals >= MAX_REFUSALS && running.beats > beatsBefore) {
          given = notKept(outcome, error);
          if (given !== outcome) continue;
        }
      }
      if (this.#isStopped || running.isReleased) return null;
      await new Promise<void>((resolve) => clock.after(pollMs, resolve));
    }
  }

  /** The claim was no longer ours: the job was cancelled, here or elsewhere, or another has it. */
  async #gone(gone: Running): Promise<void> {
    const { id, scopeId } = gone.claim.job;
    const job = await this.#options.backend.store.get(id, scopeId);
    if ([...this.#running].some((other) => other !== gone && other.claim.job.id === id)) return;
    if (job) this.#options.streams.end(job);
    else this.#options.streams.drop(id);
  }

  /** Renews every lease, three times in its span, and finds the jobs of others. */
  #beat(): void {
    const { clock, leaseMs } = this.#options;
    this.#cancelBeat = clock.after(leaseMs / 3, () => {
      this.#beat(); // First, because a store that does not answer must not stop the heartbeats.
      for (const running of this.#running) void this.#renew(running);
      if (!this.#isStopped) void this.#recover();
    });
  }

  async #renew(running: Running): Promise<void> {
    const { backend: { queue }, clock, leaseMs, onProblem } = this.#options;
    const nowMs = clock.now();
    let isLost = false;
    if (!running.isRenewing) {
      running.isRenewing = true;
      try {
        isLost = !await queue.heartbeat(running.claim, leaseMs);
        running.beats++;
        if (!isLost) running.heldUntilMs = nowMs + leaseMs;
      } catch (error) {
        onProblem(error);
      }
      running.isRenewing = false;
    }
    // Cancelled elsewhere, taken by another, or soon to be: two may never run it at the same time.
    if (!isLost && running.heldUntilMs > nowMs + leaseMs / 3) return;
    running.abort.abort(new HostError("jobs.finished", `The job "${running.claim.job.id}" is no longer ours to run`));
  }

  async #recover(): Promise<Job[]> {
    const { backend: { queue }, retry: { maxAttempts }, streams, events, clock, onProblem } = this.#options;
    let found: Job[] = [];
    try {
      found = await queue.recover({ maxAttempts, error: LOST });
    } catch (error) {
      onProblem(error);
    }
    for (const job of found) {
      if (isFinal(job.status)) emitFailed(job, events, clock);
      streams.end(job);
    }
    if (found.length > 0) this.poke();
    return found;
  }

  async #interrupt(running: Running): Promise<void> {
    const { retry: { maxAttempts }, streams, events, clock } = this.#options;
    const isRepeatable = running.claim.attempt < maxAttempts;
    const outcome: JobOutcome = isRepeatable ? { status: "queued", delayMs: 0 } : { status: "failed", error: STOPPED };
    const job = await this.#release(running, outcome);
    running.isReleased = job !== null;
    running.abort.abort(new HostError("jobs.stopped", STOPPED));
    if (!job) return await this.#gone(running);
    if (isFinal(job.status)) emitFailed(job, events, clock);
    streams.end(job);
  }

  async #settledWithin(graceMs: number): Promise<void> {
    if (this.#work.size === 0) return;
    let cancel = (): void => {};
    await Promise.race([
      Promise.all(this.#work),
      new Promise<void>((resolve) => cancel = this.#options.clock.after(graceMs, resolve, { keepAlive: true })),
    ]);
    cancel();
  }
}

/** The outcome of a run whose answer the store refuses. */
function notKept(outcome: JobOutcome, error: unknown): JobOutcome {
  if (outcome.status !== "completed") return outcome;
  const message = `The answer could not be kept: ${cutText(messageOf(error), 1000)}`;
  return { status: "failed", error: message, errorCode: "jobs.result_not_kept", toolsUsed: outcome.toolsUsed };
}

function contextOf({ id: jobId, agentName, input, conversationId, scopeId }: Job, attempt: number) {
  return { jobId, agentName, input, conversationId, attempt, ...(scopeId !== undefined && { scopeId }) };
}
