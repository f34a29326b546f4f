/**
 * The desk: calls that wait for a person, and whoever answers them. A request is kept in the store before anybody is
 * asked, and the first answer counts, whichever front end or process it comes from.
 *
 * @module
 */
import { HostError, messageOf } from "../errors/host_error.ts";
import { cursorOf, placeIn } from "../values/cursor.ts";
import type { Page } from "../values/page_of.ts";
import { checkAnswer } from "./check_answer.ts";
import { checkFilledIn } from "./check_filled_in.ts";
import { DeskLog } from "./desk_log.ts";
import type { ApprovalEvent, Approvals, AskedCall, DeskFigures, DeskPorts, Ruling } from "./desk_types.ts";
import { requestOf } from "./request_of.ts";
import { sentArguments } from "./sent_arguments.ts";
import { listed } from "./shown_arguments.ts";
import { checkReach, inWords, keepAnswer, standingFor } from "./standing_answers.ts";
import type { Approval, ApprovalAnswer, ApprovalEnd, StandingAnswer } from "./types.ts";
import { type Waiter, Waiters } from "./waiters.ts";

/** Time between two looks for answers that other processes have taken. */
const LOOK_MS = 1_000;
const LIST = "approvals";
const LIST_LIMIT = 50;
const MAX_LIST_LIMIT = 500;
/** How long requests that ended are kept. */
const KEEP_MS = 30 * 24 * 3600_000;
/** How long the store is taken for swept. */
const SWEPT_MS = 60_000;
const UNANSWERED = "Nobody answered in time";
/** Codes of the reasons for which the run of a job is aborted. */
const ENDS_OF_RUNS = ["jobs.stopped", "jobs.finished"];

/** The one desk of a host. */
export class Desk implements Approvals {
  readonly #ports: DeskPorts;
  readonly #log: DeskLog;
  readonly #waiters = new Waiters();
  #swept: { readonly atMs: number; readonly done: Promise<void> } | null = null;
  #isLooking = false;
  /** Sessions that have asked or were answered here: only they may have an answer of their own. */
  readonly #sessions = new Set<string | null>();
  #isClosed = false;

  /** Opens no store before the first request, or before somebody looks. */
  constructor(ports: DeskPorts) {
    this.#ports = ports;
    this.#log = new DeskLog(ports);
  }

  /** Figures for metrics. */
  get figures(): DeskFigures {
    return { waiting: this.#waiters.size, ...this.#log.figures };
  }

  /** Asks a person, unless earlier answers settle it. Rejects when `signal` aborts or the host stops. */
  async ask(call: AskedCall): Promise<Ruling> {
    this.#checkOpen(call);
    this.#sessions.add(call.sessionId);
    await this.#sweep();
    const answered = standingFor(call, await this.standing());
    const no = answered.find(({ answer }) => answer?.decision === "deny")?.answer;
    if (no) return { isAllowed: false, by: no.by ?? "person", reason: no.reason ?? "A person said no to such calls" };
    const asked = answered.filter(({ answer }) => answer === null);
    if (asked.length === 0) {
      return { isAllowed: true, arguments: call.arguments, isEdited: false, by: answered[0]!.answer!.by ?? "person" };
    }
    call.signal?.throwIfAborted();
    const request = requestOf({ ...call, asked }, this.#ports);
    const kept = await this.#ports.store().open(request, call.call);
    if (kept.state !== "waiting") return await this.#rulingOf(kept, call); // Answered before a restart.
    return await this.#wait(kept, call, kept.id === request.id);
  }

  async list(query: Parameters<Approvals["list"]>[0] = {}): Promise<Page<Approval>> {
    await this.#sweep();
    const { state = "waiting", cursor } = query;
    const limit = Math.min(query.limit ?? LIST_LIMIT, MAX_LIST_LIMIT);
    if (!Number.isInteger(limit) || limit < 1) throw new RangeError(`limit is ${limit}, and no whole number from 1`);
    const before = cursor === undefined ? null : placeIn(LIST, cursor);
    if (before !== null && (await this.#ports.store().get(before))?.projectId !== this.#ports.projectId) {
      throw new HostError("http.cursor_gone", "The request that the cursor names, and all older ones, are forgotten");
    }
    const found = await this.#ports.store().list({
      projectId: this.#ports.projectId,
      limit: limit + 1,
      ...(state !== "all" && { state }),
      ...(before !== null && { before }),
    });
    const items = found.slice(0, limit).map(listed);
    return { items, next: found.length > limit ? cursorOf(LIST, items.at(-1)!.id) : null };
  }

  async get(id: string): Promise<Approval> {
    const found = await this.#ports.store().get(id);
    if (found?.projectId === this.#ports.projectId) return found;
    throw new HostError("approval.unknown", `There is no request "${id}"`, {
      data: { id },
      hint: "List them: kaged approvals list",
    });
  }

  async answer(
    id: string,
    given: ApprovalAnswer,
    { by = "program" }: { readonly by?: string } = {},
  ): Promise<Approval> {
    const answer = checkAnswer(given);
    const asked = await this.get(id);
    this.#sessions.add(asked.sessionId);
    if (asked.state !== "waiting") throw endedError(asked);
    checkReach(asked, answer);
    const masked = this.#ports.secrets.value(answer);
    checkFilledIn(asked, answer, masked);
    const [waiter] = this.#waiters.of(id);
    // As they are kept: a secret that the person wrote would be sent as its mask.
    if (masked.arguments && waiter) await sentArguments(masked.arguments, waiter.approval, waiter.call);
    const state = answer.decision === "allow" ? "allowed" : "denied";
    const end: ApprovalEnd = { state, at: this.#now(), by, answer: masked, reason: masked.reason ?? null };
    const done = await this.#ports.store().end(id, end);
    if (!done) throw endedError(await this.get(id));
    const waiters = this.#waiters.take(id); // Now: a look for answers of others must not report this one again.
    this.#log.ended(done);
    try {
      // Before the call goes on: its next one may come at once.
      await keepAnswer(done, answer, this.#ports, this.#log);
    } finally {
      await this.#settle(done, waiters);
    }
    return done;
  }

  async standing(): Promise<StandingAnswer[]> {
    return await this.#ports.store().standing(this.#ports.projectId);
  }

  async revoke(id: string, { by = "program" }: { readonly by?: string } = {}): Promise<void> {
    const found = (await this.standing()).find((answer) => answer.id === id);
    if (!found || !await this.#ports.store().revoke(id)) {
      throw new HostError("approval.unknown", `There is no standing answer "${id}"`, {
        data: { id },
        hint: "List them: kaged approvals standing",
      });
    }
    this.#log.rulesChanged("revoked", inWords(found), by);
  }

  on(listener: (event: ApprovalEvent) => void): () => void {
    return this.#log.on(listener);
  }

  /** Withdraws the requests of a job that has come to its end. */
  async jobEnded(jobId: string): Promise<void> {
    for (const done of await this.#ports.store().endJob(jobId, this.#endOf("withdrawn", "Its job has ended"))) {
      this.#log.ended(done);
      await this.#settle(done);
    }
  }

  /** Forgets the answers that hold for a session. */
  async sessionEnded(sessionId: string): Promise<void> {
    if (!this.#sessions.delete(sessionId)) return;
    await this.#ports.store().endSession(this.#ports.projectId, sessionId);
  }

  /**
   * Withdraws the requests of calls that no job makes, and refuses such calls until {@link resume}. Those of jobs end with
   * their runs, or outlive them.
   */
  async close(): Promise<void> {
    this.#isClosed = true;
    const direct = this.#waiters.all().filter(({ call }) => call.jobId === null);
    for (const waiter of direct) this.#leave(waiter, stoppedError());
    await Promise.all(direct.map((waiter) => this.#withdraw(waiter, "The host was stopped")));
  }

  /** Takes calls again after a {@link close}. */
  resume(): void {
    this.#isClosed = false;
  }

  /** Nobody waits for a call that comes while the host stops: its request would last, and hold the process. */
  #checkOpen({ jobId }: AskedCall): void {
    if (this.#isClosed && jobId === null) throw stoppedError();
  }

  #wait(approval: Approval, call: AskedCall, isNew: boolean): Promise<Ruling> {
    const { clock } = this.#ports;
    const { signal } = call;
    return new Promise<Ruling>((resolve, reject) => {
      const abort = (): void => this.#abort(waiter, signal!.reason);
      const settle = (ruling: Ruling | HostError): void => {
        cancelExpiry();
        signal?.removeEventListener("abort", abort);
        if (ruling instanceof HostError) reject(ruling);
        else resolve(ruling);
      };
      const waiter: Waiter = { call, approval, settle, over: new AbortController() };
      const restMs = Math.max(0, Date.parse(approval.expiresAt) - clock.now());
      const cancelExpiry = clock.after(restMs, () => void this.#expire(waiter), { keepAlive: true });
      this.#waiters.add(waiter);
      this.#log.requested(approval, isNew);
      signal?.addEventListener("abort", abort, { once: true });
      if (signal?.aborted) return abort();
      if (this.#isClosed && call.jobId === null) return void this.close(); // It came too late to be seen there.
      this.#lookSoon();
      void this.#askEmbedder(waiter);
    });
  }

  async #askEmbedder({ approval, call, over: { signal } }: Waiter): Promise<void> {
    const { onAsk, warn } = this.#ports;
    try {
      const answer = await call.onAsk?.(approval, { signal }) ?? await onAsk?.(approval, { signal });
      if (answer && !signal.aborted) await this.answer(approval.id, answer, { by: "onAsk" });
    } catch (error) {
      if (!signal.aborted) warn(`onAsk failed, and the request waits on: ${messageOf(error)}`);
    }
  }

  /**
   * Whoever made the call has gone. A run of a job that is interrupted, or has lost its lease, is made again, and joins the
   * request; where the job itself has ended, {@link jobEnded} withdraws it.
   */
  #abort(waiter: Waiter, reason: unknown): void {
    this.#leave(waiter, asError(reason));
    const { call: { jobId }, approval: { id } } = waiter;
    const isKept = jobId !== null && ENDS_OF_RUNS.includes((reason as { code?: string } | null)?.code ?? "");
    if (!isKept && this.#waiters.of(id).length === 0) void this.#withdraw(waiter, "The call was aborted");
  }

  async #expire(waiter: Waiter): Promise<void> {
    const { id } = waiter.approval;
    const { store, warn } = this.#ports;
    try {
      const kept = await store().get(id);
      const isLonger = kept?.state === "waiting" && kept.expiresAt > this.#now(); // Another run has joined it.
      const done = isLonger ? null : await store().end(id, this.#endOf("expired", UNANSWERED));
      if (done) this.#log.ended(done);
      const now = done ?? await store().get(id); // Somebody may have answered in the last moment.
      if (now && now.state !== "waiting") return await this.#settle(now);
    } catch (error) {
      warn(`A request that ran out could not be ended: ${messageOf(error)}`);
    }
    this.#leave(waiter, { isAllowed: false, by: "nobody", reason: UNANSWERED, isUnanswered: true });
  }

  async #withdraw({ approval: { id } }: Waiter, reason: string): Promise<void> {
    try {
      const done = await this.#ports.store().end(id, this.#endOf("withdrawn", reason));
      if (done) this.#log.ended(done);
    } catch (error) {
      this.#ports.warn(`A request could not be withdrawn: ${messageOf(error)}`);
    }
  }

  /** Has the calls of a request that ended go on, as far as they wait here. */
  async #settle(done: Approval, waiters: readonly Waiter[] = this.#waiters.take(done.id)): Promise<void> {
    for (const { over } of waiters) over.abort();
    await Promise.all(waiters.map(async ({ settle, call }) => {
      settle(await this.#rulingOf(done, call).catch(asError));
    }));
  }

  #leave(waiter: Waiter, ruling: Ruling | HostError): void {
    this.#waiters.remove(waiter);
    waiter.over.abort();
    waiter.settle(ruling);
  }

  async #rulingOf(done: Approval, call: AskedCall): Promise<Ruling> {
    const { state, end } = done;
    const by = end?.by ?? "nobody";
    const { scope = "once", arguments: edited, content } = end?.answer ?? {};
    const reach = scope === "once" ? {} : { scope };
    const unanswered = state === "denied" ? {} : { isUnanswered: true as const };
    if (state !== "allowed") {
      return { isAllowed: false, by, reason: end?.reason ?? "A person said no", ...reach, ...unanswered };
    }
    const filled = content ? { content } : {};
    if (!edited) return { isAllowed: true, arguments: call.arguments, isEdited: false, by, ...reach, ...filled };
    return { isAllowed: true, arguments: await sentArguments(edited, done, call), isEdited: true, by };
  }

  /** Looks for answers of other processes as long as anybody waits. */
  #lookSoon(): void {
    if (this.#isLooking || this.#waiters.size === 0) return;
    this.#isLooking = true;
    this.#ports.clock.after(LOOK_MS, async () => {
      await this.#look().catch((error) => this.#ports.warn(`The desk cannot be read: ${messageOf(error)}`));
      this.#isLooking = false;
      this.#lookSoon();
    });
  }

  async #look(): Promise<void> {
    if (this.#waiters.size === 0) return;
    for (const done of await this.#ports.store().ended(this.#waiters.ids)) {
      if (this.#waiters.of(done.id).length === 0) continue; // Answered here in the meantime.
      this.#log.heard(done);
      await this.#settle(done);
    }
  }

  /** Now and then: ends what a host that is gone has left, and forgets what is old. */
  #sweep(): Promise<void> {
    const atMs = this.#ports.clock.now();
    if (this.#swept && atMs - this.#swept.atMs < SWEPT_MS) return this.#swept.done;
    const done = this.#sweepNow(atMs).catch((error) => {
      this.#swept = null;
      throw error;
    });
    this.#swept = { atMs, done };
    return done;
  }

  async #sweepNow(atMs: number): Promise<void> {
    const { store, projectId } = this.#ports;
    const lost = this.#endOf("expired", UNANSWERED);
    for (const done of await store().endLost(projectId, lost.at, lost)) {
      this.#log.ended(done);
      await this.#settle(done); // It may be one of this process, whose timer is about to run.
    }
    await store().forget(new Date(atMs - KEEP_MS).toISOString());
  }

  #endOf(state: "expired" | "withdrawn", reason: string): ApprovalEnd {
    return { state, at: this.#now(), by: null, answer: null, reason };
  }

  #now(): string {
    return new Date(this.#ports.clock.now()).toISOString();
  }
}

function stoppedError(): HostError {
  return new HostError("host.stopped", "The host was stopped while a call waited for a person");
}

function asError(reason: unknown): HostError {
  if (reason instanceof HostError) return reason;
  return new HostError("protocol.cancelled", "The call was cancelled", { cause: reason });
}

function endedError({ id, state, end }: Approval): HostError {
  return new HostError("approval.ended", `The request "${id}" is ${state} already${end?.by ? `, by ${end.by}` : ""}`, {
    data: { id, state, by: end?.by ?? null },
  });
}
