/**
 * Spans for runs, tools, hooks, jobs and compactions. A span carries names and ids; what was asked and answered never
 * goes into one.
 *
 * @module
 */
import { HostError } from "../core/errors/host_error.ts";
import { HOST_VERSION } from "../core/values/version.ts";
import { type OpenRuns, openRuns } from "./open_runs.ts";
import type {
  ApiSpan,
  ApiTracer,
  OpenSpan,
  RunFacts,
  SpanAttributes,
  SpanFacts,
  SpanKind,
  TraceCarrier,
  Tracing,
  TracingApi,
} from "./types.ts";

const TRACER = "@kaged/plugin-host";
/** The value of `SpanStatusCode.ERROR`. */
const STATUS_ERROR = 2;
const UNTRACED: OpenSpan = { carrier: {}, fail() {} };

/** Does `work` in a span where tracing is on, and just does it where `tracing` is null. */
export function withSpan<T>(
  tracing: Tracing | null,
  kind: SpanKind,
  facts: SpanFacts,
  work: (span: OpenSpan) => Promise<T>,
): Promise<T> {
  return tracing ? tracing.span(kind, facts, work) : work(UNTRACED);
}

/** Returns tracing through an API of OpenTelemetry. */
export function createTracing(api: TracingApi): Tracing {
  return new ApiTracing(api);
}

class ApiTracing implements Tracing {
  readonly #api: TracingApi;
  readonly #tracer: ApiTracer;
  readonly #runs: OpenRuns = openRuns();

  constructor(api: TracingApi) {
    this.#api = api;
    this.#tracer = api.trace.getTracer(TRACER, HOST_VERSION);
  }

  async span<T>(kind: SpanKind, facts: SpanFacts, work: (span: OpenSpan) => Promise<T>): Promise<T> {
    const { trace, context } = this.#api;
    const parent = this.#parent(facts);
    const span = this.#start(kind, facts, parent);
    const open = { carrier: carrierOf(span), fail: (reason: string) => void failed(span, reason) };
    try {
      return await context.with(trace.setSpan(parent, span), () => work(open));
    } catch (error) {
      failed(span, reasonOf(error));
      throw error;
    } finally {
      span.end();
    }
  }

  hear(event: string, { agentName = "", conversationId = "", jobId }: RunFacts): void {
    if (event === "agent:start") {
      const { trace, context } = this.#api;
      const under = context.active();
      const job = jobId === undefined ? {} : { attributes: { "kaged.job": jobId } };
      const span = this.#start("run", { name: agentName, agent: agentName, session: conversationId, ...job }, under);
      const forgotten = this.#runs.open({ agentName, conversationId, jobId, span, under: trace.getSpan(under) });
      if (forgotten) failed(forgotten, "never_ended").end();
    }
    if (event !== "agent:end" && event !== "agent:error") return;
    const span = this.#runs.close({ agentName, conversationId, jobId });
    if (event === "agent:error" && span) failed(span, "agent_error");
    span?.end();
  }

  carrier(): TraceCarrier {
    const span = this.#api.trace.getSpan(this.#api.context.active());
    return span ? carrierOf(span) : {};
  }

  #start(kind: SpanKind, facts: SpanFacts, parent: unknown): ApiSpan {
    return this.#tracer.startSpan(`${kind} ${facts.name}`, { attributes: attributesOf(kind, facts) }, parent);
  }

  /**
   * The active context. Where it is still the one in which an emitted run began, the run's span goes in between: an
   * event cannot make a span active for the program that emits it.
   */
  #parent({ agent, session }: SpanFacts): unknown {
    const { trace, context } = this.#api;
    const active = context.active();
    const run = agent === undefined || session === undefined ? null : this.#runs.find(agent, session);
    return run && run.under === trace.getSpan(active) ? trace.setSpan(active, run.span) : active;
  }
}

/** The names OpenTelemetry gives to what agents do, and ours for the rest. */
function attributesOf(kind: SpanKind, { name, agent, session, attributes }: SpanFacts): SpanAttributes {
  return {
    ...(kind === "run" && { "gen_ai.operation.name": "invoke_agent" }),
    ...(kind === "tool" && { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name }),
    ...(kind === "hook" && { "kaged.hook": name }),
    ...(agent !== undefined && { "gen_ai.agent.name": agent }),
    ...(session !== undefined && { "gen_ai.conversation.id": session }),
    ...attributes,
  };
}

function failed(span: ApiSpan, reason: string): ApiSpan {
  span.setAttributes({ "error.type": reason });
  span.setStatus({ code: STATUS_ERROR, message: reason });
  return span;
}

/** A code, never a message: a message may quote what was asked. */
function reasonOf(error: unknown): string {
  if (error instanceof HostError) return error.code;
  return error instanceof Error ? error.name : "error";
}

/** Empty for a span that no SDK records. */
function carrierOf(span: ApiSpan): TraceCarrier {
  const { traceId, spanId, traceFlags } = span.spanContext();
  if (!/^(?!0+$)[0-9a-f]{32}$/.test(traceId) || !/^(?!0+$)[0-9a-f]{16}$/.test(spanId)) return {};
  return { traceparent: `00-${traceId}-${spanId}-${(traceFlags & 0xff).toString(16).padStart(2, "0")}` };
}
