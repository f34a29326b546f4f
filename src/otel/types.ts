/**
 * What tracing takes and gives. The API of OpenTelemetry comes in as an object: the core imports none of it unless it
 * is asked to.
 *
 * @module
 */

/** Facts of a span, as OpenTelemetry takes them. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

/** A span, as far as the host uses it. */
export interface ApiSpan {
  /** Which span this is. */
  spanContext(): { readonly traceId: string; readonly spanId: string; readonly traceFlags: number };
  /** Adds facts. */
  setAttributes(attributes: SpanAttributes): unknown;
  /** Says how it went. */
  setStatus(status: { readonly code: number; readonly message?: string }): unknown;
  /** Ends it. */
  end(): void;
}

/** Makes spans. */
export interface ApiTracer {
  /** Starts a span below the one in `context`. */
  startSpan(name: string, options: { readonly attributes: SpanAttributes }, context: unknown): ApiSpan;
}

/** The API of OpenTelemetry, as far as the host uses it: what `import * as api from "@opentelemetry/api"` gives. */
export interface TracingApi {
  /** Spans. */
  readonly trace: {
    /** The program's tracer of that name. */
    getTracer(name: string, version?: string): ApiTracer;
    /** The span in a context. */
    getSpan(context: unknown): ApiSpan | undefined;
    /** A context with a span in it. */
    setSpan(context: unknown, span: ApiSpan): unknown;
  };
  /** What is going on. */
  readonly context: {
    /** The context of this place in the program. */
    active(): unknown;
    /** Calls `work` in a context. */
    with<T>(context: unknown, work: () => T): T;
  };
}

/** What a span is about. */
export type SpanKind = "run" | "tool" | "hook" | "job" | "compaction";

/** What is known of a piece of work before it is done. Never its input: spans carry names and ids. */
export interface SpanFacts {
  /** What is done, such as the name of a tool: the span is called `<kind> <name>`. */
  readonly name: string;
  /** Agent path. */
  readonly agent?: string;
  /** Session id. */
  readonly session?: string;
  /** More. */
  readonly attributes?: SpanAttributes;
}

/** The W3C trace context, for whoever goes on with a trace; empty where nothing is recorded. */
export interface TraceCarrier {
  /** Trace, span and flags in one text. */
  readonly traceparent?: string;
}

/** A span while its work is done. */
export interface OpenSpan {
  /** What goes into the context of a call. */
  readonly carrier: TraceCarrier;
  /** Says that the work failed without throwing, and why: a stable word. */
  fail(reason: string): void;
}

/** Makes spans of the host's work. */
export interface Tracing {
  /**
   * Does `work` in a span that is active meanwhile and ends with it. What `work` throws is thrown, and its code noted.
   */
  span<T>(kind: SpanKind, facts: SpanFacts, work: (span: OpenSpan) => Promise<T>): Promise<T>;
  /** Hears of a run that the embedder tells of by `agent:start`, `agent:end` and `agent:error`. */
  hear(event: string, run: RunFacts): void;
  /** The trace context of this place in the program. */
  carrier(): TraceCarrier;
}

/** What an event says of a run. */
export interface RunFacts {
  /** Agent path. */
  readonly agentName?: string;
  /** Session id. */
  readonly conversationId?: string;
  /** The job it is. */
  readonly jobId?: string;
}
