/**
 * Calls for frameworks that ask people themselves. Such a framework asks twice: first whether a call needs a person's
 * yes, then, perhaps much later, that it be made. The gate judges a call once: it is walked up to the place where it
 * would be made, and held there.
 *
 * @module
 */
import type { ApprovalAnswer, ApprovalRequest } from "../core/approvals/types.ts";
import { HostError } from "../core/errors/host_error.ts";
import { canonicalText } from "../core/values/canonical_text.ts";
import { isMap } from "../core/values/plain_data.ts";
import type { SessionResult } from "./result_parts.ts";
import type { SessionCallOptions, SessionTool } from "./session_tools.ts";

/** So many calls are held at once; the oldest is given up for a new one. */
const MAX_HELD = 1000;

/**
 * Calls that were judged and not made yet, by the framework's own id of each. Ids are the model's, and some models use
 * them again: a call of another tool, or with other arguments, is another call, and the one held before it is given up.
 */
export class HeldCalls {
  readonly #held = new Map<string, HeldCall>();

  /**
   * Walks a call up to the place where it would be made, and holds it there. Resolves with what a person is asked; null
   * where nobody is, because the call is allowed, or refused: {@link finish} says which.
   */
  async judge(id: string, tool: SessionTool, args: unknown): Promise<ApprovalRequest | null> {
    let held = this.#find(id, tool, args);
    if (!held) {
      this.#held.set(id, held = new HeldCall(tool, args));
      if (this.#held.size > MAX_HELD) this.drop(this.#held.keys().next().value!);
    }
    return await held.asked;
  }

  /**
   * Has a call made, and resolves with its result; `answer` is what the person said where one was asked. A call that
   * nobody holds, as after a restart, is judged now, and `answer` is given when it asks; likewise one whose request ran
   * out at the host's desk before the person answered the framework.
   */
  async finish(
    id: string,
    tool: SessionTool,
    args: unknown,
    options: SessionCallOptions & { readonly answer?: ApprovalAnswer | undefined } = {},
  ): Promise<SessionResult> {
    const held = this.#find(id, tool, args) ?? new HeldCall(tool, args);
    this.#held.delete(id);
    const result = await held.finish(options);
    return options.answer && isUnanswered(result) ? await new HeldCall(tool, args).finish(options) : result;
  }

  /** A person said no to a call; one that nobody holds is let be. */
  deny(id: string, reason?: string): void {
    const held = this.#held.get(id);
    this.#held.delete(id);
    held?.finish({ answer: { decision: "deny", ...(reason !== undefined && { reason }) } }).catch(() => {});
  }

  /** Gives a call up: it is not made. */
  drop(id: string): void {
    this.#held.get(id)?.drop();
    this.#held.delete(id);
  }

  #find(id: string, tool: SessionTool, args: unknown): HeldCall | undefined {
    const held = this.#held.get(id);
    if (!held || held.is(tool, args)) return held;
    this.drop(id);
    return undefined;
  }
}

/** Whether a call was denied because nobody answered in time. */
function isUnanswered({ error }: SessionResult): boolean {
  return error?.code === "tool.denied" && isMap(error.data) && error.data["by"] === "nobody";
}

function deniedBy({ reason = "no reason was given" }: ApprovalAnswer): HostError {
  return new HostError("tool.denied", `The call was denied by a person: ${reason}`, {
    data: { by: "a person", reason },
    hint: "The tool was not called: go on without it, or ask the user what to do instead",
  });
}

class HeldCall {
  /** What a person is asked; null once it is clear that nobody is. */
  readonly asked: Promise<ApprovalRequest | null>;
  readonly #answered = Promise.withResolvers<ApprovalAnswer | undefined>();
  readonly #released = Promise.withResolvers<void>();
  readonly #abort = new AbortController();
  readonly #result: Promise<SessionResult>;
  readonly #made: string;
  #onProgress: SessionCallOptions["onProgress"];

  constructor(tool: SessionTool, args: unknown) {
    this.#made = canonicalText([tool.fullName, args ?? null]);
    const asked = Promise.withResolvers<ApprovalRequest | null>();
    this.asked = asked.promise;
    this.#result = tool.call(args, {
      signal: this.#abort.signal,
      onProgress: (progress) => this.#onProgress?.(progress),
      onAsk: (request) => {
        asked.resolve(request);
        return this.#answered.promise;
      },
      whenAllowed: () => {
        asked.resolve(null);
        return this.#released.promise;
      },
    });
    const isOver = (): void => asked.resolve(null);
    this.#result.then(isOver, isOver);
    this.#released.promise.catch(() => {}); // A walk that ends before its release never looks at it.
  }

  is(tool: SessionTool, args: unknown): boolean {
    return this.#made === canonicalText([tool.fullName, args ?? null]);
  }

  async finish(
    { answer, signal, onProgress }: SessionCallOptions & { readonly answer?: ApprovalAnswer | undefined },
  ): Promise<SessionResult> {
    const abort = (): void => this.#abort.abort(signal?.reason);
    signal?.addEventListener("abort", abort, { once: true });
    if (signal?.aborted) abort();
    this.#onProgress = onProgress;
    // Without one the request waits on, for the host's other front ends.
    this.#answered.resolve(answer);
    // Another front end may have said yes before: the no of the framework's own person holds all the same.
    if (answer?.decision === "deny") this.#released.reject(deniedBy(answer));
    else this.#released.resolve();
    try {
      return await this.#result;
    } finally {
      signal?.removeEventListener("abort", abort);
    }
  }

  drop(): void {
    this.#abort.abort();
  }
}
