/**
 * Agents and their jobs over HTTP: an app of its own, to be served alone or mounted in another app.
 *
 * @module
 */
import { Hono } from "hono";
import type { HttpConnection } from "../core/ports/http.ts";
import type { JobsClient } from "../jobs/jobs.ts";
import type { Clock } from "../core/ports/ports.ts";
import { addRoutes, type RouteApp } from "./add_routes.ts";
import { API_PATH, JOB_ROUTES } from "./routes/job_routes.ts";

/** Options of {@link jobRoutes}. */
export interface JobRoutesOptions {
  /** From `createJobs()`, or `host.jobs`. */
  readonly jobs: JobsClient;
  /** Times the comment lines that keep a quiet stream open. */
  readonly clock: Clock;
  /** Returns the scope whose jobs a request may see. Default: the jobs without a scope. */
  readonly scope?: (request: Request) => string | undefined | Promise<string | undefined>;
  /** Receives failures that are no answer to a request. Default: `console.error`. */
  readonly onWarning?: (message: string) => void;
}

/** A Hono app, or anything that is mounted like one. */
export interface JobRoutes {
  /** Answers a request; failures are answers too. */
  fetch(request: Request): Response | Promise<Response>;
}

/**
 * Returns the routes:
 *
 * - `POST /agents/:name` runs an agent and answers with its result, or with its events when `?stream=true`;
 * - `POST /agents/:name?async=true` starts a job and answers 202 with `{ jobId }`;
 * - `GET /jobs`, with `?status=`, `?agentName=`, `?limit=` and `?before=`; `GET /jobs/:id`; `GET /jobs/:id/stream`;
 * - `POST /jobs/:id/cancel`; `DELETE /jobs/:id`.
 *
 * A failure is answered as `application/problem+json`.
 */
export function jobRoutes({ jobs, clock, scope = () => undefined, onWarning }: JobRoutesOptions): JobRoutes {
  const app: RouteApp = new Hono();
  addRoutes(app, JOB_ROUTES, {
    clock,
    prefix: API_PATH,
    warn: onWarning ?? ((message) => console.error(message)),
    async api(_, request) {
      const scopeId = await scope(request);
      return { jobs, clock, ...(scopeId !== undefined && { scopeId }) };
    },
  });
  const connection = ({ signal }: Request): Pick<HttpConnection, "signal"> => ({ signal });
  return { fetch: (request) => app.fetch(request, connection(request) as HttpConnection) };
}
