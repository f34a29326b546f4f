/**
 * The types of tracing. The API of OpenTelemetry comes in as an object: none of it is imported unless a host traces.
 *
 * @module
 */

import type { RunFields } from "../events/types.ts";

/** Facts of a span, as OpenTelemetry takes them. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

/** A span, as far as the host uses it. */
export interface ApiSpan {
  /** The ids of the span and of its trace. */
  spanContext(): { readonly traceId: string; readonly spanId: string; readonly traceFlags: number };
  /** Adds attributes to those it has. */
  setAttributes(attributes: SpanAttributes): unknown;
  /** Sets success or failure, by the numbers of OpenTelemetry. */
  setStatus(status: { readonly code: number; readonly message?: string }): unknown;
  /** Ends the span; later calls do nothing. */
  end(): void;
}

/** Makes spans, as far as the host uses it. */
export interface ApiTracer {
  /** Starts a span below the one in `context`. */
  startSpan(name: string, options: { readonly attributes: SpanAttributes }, context: unknown): ApiSpan;
}

/** The API of OpenTelemetry, as far as the host uses it: what `import * as api from "@opentelemetry/api"` gives. */
export interface TracingApi {
  /** Tracers, and the spans in contexts. */
  readonly trace: {
    /** The program's tracer of that name. */
    getTracer(name: string, version?: string): ApiTracer;
    /** Returns the span in a context. */
    getSpan(context: unknown): ApiSpan | undefined;
    /** Returns a context with a span in it. */
    setSpan(context: unknown, span: ApiSpan): unknown;
  };
  /** Contexts, which follow the work across its waits. */
  readonly context: {
    /** The context of this place in the program. */
    active(): unknown;
    /** Calls `work` in a context. */
    with<T>(context: unknown, work: () => T): T;
  };
}

/** The kind of work that a span measures. */
export type SpanKind = "run" | "tool" | "hook" | "job" | "compaction";

/** The facts of a piece of work before it is done. Never its input: spans carry names and ids. */
export interface SpanFacts {
  /** Name of the tool, hook or job: the span is called `<kind> <name>`. */
  readonly name: string;
  /** Path of the agent that works. */
  readonly agent?: string;
  /** Id of the session it works in. */
  readonly session?: string;
  /** Further attributes of the span. */
  readonly attributes?: SpanAttributes;
}

/** The W3C trace context, for a program that goes on with a trace; empty where nothing is recorded. */
export interface TraceCarrier {
  /** Trace, span and flags in one text. */
  readonly traceparent?: string;
}

/** A span while its work is done. */
export interface OpenSpan {
  /** The fields to add to the `_context` of a call. */
  readonly carrier: TraceCarrier;
  /** Says that the work failed without throwing, and why: a stable word. */
  fail(reason: string): void;
}

/** Makes spans of the host's work. */
export interface Tracing {
  /**
   * Does `work` in a span that is active meanwhile and ends with it. An error of `work` is noted by its code and thrown.
   */
  span<T>(kind: SpanKind, facts: SpanFacts, work: (span: OpenSpan) => Promise<T>): Promise<T>;
  /** Opens or ends the span of a run, for the events `agent:start`, `agent:end` and `agent:error` of the embedder. */
  hear(event: string, run: RunFacts): void;
  /** The trace context of this place in the program. */
  carrier(): TraceCarrier;
}

/** The fields of an event that name its run. */
export type RunFacts = Readonly<Partial<Pick<RunFields, "agentName" | "conversationId" | "jobId">>>;
