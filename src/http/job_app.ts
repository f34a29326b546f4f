/**
 * The routes of runs and jobs as an app of their own: served alone, or mounted in an app of Hono or Elysia, whose
 * OpenAPI document then has them.
 *
 * @module
 */
import { Hono, type MiddlewareHandler } from "hono";
import type { HttpConnection } from "../core/ports/http.ts";
import type { Clock } from "../core/ports/ports.ts";
import { printWarning } from "../core/values/printable.ts";
import type { JobsClient } from "../jobs/jobs.ts";
import { answerRoute, type RouteSetting } from "./add_routes.ts";
import { OPENAPI_TEXT } from "./generated/openapi.ts";
import { failureResponse } from "./problem.ts";
import type { Route } from "./route.ts";
import { JOB_ROUTES, type JobsApi } from "./routes/job_routes.ts";

/** Where a host's API has these routes; {@link jobRoutes} serves them without it. */
const API_PATH = "/api/v1";

/** Options of {@link jobRoutes}. */
export interface JobRoutesOptions {
  /** From `createJobs()`, or `host.jobs`. */
  readonly jobs: JobsClient;
  /** Times the comment lines that keep a quiet stream open. */
  readonly clock: Clock;
  /** Returns the scope whose jobs a request may see. Default: the jobs without a scope. */
  readonly scope?: (request: Request) => string | undefined | Promise<string | undefined>;
  /** Whether a request comes from an operator, who sees and cancels the jobs of every scope. Default: none does. */
  readonly operator?: (request: Request) => boolean | Promise<boolean>;
  /** `describeRoute` of `hono-openapi`, which then finds the routes in the app they are mounted in. */
  readonly describe?: (operation: never) => Middleware;
  /** Receives failures that are no answer to a request. Default: `console.error`. */
  readonly onWarning?: (message: string) => void;
}

/** A function before a handler of Hono. The npm package takes the types of the embedder's own Hono, or `any`. */
export type Middleware = MiddlewareHandler;

/** An app of Hono, as the embedder's own has it. */
export type HonoApp = Hono;

/** One route as an OpenAPI document has it: the operation (3.1), with its schemas written out, and its place. */
export interface RouteOperation extends Readonly<Record<string, unknown>> {
  /** The verb, in lower case. */
  readonly method: "get" | "post" | "put" | "delete";
  /** Path, with its parameters in braces. */
  readonly path: string;
  /** Unique among the operations of a document. */
  readonly operationId: string;
  /** One line for people who read the document. */
  readonly summary: string;
  /** Answers by their HTTP status. */
  readonly responses: Readonly<Record<string, Readonly<Record<string, unknown>> & { readonly description: string }>>;
}

/** A Hono app, to be served, mounted, or used in an app of Elysia. */
export interface JobRoutes extends HonoApp {
  /** Answers a request, where nothing is mounted. */
  readonly fetch: (request: Request) => Response | Promise<Response>;
  /** Adds the routes to an app of Elysia, for its `use()`; `group()` puts them below a path. */
  elysia<A>(app: A): A;
  /** The routes for a document that is written by hand, such as the registry of `@hono/zod-openapi`. */
  readonly operations: readonly RouteOperation[];
}

/**
 * Returns the routes:
 *
 * - `POST /agents/:name` runs an agent and answers with its result, or with its events when `?stream=true`;
 * - `POST /agents/:name?async=true` starts a job and answers 202 with `{ jobId }`;
 * - `GET /jobs`, with `?status=`, `?agentName=`, `?fields=`, `?limit=`, `?cursor=` and, for operators, `?scope=`;
 * - `GET /jobs/:id`; `GET /jobs/:id/result`; `GET /jobs/:id/stream`;
 * - `POST /jobs/:id/cancel`; `DELETE /jobs/:id`.
 *
 * A failure is answered as `application/problem+json`.
 */
export function jobRoutes(options: JobRoutesOptions): JobRoutes {
  const { jobs, clock, scope = () => undefined, operator = () => false } = options;
  const { describe, onWarning: warn = printWarning } = options;
  const setting: RouteSetting<JobsApi> = {
    clock,
    warn,
    async api(_, request) {
      const scopeId = await scope(request);
      const isOperator = await operator(request) === true;
      return { jobs, clock, hide: null, isOperator, ...(scopeId !== undefined && { scopeId }) };
    },
  };
  const answer = (route: Route<JobsApi>, request: Request, params: Readonly<Record<string, string>>) => {
    const connection = {
      get signal() {
        return request.signal;
      },
    };
    return answerRoute(route, request, { params, connection: connection as HttpConnection }, setting);
  };
  const app = new Hono();
  for (const route of JOB_ROUTES) {
    const said = describe ? [describe(operationOf(route) as never)] : [];
    const path = patternOf(route);
    for (const middleware of said) app.on(route.method, path, middleware);
    app.on(route.method, path, ({ req }) => answer(route, req.raw, req.param()));
  }
  app.onError((error) => failureResponse(error, warn));
  const elysia = <A>(target: A): A => {
    for (const route of JOB_ROUTES) {
      const { method: _, path: _at, ...detail } = operationOf(route);
      const handle = ({ request, params }: ElysiaRequest): Promise<Response> =>
        answer(route, request, params).catch((error) => failureResponse(error, warn));
      // The body is read here: Elysia would read it as the type that the request names.
      (target as ElysiaApp).route(route.method, patternOf(route), handle, { detail, parse: "none" });
    }
    return target;
  };
  return Object.defineProperties(app, {
    elysia: { value: elysia },
    operations: { get: () => JOB_ROUTES.map(operationOf) },
  }) as JobRoutes;
}

/** The part of a request that Elysia hands to a handler and that is used here. */
interface ElysiaRequest {
  readonly request: Request;
  readonly params: Readonly<Record<string, string>>;
}

/** The part of an app of Elysia that is used here: its types are not among the host's dependencies. */
interface ElysiaApp {
  route(method: string, path: string, handle: (request: ElysiaRequest) => Promise<Response>, hook: object): unknown;
}

function patternOf({ path }: Route<JobsApi>): string {
  return path.slice(API_PATH.length).replace(/\{(\w+)\}/g, ":$1");
}

interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** The host's own document, once it was needed. */
let document: ApiDocument | null = null;

/** Reads the operation of a route from the host's own document. */
function operationOf({ method, path }: Route<JobsApi>): RouteOperation {
  document ??= JSON.parse(OPENAPI_TEXT) as ApiDocument;
  const name = method.toLowerCase();
  const { security: _, ...operation } = writtenOut(document.paths[path]![name], document) as Record<string, unknown>;
  return { method: name, path: path.slice(API_PATH.length), ...operation } as unknown as RouteOperation;
}

/** Returns a part of a document with each reference replaced by the part it leads to; no schema of these holds itself. */
function writtenOut(part: unknown, document: unknown): unknown {
  if (Array.isArray(part)) return part.map((one) => writtenOut(one, document));
  if (typeof part !== "object" || part === null) return part;
  const { $ref, ...rest } = part as { readonly $ref?: string };
  const fields = Object.entries(rest).map(([key, value]) => [key, writtenOut(value, document)]);
  if ($ref === undefined) return Object.fromEntries(fields);
  const found = $ref.split("/").slice(1).reduce((at, key) => (at as Record<string, unknown>)[key], document);
  return { ...writtenOut(found, document) as object, ...Object.fromEntries(fields) };
}
