/**
 * Figures of a hook as a custom event of Application Insights. What does not look like a name, a number, or yes or no
 * does not leave, whoever emitted it.
 *
 * @module
 */
import type { EmittedEvents } from "../../events/types.ts";
import { isPlainName } from "../../hooks/sources/builtin/plain_name.ts";

/** An event as the ingestion API takes it. */
export interface InsightsEnvelope {
  /** What it is to the API. */
  readonly name: "Microsoft.ApplicationInsights.Event";
  /** When, ISO 8601. */
  readonly time: string;
  /** The key of the resource. */
  readonly iKey: string;
  /** Ids it belongs to. */
  readonly tags: Readonly<Record<string, string>>;
  /** The event. */
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
      // Else the API puts in where the program is.
      "ai.location.ip": "0.0.0.0",
    },
    data: { baseType: "EventData", baseData: { ver: 2, name: `kaged.hook.${plain(hook)}`, properties, measurements } },
  };
}

function plain(value: unknown): string {
  return isPlainName(value) ? value : "other";
}
