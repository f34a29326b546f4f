/**
 * Agents and their background jobs. The paths stand below wherever they are mounted: in a host's API, `/api/v1`.
 *
 * @module
 */
import * as v from "valibot";
import { HostError } from "../../core/errors/host_error.ts";
import type { Host } from "../../host/types.ts";
import type { RunRequest } from "../../jobs/agent.ts";
import type { JobsClient } from "../../jobs/jobs.ts";
import { EventStream } from "../../jobs/event_stream.ts";
import { isFinal, type JobStatus } from "../../jobs/types.ts";
import type { Clock } from "../../core/ports/ports.ts";
import { readerResponse, STREAM_HEADERS } from "../reader_response.ts";
import { type Route, route } from "../route.ts";

/** What the routes work with. */
export interface JobsApi {
  /** The jobs. */
  readonly jobs: JobsClient;
  /** Time. */
  readonly clock: Clock;
  /** Whose jobs the caller sees; absent: those without a scope. */
  readonly scopeId?: string;
}

const STATUSES: readonly JobStatus[] = ["queued", "running", "completed", "failed", "cancelled"];
const status = v.picklist(STATUSES);
const text = v.pipe(v.string(), v.minLength(1));
const jobId = v.pipe(v.string(), v.regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/, "It is no id of a job"));
const agentName = v.pipe(v.string(), v.regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/, "It is no name of an agent"));
const namedJob = v.strictObject({ id: jobId });
const flag = v.exactOptional(v.picklist(["true", "false"]));
const usage = v.pipe(
  v.strictObject({ promptTokens: v.number(), completionTokens: v.number(), totalTokens: v.number() }),
  v.title("Usage"),
);
const success = v.pipe(v.strictObject({ success: v.literal(true) }), v.title("Success"));
const job = v.pipe(
  v.strictObject({
    id: v.string(),
    agentName: v.string(),
    input: v.string(),
    conversationId: v.string(),
    scopeId: v.exactOptional(v.string()),
    status,
    result: v.exactOptional(v.string()),
    error: v.exactOptional(v.string()),
    usage: v.exactOptional(usage),
    toolsUsed: v.exactOptional(v.array(v.string())),
    createdAt: v.string(),
    startedAt: v.exactOptional(v.string()),
    completedAt: v.exactOptional(v.string()),
  }),
  v.title("Job"),
);

/** Routes about agents' runs and jobs. */
export const JOB_ROUTES: readonly Route<JobsApi>[] = [
  route({
    method: "POST",
    path: "/agents/{agent}",
    summary: "Run an agent: answer with its result, or with its events as they come (stream=true); or start a job " +
      "(async=true), which does not end with its client",
    params: v.strictObject({ agent: agentName }),
    query: v.strictObject({ async: flag, stream: flag }),
    body: v.union([
      v.strictObject({ message: v.string(), conversationId: v.exactOptional(text) }),
      v.strictObject({ input: v.string(), conversationId: v.exactOptional(text) }),
    ], "Send { message } or { input }, and conversationId if there is one"),
    answer: {
      types: ["application/json", "text/event-stream"],
      schema: v.strictObject({
        result: v.string(),
        usage,
        toolsUsed: v.array(v.string()),
        conversationId: v.string(),
      }),
      also: { 202: { description: "The job is queued", schema: v.strictObject({ jobId: v.string() }) } },
    },
    errors: ["jobs.agent_unknown", "jobs.run_failed", "jobs.stopped", "jobs.store_unavailable"],
    async run({ params, query, body, connection: { signal } }, { jobs, clock, scopeId }: JobsApi) {
      const { conversationId } = body;
      const request: RunRequest = {
        agentName: params.agent,
        input: "message" in body ? body.message : body.input,
        ...(conversationId !== undefined && { conversationId }),
        ...(scopeId !== undefined && { scopeId }),
      };
      if (query.async === "true") return Response.json({ jobId: (await jobs.start(request)).id }, { status: 202 });
      const isKnown = jobs.agents().includes(params.agent); // Else below: a stream has no status to say so with.
      if (query.stream === "true" && isKnown) return streamedRun(request, jobs, clock);
      const { output: result, ...rest } = await jobs.run(request, { ...(signal && { signal }) });
      return { result, ...rest };
    },
  }),
  route({
    method: "GET",
    path: "/jobs",
    summary: "The newest jobs, the oldest of them first; before=<id> for those before",
    query: v.strictObject({
      status: v.exactOptional(status),
      agentName: v.exactOptional(agentName),
      limit: v.optional(
        v.pipe(v.string(), v.regex(/^([1-9][0-9]{0,2}|1000)$/, "It is no number from 1 to 1000"), v.transform(Number)),
        "100",
      ),
      before: v.exactOptional(jobId),
    }),
    answer: {
      types: ["application/json"],
      schema: v.strictObject({ jobs: v.array(job), before: v.nullable(v.string()) }),
    },
    errors: ["jobs.agent_unknown", "jobs.unknown", "jobs.store_unavailable"],
    async run({ query: { limit, ...filter } }, { jobs, scopeId }: JobsApi) {
      const scope = scopeId === undefined ? {} : { scopeId };
      const found = await jobs.list({ ...filter, ...scope, limit: limit + 1 }); // One more tells whether there is more.
      const page = found.slice(-limit);
      return { jobs: page, before: found.length > limit ? page[0]!.id : null };
    },
  }),
  route({
    method: "GET",
    path: "/jobs/{id}",
    summary: "One job",
    params: namedJob,
    answer: { types: ["application/json"], schema: job },
    errors: ["jobs.agent_unknown", "jobs.unknown", "jobs.store_unavailable"],
    run: ({ params: { id } }, { jobs, scopeId }: JobsApi) => jobs.get(id, scopeId),
  }),
  route({
    method: "DELETE",
    path: "/jobs/{id}",
    summary: "Remove the record of a finished job",
    params: namedJob,
    answer: { types: ["application/json"], schema: success },
    errors: ["jobs.agent_unknown", "jobs.unknown", "jobs.not_finished", "jobs.store_unavailable"],
    async run({ params: { id } }, { jobs, scopeId }: JobsApi) {
      await jobs.delete(id, scopeId);
      return { success: true };
    },
  }),
  route({
    method: "POST",
    path: "/jobs/{id}/cancel",
    summary: "Cancel a job and abort its run",
    params: namedJob,
    answer: { types: ["application/json"], schema: success },
    errors: ["jobs.agent_unknown", "jobs.unknown", "jobs.finished", "jobs.store_unavailable"],
    async run({ params: { id } }, { jobs, scopeId }: JobsApi) {
      await jobs.cancel(id, scopeId);
      return { success: true };
    },
  }),
  route({
    method: "GET",
    path: "/jobs/{id}/stream",
    summary: "What a job told, what it tells, then done",
    params: namedJob,
    answer: {
      types: ["text/event-stream"],
      also: { 204: { description: "Nothing comes after the event named in Last-Event-ID" } },
    },
    errors: ["jobs.agent_unknown", "jobs.unknown", "jobs.store_unavailable"],
    run: ({ params: { id }, request }, api: JobsApi) => followed(id, request, api),
  }),
];

/** Returns the routes of a host's own jobs, below `/api/v1`. */
export function hostJobRoutes(): Route[] {
  return JOB_ROUTES.map(({ path, run, ...route }) => ({
    ...route,
    path: `/api/v1${path}`,
    run: (input, { host }) => run(input, { jobs: jobsOf(host), clock: host.view.clock }),
  }));
}

function jobsOf(host: Host): JobsClient {
  const jobs = host.view.jobs();
  if (jobs) return jobs;
  throw new HostError("jobs.agent_unknown", "The program of this host has registered no agent", {
    hint: "Register one with host.agent(path, run)",
  });
}

async function followed(id: string, request: Request, { jobs, clock, scopeId }: JobsApi): Promise<Response> {
  const after = request.headers.get("last-event-id");
  const { status } = await jobs.get(id, scopeId);
  if (request.method === "HEAD") return new Response(null, { headers: STREAM_HEADERS }); // Nobody reads what follows.
  const reader = await jobs.stream(id, {
    ...(scopeId !== undefined && { scopeId }),
    ...(after !== null && { after }),
  });
  if (after === null || !isFinal(status)) return readerResponse(reader, clock);
  const { value: first } = await reader.next();
  // An EventSource comes back after the end too, until it is told that there is nothing more.
  if (first?.type === "done" && first.id === after) return new Response(null, { status: 204 });
  return readerResponse(reader, clock, { before: first ? [first] : [] });
}

/** A run whose client sees it happen; it is aborted when the client leaves. */
function streamedRun(request: RunRequest, jobs: JobsClient, clock: Clock): Response {
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
