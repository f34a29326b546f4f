/**
 * Runs of agents, and the background jobs that are runs without a waiting client, as routes.
 *
 * @module
 */
import * as v from "valibot";
import { HostError } from "../../core/errors/host_error.ts";
import type { Host } from "../../host/types.ts";
import type { RunRequest } from "../../jobs/agent.ts";
import type { JobPageFilter, JobsClient } from "../../jobs/jobs.ts";
import { EventStream, type StreamEvent, type StreamReader } from "../../jobs/event_stream.ts";
import { isFinal, type Job, type JobStatus } from "../../jobs/types.ts";
import type { Clock } from "../../core/ports/ports.ts";
import type { Answers } from "../answers.ts";
import { type Route, route } from "../route.ts";
import { pageFields } from "../page.ts";
import type { Hide } from "../problem.ts";
import { resultResponse } from "../result_stream.ts";
import { textLike } from "../schemas.ts";
import { SSE_HEADERS, sseResponse, type SseSource, sseText } from "../sse.ts";

/** The jobs that the routes work with. */
export interface JobsApi {
  readonly jobs: JobsClient;
  readonly clock: Clock;
  /** The scope whose jobs the caller sees; absent for the jobs without one. */
  readonly scopeId?: string;
  /** Whether the caller is an operator, who sees and cancels the jobs of every scope. */
  readonly isOperator: boolean;
  /** Hides what nobody may read in a result; null: nothing. */
  readonly hide: Hide | null;
}

const status = v.picklist(["queued", "running", "completed", "failed", "cancelled"] satisfies JobStatus[]);
const text = v.pipe(v.string(), v.minLength(1));
const jobId = textLike(/^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/, "It is no id of a job");
const agentName = textLike(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/, "It is no name of an agent");
const namedJob = v.strictObject({ id: jobId });
const scope = textLike(/^$|^[A-Za-z0-9][A-Za-z0-9._@:|+-]{0,127}$/, "It is no scope; an empty one is for jobs without");
const FIELDS = [
  ...["id", "agentName", "input", "conversationId", "scopeId", "status", "result", "resultAside", "error", "errorCode"],
  ...["waiting", "usage", "toolsUsed", "createdAt", "startedAt", "completedAt"],
] as readonly string[] as readonly (keyof Job)[];
const fields = v.pipe(
  textLike(/^[A-Za-z]{1,20}(,[A-Za-z]{1,20}){0,19}$/, "It is no list of fields such as id,status,result"),
  v.transform((text) => text.split(",")),
  v.array(v.picklist(FIELDS, `A job has these fields: ${FIELDS.join(", ")}`)),
);
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
    summary: "The newest jobs, the oldest of them first; cursor=<next> for those before. Results are left out unless " +
      "fields= names them. An operator gets the jobs of every scope, or of scope=",
    query: v.strictObject({
      status: v.exactOptional(status),
      agentName: v.exactOptional(agentName),
      scope: v.exactOptional(scope),
      fields: v.exactOptional(fields),
      ...pageFields,
    }),
    errors: ["jobs.agent_unknown", "jobs.scope_refused", "http.cursor_invalid", "jobs.store_unavailable"],
    async run({ query: { scope, fields, ...filter } }, api: JobsApi) {
      const results = fields?.includes("result") ?? false;
      const { jobs, next } = await api.jobs.page({ ...filter, ...scopeOf(scope, api), results });
      return { jobs: fields ? jobs.map((job) => partOf(job, fields)) : jobs, next };
    },
  }),
  route({
    method: "GET",
    path: "/api/v1/jobs/{id}",
    summary: "One job",
    params: namedJob,
    errors: ["jobs.agent_unknown", "jobs.unknown", "jobs.store_unavailable"],
    run: ({ params: { id } }, api: JobsApi) => jobOf(id, api),
  }),
  route({
    method: "GET",
    path: "/api/v1/jobs/{id}/result",
    summary: "The whole result of a job, however long, as a stream of text",
    params: namedJob,
    types: ["text/plain"],
    errors: ["jobs.agent_unknown", "jobs.unknown", "jobs.result_missing", "jobs.store_unavailable"],
    async run({ params: { id } }, api: JobsApi) {
      return resultResponse(await api.jobs.result(id, (await jobOf(id, api)).scopeId), api.hide);
    },
  }),
  route({
    method: "DELETE",
    path: "/api/v1/jobs/{id}",
    summary: "Remove the record of a finished job",
    params: namedJob,
    errors: ["jobs.agent_unknown", "jobs.unknown", "jobs.not_finished", "jobs.store_unavailable"],
    async run({ params: { id } }, api: JobsApi) {
      await api.jobs.delete(id, (await jobOf(id, api)).scopeId);
      return { success: true };
    },
  }),
  route({
    method: "POST",
    path: "/api/v1/jobs/{id}/cancel",
    summary: "Cancel a job and abort its run",
    params: namedJob,
    errors: ["jobs.agent_unknown", "jobs.unknown", "jobs.finished", "jobs.store_unavailable"],
    async run({ params: { id } }, api: JobsApi) {
      await api.jobs.cancel(id, (await jobOf(id, api)).scopeId);
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
  run: (input, { host: { view } }) => {
    // Whoever has the token of the host is its operator.
    return route.run(input, { jobs: jobsOf(view), clock: view.clock, isOperator: true, hide: view.hide });
  },
}));

/** Returns the job that a caller names. Throws `jobs.unknown`, also for one that the caller may not see. */
function jobOf(id: string, { jobs, scopeId, isOperator }: JobsApi): Promise<Job> {
  return isOperator ? jobs.find(id) : jobs.get(id, scopeId);
}

/** Returns which scopes a caller gets; an empty name stands for jobs without one. Throws `jobs.scope_refused`. */
function scopeOf(
  asked: string | undefined,
  { scopeId, isOperator }: JobsApi,
): Pick<JobPageFilter, "scopeId" | "everyScope"> {
  const own = scopeId === undefined ? {} : { scopeId };
  if (asked === undefined) return isOperator ? { everyScope: true } : own;
  if (isOperator) return asked === "" ? {} : { scopeId: asked };
  if (asked === (scopeId ?? "")) return own;
  throw new HostError("jobs.scope_refused", `Jobs of the scope ${JSON.stringify(asked)} are not the caller's`, {
    hint: "Leave scope= out",
  });
}

/** A job with the fields that were asked for, and its id. */
function partOf(job: Job, fields: readonly (keyof Job)[]): Pick<Job, "id"> & Partial<Job> {
  const wanted = new Set<string>(["id", ...fields, ...(fields.includes("result") ? ["resultAside"] : [])]);
  return Object.fromEntries(Object.entries(job).filter(([name]) => wanted.has(name))) as unknown as Job;
}

function jobsOf(view: Host["view"]): JobsClient {
  const jobs = view.jobs();
  if (jobs) return jobs;
  throw new HostError("jobs.agent_unknown", "The program of this host has registered no agent", {
    hint: "Register one with host.agent(path, run)",
  });
}

async function followed(
  id: string,
  request: Request,
  { unnamed, ...api }: JobsApi & { readonly unnamed: boolean },
): Promise<Response> {
  const { jobs, clock } = api;
  const after = request.headers.get("last-event-id");
  const { status, scopeId } = await jobOf(id, api);
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
