/**
 * Agents and their jobs over HTTP: a Hono app of its own, to be served alone, mounted in another app, or in a host's.
 *
 * @module
 */
import { Hono } from "hono";
import { HostError } from "../core/errors/host_error.ts";
import type { HttpConnection } from "../core/ports/http.ts";
import type { JobsClient } from "../jobs/jobs.ts";
import type { Clock } from "../core/ports/ports.ts";
import { problemResponse } from "./problem.ts";
import { readInput } from "./read_input.ts";
import { honoPath } from "./route.ts";
import { JOB_ROUTES } from "./routes/job_routes.ts";

/** What the routes stand on. */
export interface JobRoutesOptions {
  /** The jobs. */
  readonly jobs: JobsClient;
  /** Time, for signs of life in quiet streams. */
  readonly clock: Clock;
  /** Whose jobs a request may see: each caller sees one scope. Default: those without a scope. */
  readonly scope?: (request: Request) => string | undefined | Promise<string | undefined>;
  /** Hears of failures that are no answer to a request. Default: `console.error`. */
  readonly onWarning?: (message: string) => void;
}

/** An app that answers requests: mount it anywhere. */
export interface JobRoutes {
  /** Answers a request. */
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
  const warn = onWarning ?? ((message: string) => console.error(message));
  const app = new Hono();
  for (const route of JOB_ROUTES) {
    app.on(route.method, honoPath(route), async ({ req }) => {
      const { raw: request } = req;
      const input = await readInput(route, request, { params: req.param(), clock });
      const scopeId = await scope(request);
      const connection: Pick<HttpConnection, "signal"> = { signal: request.signal };
      const api = { jobs, clock, ...(scopeId !== undefined && { scopeId }) };
      const answer = await route.run({ ...input, request, connection } as never, api);
      return answer instanceof Response ? answer : Response.json(answer);
    });
  }
  app.onError((error) => {
    if (!(error instanceof HostError)) warn(`A request failed: ${String((error as Error)?.stack ?? error)}`);
    return problemResponse(error);
  });
  return { fetch: (request) => app.fetch(request) };
}
