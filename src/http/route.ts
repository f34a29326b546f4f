/**
 * A route as data: what it takes and gives is written once, and read by the app, the document and the tests.
 *
 * @module
 */
import type * as v from "valibot";
import type { Feed } from "../core/values/feed.ts";
import type { Host } from "../host/types.ts";
import type { HttpConnection } from "../core/ports/http.ts";
import type { Metrics } from "./metrics.ts";

/** A schema of this library. */
export type Schema = v.GenericSchema;

/** What every route works with. */
export interface Api {
  /** The host. */
  readonly host: Host;
  /** Audit events and plugins' notifications. */
  readonly events: Feed;
  /** What was counted. */
  readonly metrics: Metrics;
}

/** What one request brings, checked. */
export interface RouteInput<P, Q, B> {
  /** Parts of the path. */
  readonly params: P;
  /** The query. */
  readonly query: Q;
  /** The body. */
  readonly body: B;
  /** The request itself. */
  readonly request: Request;
  /** What it came over. */
  readonly connection: HttpConnection;
}

/** What a route answers with. */
export interface RouteAnswer {
  /** Media type of the answer, and of each other one a client may ask for. */
  readonly types: readonly ("application/json" | "text/event-stream" | "text/plain" | "text/html")[];
  /** Shape of a JSON answer. */
  readonly schema?: Schema;
  /** Other good answers, by their status; those with a shape are JSON. */
  readonly also?: Readonly<Record<number, { readonly description: string; readonly schema?: Schema }>>;
}

/** A route. */
export interface Route<A = Api> {
  /** Method. */
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** Path, with its parts in braces. */
  readonly path: string;
  /** What it does, in a few words. */
  readonly summary: string;
  /** Whether it needs no token. */
  readonly isOpen?: boolean;
  /** Whether it is counted against the limit on calls. */
  readonly isCall?: boolean;
  /** Parts of the path. */
  readonly params?: Schema;
  /** The query; other keys are refused. */
  readonly query?: Schema;
  /** The body. */
  readonly body?: Schema;
  /** What it answers with. */
  readonly answer: RouteAnswer;
  /** Codes of the failures it is known for, beside those of every route. */
  readonly errors: readonly string[];
  /** Answers: a response as it is, or what becomes JSON. */
  run(input: RouteInput<never, never, never>, api: A): unknown;
}

type Output<S> = S extends Schema ? v.InferOutput<S> : undefined;

type TypedRoute<P, Q, B, A> = Omit<Route, "params" | "query" | "body" | "run"> & {
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
  run(input: RouteInput<Output<P>, Output<Q>, Output<B>>, api: A): unknown;
};

/** Returns the route; what its `run` gets follows from its schemas. */
export function route<
  P extends Schema | undefined = undefined,
  Q extends Schema | undefined = undefined,
  B extends Schema | undefined = undefined,
  A = Api,
>(typed: TypedRoute<P, Q, B, A>): Route<A> {
  return typed as Route<A>;
}

/** Returns a route's path as Hono writes it. */
export function honoPath({ path }: { readonly path: string }): string {
  return path.replace(/\{(\w+)\}/g, ":$1");
}
