/**
 * Spans for runs, tools, hooks, jobs and compactions. A span carries names and ids; what was asked and answered never
 * goes into one.
 *
 * @module
 */
import { HostError } from "../core/errors/host_error.ts";
import { HOST_VERSION } from "../core/values/version.ts";
import type {
  ApiSpan,
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

/** A run whose start was emitted as an event, and whose end was not yet. */
interface OpenRun extends Omit<RunFacts, "jobId"> {
  readonly jobId: string | undefined;
  readonly span: ApiSpan;
  /** The span that was active where it began. */
  readonly under: ApiSpan | undefined;
}

/** Runs that a program may leave open by never emitting their end; the oldest is then ended for it. */
const MAX_OPEN = 1000;

/** Returns tracing through an API of OpenTelemetry. */
export function createTracing({ trace, context }: TracingApi): Tracing {
  const tracer = trace.getTracer(TRACER, HOST_VERSION);
  const runs: OpenRun[] = [];

  function start(kind: SpanKind, facts: SpanFacts, parent: unknown): ApiSpan {
    return tracer.startSpan(`${kind} ${facts.name}`, { attributes: attributesOf(kind, facts) }, parent);
  }

  /**
   * The active context. Where it is still the one in which an emitted run began, the run's span goes in between: an
   * event cannot make a span active for the program that emits it.
   */
  function parentOf({ agent, session }: SpanFacts): unknown {
    const active = context.active();
    const run = runs.findLast(({ agentName, conversationId }) => agentName === agent && conversationId === session);
    return run && run.under === trace.getSpan(active) ? trace.setSpan(active, run.span) : active;
  }

  return {
    async span(kind, facts, work) {
      const parent = parentOf(facts);
      const span = start(kind, facts, parent);
      const open = { carrier: carrierOf(span), fail: (reason: string) => void failed(span, reason) };
      try {
        return await context.with(trace.setSpan(parent, span), () => work(open));
      } catch (error) {
        failed(span, reasonOf(error));
        throw error;
      } finally {
        span.end();
      }
    },
    hear(event, { agentName = "", conversationId = "", jobId }) {
      if (event === "agent:start") {
        const active = context.active();
        const attributes = jobId === undefined ? {} : { "kaged.job": jobId };
        const facts = { name: agentName, agent: agentName, session: conversationId, attributes };
        const span = start("run", facts, active);
        runs.push({ agentName, conversationId, jobId, span, under: trace.getSpan(active) });
        if (runs.length > MAX_OPEN) failed(runs.shift()!.span, "never_ended").end();
      }
      if (event !== "agent:end" && event !== "agent:error") return;
      const at = runs.findLastIndex((run) =>
        run.agentName === agentName && run.conversationId === conversationId && run.jobId === jobId
      );
      if (at < 0) return;
      const [{ span }] = runs.splice(at, 1) as [OpenRun];
      if (event === "agent:error") failed(span, "agent_error");
      span.end();
    },
    carrier() {
      const span = trace.getSpan(context.active());
      return span ? carrierOf(span) : {};
    },
  };
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
