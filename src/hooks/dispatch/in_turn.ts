/**
 * Asks one after the other, and waits only for answers that are promises. The dispatch classes ask through it.
 *
 * @module
 */
import type { MaybePromise } from "./types.ts";

/** Whether a value has to be waited for. */
export function isPromise<T>(value: MaybePromise<T>): value is Promise<T> {
  return typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";
}

/** The steps for each one, and the result of them all. */
export interface Asking<T, A, R> {
  /** Whether one is asked, as things stand. An error goes to {@link fail}. */
  wants(one: T): boolean;
  /** Asks one. An error, thrown or in its promise, goes to {@link fail}. */
  ask(one: T): MaybePromise<A>;
  /** One has answered. An error goes to {@link fail}. */
  take(one: T, answer: A): void;
  /** One has failed. An error ends everything, and is thrown to the caller. */
  fail(one: T, thrown: unknown): void;
  /** Returns the result, when all are done. */
  result(): R;
}

/** Asks all in turn; at once, as long as all answer at once. */
export function inTurn<T, A, R>(all: readonly T[], asking: Asking<T, A, R>): MaybePromise<R> {
  return new Turns(all, asking).run();
}

class Turns<T, A, R> {
  readonly #all: readonly T[];
  readonly #asking: Asking<T, A, R>;
  #at = 0;

  constructor(all: readonly T[], asking: Asking<T, A, R>) {
    this.#all = all;
    this.#asking = asking;
  }

  /** Asks all; at once, as long as all answer at once. */
  run(): MaybePromise<R> {
    const answer = this.#askUntilWait();
    return answer === null ? this.#asking.result() : this.#follow(answer);
  }

  /** Waits for the one at hand, then for those after it. Two functions serve them all: an `await` each costs more. */
  #follow(first: Promise<A>): Promise<R> {
    const { promise, resolve, reject } = Promise.withResolvers<R>();
    const goOn = (settle: () => void): void => {
      try {
        settle();
        this.#at++;
        const answer = this.#askUntilWait();
        if (answer === null) resolve(this.#asking.result());
        else wait(answer, taken, failed);
      } catch (error) {
        reject(error);
      }
    };
    const taken = (answer: A): void => goOn(() => this.#take(this.#all[this.#at]!, answer));
    const failed = (error: unknown): void => goOn(() => this.#asking.fail(this.#all[this.#at]!, error));
    wait(first, taken, failed);
    return promise;
  }

  /** Asks until one has to be waited for, and returns its promise; null when all are done. */
  #askUntilWait(): Promise<A> | null {
    for (; this.#at < this.#all.length; this.#at++) {
      const answer = this.#askOne(this.#all[this.#at]!);
      if (answer !== null) return answer;
    }
    return null;
  }

  #askOne(one: T): Promise<A> | null {
    const asking = this.#asking;
    try {
      if (!asking.wants(one)) return null;
      const answer = asking.ask(one);
      if (isPromise(answer)) return answer;
      asking.take(one, answer);
    } catch (error) {
      asking.fail(one, error);
    }
    return null;
  }

  #take(one: T, answer: A): void {
    try {
      this.#asking.take(one, answer);
    } catch (error) {
      this.#asking.fail(one, error);
    }
  }
}

/** Through a promise of the language: a thenable of another kind might call back at once, or twice. */
function wait<A>(answer: Promise<A>, taken: (answer: A) => void, failed: (error: unknown) => void): void {
  void Promise.resolve(answer).then(taken, failed);
}
