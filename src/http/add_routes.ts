/**
 * Routes in a Hono app: each request is checked against its route, and answered as JSON.
 *
 * @module
 */
import type { Hono } from "hono";
import type { HttpConnection } from "../core/ports/http.ts";
import type { Clock } from "../core/ports/ports.ts";
import { failureResponse, type Hide } from "./problem.ts";
import { readInput } from "./read_input.ts";
import type { Route } from "./route.ts";

/** The app whose requests carry their connection. */
export type RouteApp = Hono<{ readonly Bindings: HttpConnection }>;

/** The surroundings of the routes of one app. */
export interface RouteSetting<A> {
  readonly clock: Clock;
  /** Left out at the beginning of each path. Default: nothing. */
  readonly prefix?: string;
  /** Returns the second argument of the route's `run`, once the request is known to be well-formed. */
  api(route: Route<A>, request: Request): A | Promise<A>;
  /** Hides what nobody may read in an answer. Default: nothing. */
  readonly hide?: Hide;
  /** Receives failures that are the host's own mistakes. */
  warn(message: string): void;
}

/** Adds routes to an app, and the answer to their failures. */
export function addRoutes<A>(app: RouteApp, routes: readonly Route<A>[], setting: RouteSetting<A>): void {
  const { prefix = "", warn, hide } = setting;
  for (const route of routes) {
    const path = route.path.slice(prefix.length).replace(/\{(\w+)\}/g, ":$1");
    app.on(route.method, path, ({ req, env }) => {
      return answerRoute(route, req.raw, { params: req.param(), connection: env }, setting);
    });
  }
  app.onError((error) => failureResponse(error, warn, hide));
}

/** Answers a request to a route. Rejects with a failure of the route. */
export async function answerRoute<A>(
  route: Route<A>,
  request: Request,
  { params, connection }: { readonly params: Readonly<Record<string, string>>; readonly connection: HttpConnection },
  { clock, api, hide = (value) => value }: RouteSetting<A>,
): Promise<Response> {
  const input = await readInput(route, request, { params, clock });
  const answer = await route.run({ ...input, request, connection } as never, await api(route, request));
  return answer instanceof Response ? answer : jsonResponse(hide(answer));
}

/** Not `Response.json`: runtimes differ in the type it names. */
function jsonResponse(value: unknown): Response {
  return new Response(JSON.stringify(value), { headers: { "Content-Type": "application/json" } });
}
