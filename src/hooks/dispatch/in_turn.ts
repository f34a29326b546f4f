/**
 * Asks one after the other, and waits only for answers that are promises. The engine's chains and the dispatch classes
 * all ask through it.
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
  /** Asking begins, or goes on after a wait. */
  begin?(): void;
  /** Asking rests until a wait is over, or has ended. */
  rest?(): void;
}

/** Asks all in turn; at once, as long as all answer at once. */
export function inTurn<T, A, R>(all: readonly T[], asking: Asking<T, A, R>): MaybePromise<R> {
  return new Turns(all, asking).run();
}

/** The turns of all, for a caller that may give one up. */
export class Turns<T, A, R> {
  readonly #all: readonly T[];
  readonly #asking: Asking<T, A, R>;
  #at = 0;
  /** Counts up when one is given up: a late answer belongs to an earlier round, and is dropped. */
  #round = 0;
  #end: PromiseWithResolvers<R> | null = null;

  constructor(all: readonly T[], asking: Asking<T, A, R>) {
    this.#all = all;
    this.#asking = asking;
  }

  get current(): T {
    return this.#all[this.#at]!;
  }

  /** Asks all; at once, as long as all answer at once. */
  run(): MaybePromise<R> {
    const answer = this.#goOn();
    if (answer === null) return this.#asking.result();
    this.#end = Promise.withResolvers<R>();
    this.#follow(answer);
    return this.#end.promise;
  }

  /** Gives up the one that is waited for: it has failed for that reason, and the next is asked. */
  giveUp(reason: Error): void {
    this.#round++;
    this.#follow(Promise.reject(reason));
  }

  /** Asks until one has to be waited for, and returns its promise; null when all are done. */
  #goOn(): Promise<A> | null {
    const asking = this.#asking;
    asking.begin?.();
    try {
      for (; this.#at < this.#all.length; this.#at++) {
        const answer = this.#askOne(this.#all[this.#at]!);
        if (answer !== null) return answer;
      }
      return null;
    } finally {
      asking.rest?.();
    }
  }

  /** Asks one, and returns its promise; null when it is done. */
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

  /** Waits for the one at hand, then for those after it. Two functions serve them all: an `await` each costs more. */
  #follow(first: Promise<A>): void {
    const round = this.#round;
    const taken = (answer: A): void => settled(answer, false);
    const failed = (error: unknown): void => settled(error, true);
    const settled = (value: unknown, isError: boolean): void => {
      if (round !== this.#round) return;
      try {
        if (isError) this.#asking.fail(this.current, value);
        else this.#take(this.current, value as A);
        this.#at++;
        const answer = this.#goOn();
        if (answer === null) this.#end!.resolve(this.#asking.result());
        else wait(answer);
      } catch (error) {
        this.#end!.reject(error);
      }
    };
    // Through a promise of the language: a thenable of another kind might call back at once, or twice.
    const wait = (answer: Promise<A>): void => void Promise.resolve(answer).then(taken, failed);
    wait(first);
  }

  #take(one: T, answer: A): void {
    try {
      this.#asking.take(one, answer);
    } catch (error) {
      this.#asking.fail(one, error);
    }
  }
}
