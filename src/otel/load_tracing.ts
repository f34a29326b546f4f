/**
 * Loads OpenTelemetry's API when a host is to trace.
 *
 * @module
 */
import { HostError, messageOf } from "../core/errors/host_error.ts";
import { createTracing } from "./tracing.ts";
import type { Tracing, TracingApi } from "./types.ts";

/** Whether a host traces: `true` loads `@opentelemetry/api`; an object is that API as the program has it. */
export type TracingOption = boolean | {
  /** As `import * as api from "@opentelemetry/api"` gives it. */
  readonly api: TracingApi;
};

/**
 * Returns tracing when it is asked for, else null, and then nothing is loaded.
 *
 * @throws {HostError} `host.tracing_missing` when `@opentelemetry/api` is not installed.
 */
export async function loadTracing(
  option: TracingOption | undefined,
  importApi: () => Promise<TracingApi> = importTracingApi,
): Promise<Tracing | null> {
  if (!option) return null;
  if (typeof option === "object") return createTracing(option.api);
  return createTracing(await importApi().catch(tracingMissing));
}

/** `.catch()` right behind the `import()`: bundlers then leave a package that is not installed to run time. */
function importTracingApi(): Promise<TracingApi> {
  return import("@opentelemetry/api").catch(tracingMissing) as Promise<TracingApi>;
}

function tracingMissing(cause: unknown): never {
  if (cause instanceof HostError) throw cause;
  throw new HostError("host.tracing_missing", `Cannot trace without "@opentelemetry/api": ${messageOf(cause)}`, {
    hint: 'Run "npm install @opentelemetry/api", or leave the option "tracing" out',
    cause,
  });
}
