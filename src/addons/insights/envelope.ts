/**
 * Figures of a hook as a custom event of Application Insights. Only names, numbers and booleans are sent, whoever emitted
 * the figures.
 *
 * @module
 */
import type { EmittedEvents } from "../../events/types.ts";
import { isPlainName } from "../../hooks/sources/builtin/plain_name.ts";

/** An event as the ingestion API takes it. */
export interface InsightsEnvelope {
  readonly name: "Microsoft.ApplicationInsights.Event";
  readonly time: string;
  readonly iKey: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly data: {
    readonly baseType: "EventData";
    readonly baseData: {
      readonly ver: 2;
      readonly name: string;
      readonly properties: Readonly<Record<string, string>>;
      readonly measurements: Readonly<Record<string, number>>;
    };
  };
}

/** Returns the envelope of a metric, to be kept under `key`. */
export function insightsEnvelope(metric: EmittedEvents["hook:metric"], key: string): InsightsEnvelope {
  const { agentName, conversationId, correlationId, hook, figures, timestamp } = metric;
  const properties: Record<string, string> = { agent: plain(agentName), hook: plain(hook) };
  const measurements: Record<string, number> = {};
  for (const [name, value] of Object.entries(figures)) {
    if (!isPlainName(name) || (typeof value === "number" && !Number.isFinite(value))) continue;
    if (typeof value === "number") measurements[name] = value;
    else properties[name] = typeof value === "boolean" ? String(value) : plain(value);
  }
  return {
    name: "Microsoft.ApplicationInsights.Event",
    time: timestamp,
    iKey: key,
    tags: {
      "ai.operation.id": plain(correlationId),
      "ai.session.id": plain(conversationId),
      "ai.cloud.role": "kaged",
      // Without it the API records the address of the program.
      "ai.location.ip": "0.0.0.0",
    },
    data: { baseType: "EventData", baseData: { ver: 2, name: `kaged.hook.${plain(hook)}`, properties, measurements } },
  };
}

function plain(value: unknown): string {
  return isPlainName(value) ? value : "other";
}
