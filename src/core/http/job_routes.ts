/**
 * Agents and their jobs over HTTP: a Hono app of its own, to be served alone, mounted in another app, or in a host's.
 *
 * @module
 */
import { Hono } from "hono";
import * as v from "valibot";
import { HostError } from "../errors.ts";
import type { RunRequest } from "../jobs/agent.ts";
import type { JobsClient } from "../jobs/create_jobs.ts";
import { EventStream } from "../jobs/event_stream.ts";
import { isFinal, type JobStatus } from "../jobs/types.ts";
import type { Clock } from "../ports.ts";
import { problemResponse } from "./problem.ts";
import { check, readJson } from "./read_input.ts";
import { readerResponse } from "./reader_response.ts";

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

const STATUSES: readonly JobStatus[] = ["queued", "running", "completed", "failed", "cancelled"];
const flag = v.exactOptional(v.picklist(["true", "false"]));
const text = v.pipe(v.string(), v.minLength(1));
const runQuery = v.strictObject({ async: flag, stream: flag });
const runBody = v.union([
  v.strictObject({ message: v.string(), conversationId: v.exactOptional(text) }),
  v.strictObject({ input: v.string(), conversationId: v.exactOptional(text) }),
], "Send { message } or { input }, and conversationId if there is one");
const listQuery = v.strictObject({ status: v.exactOptional(v.picklist(STATUSES)), agentName: v.exactOptional(text) });

/**
 * Returns the routes:
 *
 * - `POST /agents/:name` runs an agent and answers with its result, or with its events when `?stream=true`;
 * - `POST /agents/:name?async=true` starts a job and answers 202 with `{ jobId }`;
 * - `GET /jobs`, with `?status=` and `?agentName=`; `GET /jobs/:id`; `GET /jobs/:id/stream`;
 * - `POST /jobs/:id/cancel`; `DELETE /jobs/:id`.
 *
 * A failure is answered as `application/problem+json`.
 */
export function jobRoutes({ jobs, clock, scope = () => undefined, onWarning }: JobRoutesOptions): JobRoutes {
  const warn = onWarning ?? ((message: string) => console.error(message));
  const app = new Hono();
  const scoped = async (request: Request): Promise<{ scopeId?: string }> => {
    const scopeId = await scope(request);
    return scopeId === undefined ? {} : { scopeId };
  };

  app.post("/agents/:name", async ({ req, json }) => {
    const query = check(runQuery, req.query(), "query") as v.InferOutput<typeof runQuery>;
    const body = check(runBody, await readJson(req.raw), "body") as v.InferOutput<typeof runBody>;
    const { conversationId } = body;
    const request: RunRequest = {
      agentName: req.param("name"),
      input: "message" in body ? body.message : body.input,
      ...(conversationId !== undefined && { conversationId }),
      ...await scoped(req.raw),
    };
    if (query.async === "true") return json({ jobId: (await jobs.start(request)).id }, 202);
    if (query.stream === "true") return streamedRun(request);
    const { output: result, ...rest } = await jobs.run(request, { signal: req.raw.signal });
    return json({ result, ...rest });
  });

  app.get("/jobs", async ({ req, json }) => {
    const filter = check(listQuery, req.query(), "query") as v.InferOutput<typeof listQuery>;
    return json({ jobs: await jobs.list({ ...filter, ...await scoped(req.raw) }) });
  });

  app.get("/jobs/:id", async ({ req, json }) => {
    const { scopeId } = await scoped(req.raw);
    return json(await jobs.get(req.param("id"), scopeId));
  });

  app.get("/jobs/:id/stream", async ({ req, body }) => {
    const { scopeId } = await scoped(req.raw);
    const id = req.param("id");
    const after = req.header("last-event-id");
    const { status } = await jobs.get(id, scopeId);
    const place = { ...(scopeId !== undefined && { scopeId }), ...(after !== undefined && { after }) };
    const reader = await jobs.stream(id, place);
    if (after === undefined || !isFinal(status)) return readerResponse(reader, clock);
    const { value: first } = await reader.next();
    // An EventSource comes back after the end too, until it is told that there is nothing more.
    if (first?.type === "done" && first.id === after) return body(null, 204);
    return readerResponse(reader, clock, { before: first ? [first] : [] });
  });

  app.post("/jobs/:id/cancel", async ({ req, json }) => {
    const { scopeId } = await scoped(req.raw);
    await jobs.cancel(req.param("id"), scopeId);
    return json({ success: true });
  });

  app.delete("/jobs/:id", async ({ req, json }) => {
    const { scopeId } = await scoped(req.raw);
    await jobs.delete(req.param("id"), scopeId);
    return json({ success: true });
  });

  app.onError((error) => {
    if (!(error instanceof HostError)) warn(`A request failed: ${String((error as Error)?.stack ?? error)}`);
    return problemResponse(error);
  });

  /** A run whose client sees it happen; it is aborted when the client leaves. */
  function streamedRun(request: RunRequest): Response {
    const abort = new AbortController();
    const stream = new EventStream({ maxEvents: 10_000, maxChars: 1024 * 1024 });
    stream.begin(1);
    const reader = stream.read();
    const emit = (type: string, data?: unknown): void => stream.push(type, data);
    jobs.run(request, { signal: abort.signal, emit }).then(
      ({ output: result, ...rest }) => stream.finish({ status: "completed", result, ...rest }),
      (error) => stream.finish({ status: "failed", error: (error as Error).message }),
    );
    return readerResponse(reader, clock, { onLeave: () => abort.abort() });
  }

  return { fetch: (request) => app.fetch(request) };
}
