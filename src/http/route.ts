/**
 * A route as data: the app, the OpenAPI document and the tests all read the same definition.
 *
 * @module
 */
import type * as v from "valibot";
import type { HostErrorCode } from "../core/errors/host_error.ts";
import type { Host } from "../host/types.ts";
import type { HttpConnection } from "../core/ports/http.ts";
import type { Answers } from "./answers.ts";
import type { Observed } from "./observe.ts";
import type { Tickets } from "./tickets.ts";

/** A schema of a request's part; answers are typed by {@link Answers}. */
export type Schema = v.GenericSchema;

/** The host and the observations that every route works with. */
export interface Api extends Omit<Observed, "close"> {
  readonly host: Host;
  readonly tickets: Tickets;
}

/** One request, its parts checked against the schemas of the route. */
export interface RouteInput<P, Q, B> {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  readonly request: Request;
  readonly connection: HttpConnection;
}

type Method = "GET" | "POST" | "PUT" | "DELETE";

/** A route: how its requests are checked, how it answers, and how the document describes it. */
export interface Route<A = Api> {
  readonly method: Method;
  /** Path, with its parameters in braces. */
  readonly path: string;
  /** One line for the OpenAPI document. */
  readonly summary: string;
  /** Whether it needs no token. */
  readonly isOpen?: boolean;
  /** Whether it counts against the limit of calls per second. */
  readonly isCall?: boolean;
  readonly params?: Schema;
  /** Keys that the schema does not name are refused. */
  readonly query?: Schema;
  readonly body?: Schema;
  /** Whether JSON may come without its type, as `fetch()` sends a text; never from a page of another site. */
  readonly isUntyped?: boolean;
  /** Media types that a client may ask for. Default: JSON alone. */
  readonly types?: readonly ("application/json" | "text/event-stream" | "text/plain")[];
  /** Descriptions of good answers with another status than 200. */
  readonly also?: Readonly<Record<number, string>>;
  /** Failures of this route, beside those of every route. */
  readonly errors?: readonly HostErrorCode[];
  /** Returns a response to send as it is, or a value to send as JSON. */
  run(input: RouteInput<never, never, never>, api: A): unknown;
}

type Output<S> = S extends Schema ? v.InferOutput<S> : undefined;
type Answer<K> = Response | (K extends keyof Answers ? Answers[K] : never);

type TypedRoute<M, K, P, Q, B, A> = Omit<Route, "method" | "path" | "params" | "query" | "body" | "run"> & {
  readonly method: M;
  readonly path: K;
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
  run(
    input: RouteInput<Output<P>, Output<Q>, Output<B>>,
    api: A,
  ): Answer<`${M & string} ${K & string}`> | Promise<Answer<`${M & string} ${K & string}`>>;
};

/** Returns the route. Its schemas type the input of `run`, and its entry in {@link Answers} types the output. */
export function route<
  M extends Method,
  K extends string,
  P extends Schema | undefined = undefined,
  Q extends Schema | undefined = undefined,
  B extends Schema | undefined = undefined,
  A = Api,
>(typed: TypedRoute<M, K, P, Q, B, A>): Route<A> {
  return typed as Route<A>;
}
