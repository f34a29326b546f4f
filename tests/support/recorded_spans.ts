/**
 * OpenTelemetry's SDK with its in-memory exporter, as a program would set it up.
 *
 * @module
 */
import { context, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";

/** Spans that have ended. */
export interface RecordedSpans extends Disposable {
  /** All so far, in the order they ended. */
  readonly spans: readonly ReadableSpan[];
  /** The one of that name. */
  named(name: string): ReadableSpan;
  /** Each span's name below that of its parent: `parent > child`. */
  readonly shape: readonly string[];
}

/** Registers an SDK until the end of the test: `using recorded = recordSpans()`. */
export function recordSpans(): RecordedSpans {
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  trace.setGlobalTracerProvider(provider);
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  const spans = (): ReadableSpan[] => exporter.getFinishedSpans();
  return {
    get spans() {
      return spans();
    },
    named(name) {
      const found = spans().find((span) => span.name === name);
      if (!found) throw new Error(`No span "${name}" among ${spans().map((span) => span.name).join(", ")}`);
      return found;
    },
    get shape() {
      return spans().map((span) => {
        const parent = spans().find((other) => other.spanContext().spanId === span.parentSpanContext?.spanId);
        return parent ? `${parent.name} > ${span.name}` : span.name;
      });
    },
    [Symbol.dispose]() {
      trace.disable();
      context.disable();
    },
  };
}
