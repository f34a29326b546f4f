/**
 * What the dispatch engine works on: a hook as its specification tells it, and those who take part.
 *
 * @module
 */

/** The five ways a hook can be dispatched. There is no sixth. */
export type DispatchClass = "singleton" | "broadcast_collect" | "broadcast_notify" | "chain" | "capability";

/** Checks a value: any schema that speaks Standard Schema, such as the generated ones. */
export interface PayloadSchema {
  /** See https://standardschema.dev. */
  readonly "~standard": {
    /** Returns the value, or what is wrong with it. */
    validate(value: unknown): SchemaVerdict | PromiseLike<SchemaVerdict>;
  };
}

/** What a {@link PayloadSchema} says. */
export interface SchemaVerdict {
  /** Everything that is wrong; absent when nothing is. */
  readonly issues?:
    | readonly {
      /** What is wrong. */
      readonly message: string;
      /** Where: keys from the outside in. */
      readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
    }[]
    | undefined;
}

/** A hook, as much of it as dispatch needs. */
export interface HookContract {
  /** Its name. */
  readonly name: string;
  /** How it is dispatched. */
  readonly dispatch: DispatchClass;
  /** What goes in; absent: anything. */
  readonly input?: PayloadSchema;
  /** What comes out of one participant; absent: anything. */
  readonly output?: PayloadSchema;
}

/** One that takes part in a hook. */
export interface Participant<I = unknown, O = unknown> {
  /** Its name, unlike any other's. */
  readonly name: string;
  /** Lowest first; equal ones stand in the order they are given. Default 50. */
  readonly priority?: number;
  /** What it can do; for the class `capability`. */
  readonly capabilities?: readonly string[];
  /** Whether it stands in when nobody has the capability. One of them at most. */
  readonly isFallback?: boolean;
  /** Takes part. */
  readonly call: (input: I) => O | Promise<O>;
}

/** A value, or a promise of one. */
export type MaybePromise<T> = T | Promise<T>;

/** What one participant answered. */
export interface Answer<O> {
  /** Who. */
  readonly name: string;
  /** What. */
  readonly value: O;
}

/** How one participant failed. */
export interface Failure {
  /** Who. */
  readonly name: string;
  /** What was thrown. */
  readonly error: unknown;
}
