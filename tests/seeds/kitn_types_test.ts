/** The types of the document on events and jobs, each as it stands there: the compiler compares them with ours. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { SummaryEvents, TraceEvents } from "../../src/events/types.ts";
import { type Job as OurJob, type JobStore as OurStore, memoryJobs } from "../../src/jobs/mod.ts";

// deno-fmt-ignore
interface HookEvents {
  // Agent execution lifecycle
  "agent:start": {
    agentName: string;
    input: string;
    conversationId: string;
    scopeId?: string;
    jobId?: string;         // Present if async execution
    timestamp: string;
  };

  "agent:end": {
    agentName: string;
    input: string;
    output: string;
    toolsUsed: string[];
    usage: { promptTokens: number; completionTokens: number; totalTokens: number };
    duration: number;       // milliseconds
    conversationId: string;
    scopeId?: string;
    jobId?: string;
    timestamp: string;
  };

  "agent:error": {
    agentName: string;
    input: string;
    error: string;
    duration: number;
    conversationId: string;
    scopeId?: string;
    jobId?: string;
    timestamp: string;
  };

  // Job lifecycle (async execution only)
  "job:start": {
    jobId: string;
    agentName: string;
    input: string;
    conversationId: string;
    scopeId?: string;
    timestamp: string;
  };

  "job:end": {
    jobId: string;
    agentName: string;
    output: string;
    duration: number;
    usage: { promptTokens: number; completionTokens: number; totalTokens: number };
    timestamp: string;
  };

  "job:cancelled": {
    jobId: string;
    agentName: string;
    duration: number;
    timestamp: string;
  };

  // Cron lifecycle (emitted from executeCronJob)
  "cron:executed": {
    cronId: string;
    agentName: string;
    executionId: string;
    status: "completed" | "failed";
    duration: number;
    timestamp: string;
  };
}

// deno-fmt-ignore
interface TraceHookEvents {
  "tool:execute": {
    agentName: string;
    toolName: string;
    input: Record<string, unknown>;
    output: unknown;
    duration: number;
    conversationId: string;
    timestamp: string;
  };

  "delegate:start": {
    parentAgent: string;
    childAgent: string;
    input: string;
    conversationId: string;
    timestamp: string;
  };

  "delegate:end": {
    parentAgent: string;
    childAgent: string;
    output: string;
    duration: number;
    conversationId: string;
    timestamp: string;
  };

  "model:call": {
    agentName: string;
    model: string;
    promptTokens: number;
    completionTokens: number;
    duration: number;
    conversationId: string;
    timestamp: string;
  };
}

// deno-fmt-ignore
interface Job {
  id: string;
  agentName: string;
  input: string;
  conversationId: string;
  scopeId?: string;

  status: "queued" | "running" | "completed" | "failed" | "cancelled";

  result?: string;
  error?: string;
  usage?: {
    promptTokens: number;
    completionTokens: number;
    totalTokens: number;
  };
  toolsUsed?: string[];

  createdAt: string;
  startedAt?: string;
  completedAt?: string;
}

// deno-fmt-ignore
interface JobStore {
  create(job: Omit<Job, "id" | "createdAt">): Promise<Job>;
  get(id: string, scopeId?: string): Promise<Job | null>;
  list(scopeId?: string): Promise<Job[]>;
  update(id: string, updates: Partial<Job>): Promise<Job>;
  delete(id: string, scopeId?: string): Promise<boolean>;
}

/** Each event of ours can be handed to a listener of the document's. */
type Given<Ours, Theirs> = { readonly [Name in keyof Theirs & keyof Ours]: (event: Ours[Name]) => Theirs[Name] };

test("N-040 T-001 T-001a T-001b every event of the document has the fields that the document gives it", () => {
  const summary: Given<SummaryEvents, HookEvents> = {
    "agent:start": (event) => event,
    "agent:end": (event) => event,
    "agent:error": (event) => event,
    "job:start": (event) => event,
    "job:end": (event) => event,
    "job:cancelled": (event) => event,
    "cron:executed": (event) => event,
  };
  const trace: Given<TraceEvents, TraceHookEvents> = {
    "tool:execute": (event) => event,
    "delegate:start": (event) => event,
    "delegate:end": (event) => event,
    "model:call": (event) => event,
  };
  const missing: Exclude<keyof HookEvents | keyof TraceHookEvents, keyof SummaryEvents | keyof TraceEvents>[] = [];
  assert.deepEqual([Object.keys(summary).length, Object.keys(trace).length, missing], [7, 4, []]);
});

test("N-040 T-006 T-007 a store of ours is a store of the document's, and holds its jobs", async () => {
  const job = (given: OurJob): Job => given;
  const store = ({ create, get, list, update, delete: remove }: OurStore): JobStore => ({
    create: async (given) => job(await create(given as OurJob)),
    get,
    list,
    update: (id, updates) => update(id, updates as Partial<OurJob>),
    delete: remove,
  });
  const backend = memoryJobs();
  const { create, get, list, update, delete: remove } = store(backend.store);
  const made = await create({ agentName: "a", input: "x", conversationId: "ses_1", status: "queued" });
  assert.deepEqual(await get(made.id), made);
  assert.deepEqual(await list(), [made]);
  assert.equal((await update(made.id, { status: "failed", error: "no" })).error, "no");
  assert.deepEqual([await remove(made.id), await remove(made.id)], [true, false]);
  await backend.close();
});
