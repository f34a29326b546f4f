/**
 * Runs of agents, and the background jobs that are runs without a waiting client, as routes.
 *
 * @module
 */
import * as v from "valibot";
import { HostError } from "../../core/errors/host_error.ts";
import type { Host } from "../../host/types.ts";
import type { RunRequest } from "../../jobs/agent.ts";
import type { JobsClient } from "../../jobs/jobs.ts";
import { EventStream, type StreamEvent, type StreamReader } from "../../jobs/event_stream.ts";
import { isFinal, type JobStatus } from "../../jobs/types.ts";
import type { Clock } from "../../core/ports/ports.ts";
import type { Answers } from "../answers.ts";
import { type Route, route } from "../route.ts";
import { pageFields } from "../page.ts";
import { textLike } from "../schemas.ts";
import { SSE_HEADERS, sseResponse, type SseSource, sseText } from "../sse.ts";

/** The jobs that the routes work with. */
export interface JobsApi {
  readonly jobs: JobsClient;
  readonly clock: Clock;
  /** The scope whose jobs the caller sees; absent for the jobs without one. */
  readonly scopeId?: string;
}

const status = v.picklist(["queued", "running", "completed", "failed", "cancelled"] satisfies JobStatus[]);
const text = v.pipe(v.string(), v.minLength(1));
const jobId = textLike(/^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/, "It is no id of a job");
const agentName = textLike(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/, "It is no name of an agent");
const namedJob = v.strictObject({ id: jobId });
const flag = v.exactOptional(v.picklist(["true", "false"]));

/** The routes, on any jobs. */
export const JOB_ROUTES: readonly Route<JobsApi>[] = [
  route({
    method: "POST",
    path: "/api/v1/agents/{agent}",
    summary: "Run an agent: answer with its result, or with its events as they come (stream=true); or start a job " +
      "(async=true), which does not end with its client",
    params: v.strictObject({ agent: agentName }),
    query: v.strictObject({ async: flag, stream: flag }),
    body: v.union([
      v.strictObject({ message: v.string(), conversationId: v.exactOptional(text) }),
      v.strictObject({ input: v.string(), conversationId: v.exactOptional(text) }),
    ], "Send { message } or { input }, and conversationId if there is one"),
    isUntyped: true,
    types: ["application/json", "text/event-stream"],
    also: { 202: "The job is queued" },
    errors: ["jobs.agent_unknown", "jobs.run_failed", "jobs.stopped", "jobs.store_unavailable"],
    async run({ params, query, body, connection: { signal } }, { jobs, clock, scopeId }: JobsApi) {
      const { conversationId } = body;
      const request: RunRequest = {
        agentName: params.agent,
        input: "message" in body ? body.message : body.input,
        ...(conversationId !== undefined && { conversationId }),
        ...(scopeId !== undefined && { scopeId }),
      };
      if (query.async === "true") {
        const answer: Answers["POST /api/v1/agents/{agent} 202"] = { jobId: (await jobs.start(request)).id };
        return Response.json(answer, { status: 202 });
      }
      // An unknown agent is left to jobs.run() below, which fails: a stream would already have the status 200.
      const isKnown = jobs.agents().includes(params.agent);
      if (query.stream === "true" && isKnown) return streamedRun(request, jobs, clock);
      const { output: result, ...rest } = await jobs.run(request, { ...(signal && { signal }) });
      return { result, ...rest };
    },
  }),
  route({
    method: "GET",
    path: "/api/v1/jobs",
    summary: "The newest jobs, the oldest of them first; cursor=<next> for those before",
    query: v.strictObject({
      status: v.exactOptional(status),
      agentName: v.exactOptional(agentName),
      limit: pageFields.limit,
      cursor: v.exactOptional(jobId),
    }),
    errors: ["jobs.agent_unknown", "jobs.unknown", "jobs.store_unavailable"],
    async run({ query: { limit, cursor, ...filter } }, { jobs, scopeId }: JobsApi) {
      const scope = scopeId === undefined ? {} : { scopeId };
      const before = cursor === undefined ? {} : { before: cursor };
      const found = await jobs.list({ ...filter, ...scope, ...before, limit: limit + 1 }); // One more shows whether there are older ones.
      const page = found.slice(-limit);
      return { jobs: page, next: found.length > limit ? page[0]!.id : null };
    },
  }),
  route({
    method: "GET",
    path: "/api/v1/jobs/{id}",
    summary: "One job",
    params: namedJob,
    errors: ["jobs.agent_unknown", "jobs.unknown", "jobs.store_unavailable"],
    run: ({ params: { id } }, { jobs, scopeId }: JobsApi) => jobs.get(id, scopeId),
  }),
  route({
    method: "DELETE",
    path: "/api/v1/jobs/{id}",
    summary: "Remove the record of a finished job",
    params: namedJob,
    errors: ["jobs.agent_unknown", "jobs.unknown", "jobs.not_finished", "jobs.store_unavailable"],
    async run({ params: { id } }, { jobs, scopeId }: JobsApi) {
      await jobs.delete(id, scopeId);
      return { success: true };
    },
  }),
  route({
    method: "POST",
    path: "/api/v1/jobs/{id}/cancel",
    summary: "Cancel a job and abort its run",
    params: namedJob,
    errors: ["jobs.agent_unknown", "jobs.unknown", "jobs.finished", "jobs.store_unavailable"],
    async run({ params: { id } }, { jobs, scopeId }: JobsApi) {
      await jobs.cancel(id, scopeId);
      return { success: true };
    },
  }),
  route({
    method: "GET",
    path: "/api/v1/jobs/{id}/stream",
    summary:
      "The events of a job, past and new, then done; each also without a name, as { type, data }, for onmessage, " +
      "unless unnamed=false",
    params: namedJob,
    query: v.strictObject({ unnamed: flag }),
    types: ["text/event-stream"],
    also: { 204: "Nothing comes after the event named in Last-Event-ID" },
    errors: ["jobs.agent_unknown", "jobs.unknown", "jobs.store_unavailable"],
    run: ({ params: { id }, query: { unnamed = "true" }, request }, api: JobsApi) =>
      followed(id, request, { ...api, unnamed: unnamed === "true" }),
  }),
];

/** {@link JOB_ROUTES} on the jobs of a host. */
export const HOST_JOB_ROUTES: readonly Route[] = JOB_ROUTES.map((route) => ({
  ...route,
  run: (input, { host }) => route.run(input, { jobs: jobsOf(host), clock: host.view.clock }),
}));

function jobsOf(host: Host): JobsClient {
  const jobs = host.view.jobs();
  if (jobs) return jobs;
  throw new HostError("jobs.agent_unknown", "The program of this host has registered no agent", {
    hint: "Register one with host.agent(path, run)",
  });
}

async function followed(
  id: string,
  request: Request,
  { jobs, clock, scopeId, unnamed }: JobsApi & { readonly unnamed: boolean },
): Promise<Response> {
  const after = request.headers.get("last-event-id");
  const { status } = await jobs.get(id, scopeId);
  if (request.method === "HEAD") return new Response(null, { headers: SSE_HEADERS }); // No reader for a body nobody reads.
  const reader = await jobs.stream(id, {
    ...(scopeId !== undefined && { scopeId }),
    ...(after !== null && { after }),
  });
  if (after === null || !isFinal(status)) return sseResponse(runEvents(reader, { unnamed }), clock);
  const { value: first } = await reader.next();
  // An EventSource also reconnects after the end; 204 makes it stop (HTML, server-sent events, "reconnection").
  if (first?.type === "done" && first.id === after) return new Response(null, { status: 204 });
  return sseResponse(runEvents(reader, { first, unnamed }), clock);
}

/** A run whose client follows its events; it is aborted when the client leaves. */
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
  return sseResponse(runEvents(reader, { onLeave: () => abort.abort() }), clock);
}

/** Events sent in one piece, at most. */
const BATCH = 100;

/** Returns what a reader reads as server-sent events, `first` before the rest. */
function runEvents(
  reader: StreamReader,
  { first, unnamed = false, onLeave = () => {} }: {
    readonly first?: StreamEvent | undefined;
    /** Sends each event a second time without a name: `onmessage` of an EventSource hears no other. */
    readonly unnamed?: boolean;
    readonly onLeave?: () => void;
  } = {},
): SseSource {
  let before = first ? [first] : [];
  return {
    async next() {
      const events = before;
      before = [];
      if (events.length === 0) {
        const { value } = await reader.next();
        if (!value) return null;
        events.push(value);
      }
      return [...events, ...reader.ready(BATCH)].map(({ id, type, json }) => {
        const event = sseText(id, type, json);
        // The copy comes first and has no id: a client that leaves between the two gets both again.
        return unnamed ? `data: {"type":${JSON.stringify(type)},"data":${json}}\n\n${event}` : event;
      }).join("");
    },
    leave() {
      onLeave();
      void reader.return();
    },
  };
}
