/**
 * Sends the figures of hooks to Application Insights.
 *
 * @module
 */
import process from "node:process";
import { clock as systemClock } from "../../adapters/shared/clock.ts";
import { HostError, messageOf } from "../../core/errors/host_error.ts";
import type { Clock } from "../../core/ports/ports.ts";
import type { EmittedEvents } from "../../events/types.ts";
import { isPlainName } from "../../hooks/sources/builtin/plain_name.ts";
import { type EventSource, hearEvents, warner } from "../event_source.ts";

/** The resource and the pace of an exporter. */
export interface InsightsExporterOptions {
  /** Names the resource. Default: `$APPINSIGHTS_CONNECTION_STRING`. Null, empty or not set: nothing is sent. */
  readonly connectionString?: string | null;
  /** Sends a request. Default: the runtime's own `fetch`. */
  readonly fetch?: (request: Request) => Promise<Response>;
  /** Time. Default: the system's. */
  readonly clock?: Clock;
  /** For how long figures are gathered before they are sent together. Default 5 000. */
  readonly flushMs?: number;
  /** Figures that may wait; what comes above is dropped and counted. Default 1 000. */
  readonly maxPending?: number;
  /** Called when figures do not arrive. Default: `console.error`. */
  readonly onWarning?: (message: string) => void;
}

/** Figures on their way to Application Insights. */
export interface InsightsExporter extends AsyncDisposable {
  /** Whether there is a connection string. Without one the exporter does nothing. */
  readonly isOn: boolean;
  /** Figures sent, refused by the API, and dropped because too many waited. */
  readonly counts: { readonly sent: number; readonly failed: number; readonly dropped: number };
  /** Resolves when every figure so far is sent, or one more try to send has failed. */
  flush(): Promise<void>;
  /** Ends it, after one try to send what waits. What cannot be sent then is lost, and counted as failed. */
  close(): Promise<void>;
}

/** The outcome of one request: so many figures were refused, or the request is to be repeated. */
type Fate = { readonly refused: number; readonly reason: string } | { readonly again: string };

const VARIABLE = "APPINSIGHTS_CONNECTION_STRING";
const MAX_BATCH = 100;
const TIMEOUT_MS = 10_000;
const MAX_REST_MS = 60_000;
/** Too late, too many, and the API's own word for a quota that is used up for now. */
const AGAIN: readonly number[] = [408, 429, 439];

/**
 * Sends the event `hook:metric`, which `telemetry()` emits, and no other: figures, and no text that a person has written.
 * Without a connection string it does nothing. No failure reaches the agent.
 *
 * @throws {HostError} `addons.invalid_option` for a connection string that is none.
 */
export function createInsightsExporter(source: EventSource, options: InsightsExporterOptions = {}): InsightsExporter {
  const { connectionString = process.env[VARIABLE], clock = systemClock } = options;
  const { fetch = (request: Request) => globalThis.fetch(request) } = options;
  const target = connectionString ? readConnectionString(connectionString) : null;
  const queue = figureQueue(post, clock, options);

  const end = target === null ? () => {} : hearEvents(source, ["hook:metric"], (event) => {
    if (event.type === "hook:metric") queue.add(insightsEnvelope(event, target.key));
  });

  async function post(batch: readonly InsightsEnvelope[]): Promise<Fate> {
    const abort = new AbortController();
    const cancel = clock.after(TIMEOUT_MS, () => abort.abort(new Error(`No answer within ${TIMEOUT_MS} ms`)));
    try {
      const response = await fetch(
        new Request(target!.url, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify(batch),
          redirect: "error", // Figures go where the operator said, and nowhere else.
          signal: abort.signal,
        }),
      );
      return await fateOf(response, batch.length);
    } catch (error) {
      return { again: messageOf(error) };
    } finally {
      cancel();
    }
  }

  const close = async (): Promise<void> => {
    end();
    await queue.close();
  };
  return {
    isOn: target !== null,
    get counts() {
      return { ...queue.counts };
    },
    flush: queue.flush,
    close,
    [Symbol.asyncDispose]: close,
  };
}

type Post = (batch: readonly InsightsEnvelope[]) => Promise<Fate>;

/** Gathers figures and posts them in batches, after longer rests for as long as they do not arrive. */
function figureQueue(post: Post, clock: Clock, options: InsightsExporterOptions) {
  const { flushMs = 5_000, maxPending = 1_000 } = options;
  const warn = warner(options.onWarning);
  const counts = { sent: 0, failed: 0, dropped: 0 };
  const waiting: InsightsEnvelope[] = [];
  let cancelTimer: (() => void) | null = null;
  let sending: Promise<void> | null = null;
  let failures = 0;
  let isFull = false;

  const restMs = (): number => Math.min(flushMs * 2 ** failures, Math.max(flushMs, MAX_REST_MS));

  function add(figure: InsightsEnvelope): void {
    if (waiting.length >= maxPending) return drop();
    isFull = false;
    waiting.push(figure);
    if (waiting.length >= MAX_BATCH && failures === 0) void send();
    else cancelTimer ??= clock.after(restMs(), () => void send());
  }

  function drop(): void {
    counts.dropped++;
    if (!isFull) warn(`${waiting.length} figures wait for Application Insights: more are dropped`);
    isFull = true;
  }

  /** Sends all that waits, a batch at a time; a second caller waits for the first. */
  function send(): Promise<void> {
    cancelTimer?.();
    cancelTimer = null;
    return sending ??= sendAll().finally(() => {
      sending = null;
      if (waiting.length > 0) cancelTimer ??= clock.after(restMs(), () => void send());
    });
  }

  async function sendAll(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, MAX_BATCH);
      const fate = await post(batch);
      if ("again" in fate) {
        if (failures++ === 0) warn(`Figures do not reach Application Insights, and are sent again: ${fate.again}`);
        return;
      }
      failures = 0;
      waiting.splice(0, batch.length);
      counts.sent += batch.length - fate.refused;
      counts.failed += fate.refused;
      if (fate.refused > 0) warn(`Application Insights did not take ${fate.refused} figures: ${fate.reason}`);
    }
  }

  const flush = async (): Promise<void> => {
    await sending; // It may have begun before the newest figures came.
    await send();
  };
  const close = async (): Promise<void> => {
    await flush();
    cancelTimer?.();
    if (waiting.length === 0) return;
    warn(`${waiting.length} figures did not reach Application Insights before the end`);
    counts.failed += waiting.splice(0).length;
  };
  return { counts, add, flush, close };
}

async function fateOf(response: Response, count: number): Promise<Fate> {
  const { status } = response;
  if (AGAIN.includes(status) || status >= 500) {
    await response.body?.cancel();
    return { again: `It answers ${status}` };
  }
  if (status === 206) {
    const said: unknown = await response.json().catch(() => null);
    const accepted = Number((said as { itemsAccepted?: unknown } | null)?.itemsAccepted) || 0;
    return { refused: count - Math.max(0, Math.min(count, accepted)), reason: "It answers 206" };
  }
  await response.body?.cancel();
  return { refused: response.ok ? 0 : count, reason: `It answers ${status}` };
}

/** The resource that figures are sent to. */
interface InsightsTarget {
  /** The key of the resource. It names it, and is no secret. */
  readonly key: string;
  /** URL that events are posted to. */
  readonly url: string;
}

const KEY = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const LOOPBACK: readonly string[] = ["localhost", "127.0.0.1", "[::1]"];
const DEFAULT_ENDPOINT = "https://dc.services.visualstudio.com";

/** Reads a connection string. Throws `addons.invalid_option` with the part that is wrong. */
export function readConnectionString(text: string): InsightsTarget {
  const parts = new Map(
    text.split(";").filter((part) => part.trim() !== "").map((part): [string, string] => {
      const at = part.indexOf("=");
      if (at < 1) throw invalid("it is no list of name=value pairs with ; between them");
      return [part.slice(0, at).trim().toLowerCase(), part.slice(at + 1).trim()];
    }),
  );
  const key = parts.get("instrumentationkey") ?? "";
  if (!KEY.test(key)) throw invalid("its InstrumentationKey is missing, or no UUID");
  const suffix = parts.get("endpointsuffix");
  const endpoint = parts.get("ingestionendpoint") ?? (suffix ? `https://dc.${suffix}` : DEFAULT_ENDPOINT);
  const url = URL.parse(endpoint);
  const isOpen = url?.protocol === "http:" && LOOPBACK.includes(url.hostname);
  if (url === null || (url.protocol !== "https:" && !isOpen)) throw invalid("its IngestionEndpoint is no https:// URL");
  if (url.username !== "" || url.password !== "") throw invalid("its IngestionEndpoint holds a user or a password");
  return { key, url: `${url.origin}${url.pathname.replace(/\/+$/, "")}/v2.1/track` };
}

function invalid(problem: string): HostError {
  return new HostError("addons.invalid_option", `The connection string cannot be used: ${problem}`, {
    data: { option: "connectionString" },
    hint: "Copy it from the resource's overview in the Azure portal: InstrumentationKey=…;IngestionEndpoint=https://…",
  });
}

/** An event as the ingestion API takes it. */
interface InsightsEnvelope {
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
function insightsEnvelope(metric: EmittedEvents["hook:metric"], key: string): InsightsEnvelope {
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
