/**
 * The types that dispatch works on: a hook as its specification describes it, and its participants.
 *
 * @module
 */

/** The five ways a hook can be dispatched. There is no sixth. */
export type DispatchClass = "singleton" | "broadcast_collect" | "broadcast_notify" | "chain" | "capability";

/** Checks a value: any schema that speaks Standard Schema, such as the generated ones. */
export interface PayloadSchema {
  /** See https://standardschema.dev. */
  readonly "~standard": {
    /** Returns the issues of a value, at once: a schema that returns a promise is refused. */
    validate(value: unknown): SchemaVerdict | PromiseLike<SchemaVerdict>;
  };
}

/** The verdict of a {@link PayloadSchema}. */
export interface SchemaVerdict {
  /** Everything that is wrong with the value; absent when nothing is. */
  readonly issues?:
    | readonly {
      /** Says to a person what is wrong. */
      readonly message: string;
      /** Keys from the outside in, each by itself or as `{ key }`. */
      readonly path?: readonly unknown[] | undefined;
    }[]
    | undefined;
}

/** The part of a hook's specification that dispatch needs: an element of `HOOKS` beside one of `HOOK_SCHEMAS` will do. */
export interface HookContract {
  /** Canonical name of the hook. */
  readonly name: string;
  /** The way it is dispatched. */
  readonly dispatch: DispatchClass;
  /** Checks the input; absent: anything will do. */
  readonly input?: PayloadSchema;
  /** Checks the answer of each participant; absent: anything will do. */
  readonly output?: PayloadSchema;
}

/** One that takes part in a hook. */
export interface Participant<I = unknown, O = unknown> {
  /** Unlike that of any other participant. */
  readonly name: string;
  /** Lowest first; equal ones stand in the order they are given. Default 50. */
  readonly priority?: number;
  /** Names of its abilities; for the class `capability`. */
  readonly capabilities?: readonly string[];
  /** Whether it stands in when no participant has the capability. One of them at most. */
  readonly isFallback?: boolean;
  /** Answers the hook, or throws. */
  readonly call: (input: I) => O | Promise<O>;
}

/** A value, or a promise of one. */
export type MaybePromise<T> = T | Promise<T>;

/** The answer of one participant. */
export interface Answer<O> {
  /** Name of the participant. */
  readonly name: string;
  /** Checked against the contract. */
  readonly value: O;
}

/** The failure of one participant. */
export interface Failure {
  /** Name of the participant. */
  readonly name: string;
  /** The value that it threw. */
  readonly error: unknown;
}
