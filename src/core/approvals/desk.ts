/**
 * The desk: calls that wait for a person, and whoever answers them. A request is kept in the store before anybody is
 * asked, and the first answer counts, whichever front end or process it comes from.
 *
 * @module
 */
import { HostError, messageOf } from "../errors/host_error.ts";
import type { Page } from "../values/page_of.ts";
import { checkAnswer, invalid } from "./check_answer.ts";
import { DeskLog } from "./desk_log.ts";
import type { ApprovalEvent, Approvals, Args, AskedCall, DeskFigures, DeskPorts, Ruling } from "./desk_types.ts";
import { fitArguments, listed, masksIn, MAX_KEPT_BYTES, meantArguments } from "./shown_arguments.ts";
import { inWords, keepAnswer, standingFor } from "./standing_answers.ts";
import type { Approval, ApprovalAnswer, ApprovalEnd, StandingAnswer } from "./types.ts";

/** Time between two looks for answers that other processes have taken. */
const LOOK_MS = 1_000;
const LIST_LIMIT = 50;
const MAX_LIST_LIMIT = 500;
/** How long requests that ended are kept. */
const KEEP_MS = 30 * 24 * 3600_000;
const MAX_REASON = 1_000;

/** A call of this process that waits. */
interface Waiter {
  readonly call: AskedCall;
  readonly approval: Approval;
  readonly settle: (ruling: Ruling | HostError) => void;
  /** Tells the embedder's front end that the request has ended. */
  readonly over: AbortController;
}

/** The one desk of a host. */
export class Desk implements Approvals {
  readonly #ports: DeskPorts;
  readonly #log: DeskLog;
  readonly #waiters = new Map<string, Waiter>();
  /** Sessions for which an answer holds, as far as this process knows. */
  readonly #sessions = new Set<string>();
  #swept: Promise<void> | null = null;
  #isLooking = false;

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
    await this.#sweep();
    const answered = standingFor(call, await this.standing());
    const no = answered.find(({ answer }) => answer?.decision === "deny")?.answer;
    if (no) return { isAllowed: false, by: no.by ?? "person", reason: no.reason ?? "A person said no to such calls" };
    for (const { answer } of answered) if (answer?.sessionId) this.#sessions.add(answer.sessionId);
    const asked = answered.filter(({ answer }) => answer === null);
    if (asked.length === 0) {
      return { isAllowed: true, arguments: call.arguments, isEdited: false, by: answered[0]!.answer!.by ?? "person" };
    }
    call.signal?.throwIfAborted();
    const request = this.#requestOf({ ...call, asked });
    const kept = await this.#ports.store().open(request, call.call);
    if (kept.state !== "waiting") return await this.#rulingOf(kept, call); // Answered before a restart.
    return await this.#wait(kept, call, kept.id === request.id);
  }

  async list(query: Parameters<Approvals["list"]>[0] = {}): Promise<Page<Approval>> {
    await this.#sweep();
    const { state = "waiting", cursor } = query;
    const limit = Math.min(query.limit ?? LIST_LIMIT, MAX_LIST_LIMIT);
    if (cursor !== undefined) await this.get(cursor);
    const found = await this.#ports.store().list({
      projectId: this.#ports.projectId,
      limit: limit + 1,
      ...(state !== "all" && { state }),
      ...(cursor !== undefined && { before: cursor }),
    });
    const items = found.slice(0, limit).map(listed);
    return { items, next: found.length > limit ? items.at(-1)!.id : null };
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
    if (asked.state !== "waiting") throw endedError(asked);
    const waiter = this.#waiters.get(id);
    if (answer.arguments && waiter) await meant(answer.arguments, waiter.approval, waiter.call);
    const masked = this.#ports.secrets.value(answer);
    const state = answer.decision === "allow" ? "allowed" : "denied";
    const end: ApprovalEnd = { state, at: this.#now(), by, answer: masked, reason: masked.reason ?? null };
    const done = await this.#ports.store().end(id, end);
    if (!done) throw endedError(await this.get(id));
    this.#log.ended(done);
    if (answer.scope === "session" && done.sessionId !== null) this.#sessions.add(done.sessionId);
    try {
      // Before the call goes on: its next one may come at once.
      await keepAnswer(done, answer, this.#ports, this.#log);
    } finally {
      await this.#settle(done);
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

  /** Withdraws the requests of calls that no job makes. Those of jobs end with their runs, or outlive them. */
  async close(): Promise<void> {
    this.#swept = null; // The next start looks again for what was left.
    const stopped = new HostError("host.stopped", "The host was stopped while a call waited for a person");
    const direct = [...this.#waiters.values()].filter(({ call }) => call.jobId === null);
    for (const waiter of direct) this.#leave(waiter, stopped);
    await Promise.all(direct.map((waiter) => this.#withdraw(waiter, "The host was stopped")));
  }

  #requestOf(call: AskedCall): Approval {
    const { clock, ids, secrets, projectId } = this.#ports;
    const { agentPath, sessionId, jobId, tool, plugin, changed, asked, waitMs } = call;
    const fit = (args: Args) => fitArguments(secrets.value(args), MAX_KEPT_BYTES);
    const { arguments: args, isCut } = fit(call.arguments);
    const nowMs = clock.now();
    return {
      id: ids.create("apr"),
      createdAt: new Date(nowMs).toISOString(),
      expiresAt: new Date(nowMs + waitMs).toISOString(),
      projectId,
      agentPath,
      sessionId,
      jobId,
      tool,
      plugin,
      arguments: args,
      argumentsCut: isCut,
      changed: changed && { before: fit(changed.before).arguments, by: changed.by },
      source: asked[0]!.source,
      sources: asked.map(({ source }) => source),
      reason: secrets.text([...new Set(asked.map(({ reason }) => reason))].join("; ")).slice(0, MAX_REASON),
      state: "waiting",
      end: null,
    };
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
      this.#waiters.set(approval.id, waiter);
      this.#log.requested(approval, isNew);
      signal?.addEventListener("abort", abort, { once: true });
      if (signal?.aborted) return abort();
      this.#lookSoon();
      void this.#askEmbedder(waiter);
    });
  }

  async #askEmbedder({ approval, over: { signal } }: Waiter): Promise<void> {
    const { onAsk, warn } = this.#ports;
    if (!onAsk) return;
    try {
      const answer = await onAsk(approval, { signal });
      if (answer && !signal.aborted) await this.answer(approval.id, answer, { by: "onAsk" });
    } catch (error) {
      if (!signal.aborted) warn(`onAsk failed, and the request waits on: ${messageOf(error)}`);
    }
  }

  /** Whoever made the call has gone. A job that is only interrupted is run again, and its request is joined then. */
  #abort(waiter: Waiter, reason: unknown): void {
    const isKept = waiter.call.jobId !== null && (reason as { code?: string } | null)?.code === "jobs.stopped";
    if (!isKept) void this.#withdraw(waiter, "The call was aborted");
    this.#leave(waiter, asError(reason));
  }

  async #expire(waiter: Waiter): Promise<void> {
    const { id } = waiter.approval;
    const { store, warn } = this.#ports;
    try {
      const done = await store().end(id, this.#endOf("expired", "Nobody answered in time"));
      if (done) this.#log.ended(done);
      const now = done ?? await store().get(id); // Somebody may have answered in the last moment.
      if (now) return await this.#settle(now);
    } catch (error) {
      warn(`A request that ran out could not be ended: ${messageOf(error)}`);
    }
    this.#leave(waiter, { isAllowed: false, by: "nobody", reason: "Nobody answered in time" });
  }

  async #withdraw({ approval: { id } }: Waiter, reason: string): Promise<void> {
    try {
      const done = await this.#ports.store().end(id, this.#endOf("withdrawn", reason));
      if (done) this.#log.ended(done);
    } catch (error) {
      this.#ports.warn(`A request could not be withdrawn: ${messageOf(error)}`);
    }
  }

  /** Has the call of a request that ended go on, if it waits here. */
  async #settle(done: Approval): Promise<void> {
    const waiter = this.#waiters.get(done.id);
    if (!waiter) return;
    this.#waiters.delete(done.id);
    waiter.over.abort();
    waiter.settle(await this.#rulingOf(done, waiter.call).catch(asError));
  }

  #leave(waiter: Waiter, ruling: Ruling | HostError): void {
    this.#waiters.delete(waiter.approval.id);
    waiter.over.abort();
    waiter.settle(ruling);
  }

  async #rulingOf(done: Approval, call: AskedCall): Promise<Ruling> {
    const { state, end } = done;
    const by = end?.by ?? "nobody";
    const { scope = "once", arguments: edited } = end?.answer ?? {};
    const reach = scope === "once" ? {} : { scope };
    if (state !== "allowed") return { isAllowed: false, by, reason: end?.reason ?? "A person said no", ...reach };
    if (!edited) return { isAllowed: true, arguments: call.arguments, isEdited: false, by, ...reach };
    return { isAllowed: true, arguments: await meant(edited, done, call), isEdited: true, by };
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
    for (const done of await this.#ports.store().ended([...this.#waiters.keys()])) {
      if (!this.#waiters.has(done.id)) continue; // Answered here in the meantime.
      this.#log.heard(done);
      await this.#settle(done);
    }
  }

  /** Once: ends what a host that is gone has left, and forgets what is old. */
  #sweep(): Promise<void> {
    return this.#swept ??= (async () => {
      const { store, clock, projectId } = this.#ports;
      const lost = this.#endOf("expired", "Nobody answered in time, and its host is gone");
      for (const done of await store().endLost(projectId, lost.at, lost)) this.#log.ended(done);
      await store().forget(new Date(clock.now() - KEEP_MS).toISOString());
    })().catch((error) => {
      this.#swept = null;
      throw error;
    });
  }

  #endOf(state: "expired" | "withdrawn", reason: string): ApprovalEnd {
    return { state, at: this.#now(), by: null, answer: null, reason };
  }

  #now(): string {
    return new Date(this.#ports.clock.now()).toISOString();
  }
}

/** Returns the arguments that a person means who edited them. Throws when they cannot be sent. */
async function meant(edited: Args, { arguments: asked, argumentsCut }: Approval, call: AskedCall): Promise<Args> {
  if (argumentsCut) throw invalid("The arguments are too big to be edited", "Answer without arguments");
  const args = meantArguments(edited, asked, call.arguments);
  const known = masksIn(call.arguments);
  const mask = masksIn(args).find((one) => !known.includes(one));
  if (mask !== undefined) {
    throw invalid(`The arguments hold ${mask}, which stands for a secret`, "Leave such a value where it was");
  }
  await call.check?.(args);
  return args;
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
