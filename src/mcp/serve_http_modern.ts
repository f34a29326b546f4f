/**
 * Streamable HTTP of the revisions without a handshake (2026-07-28). Nothing in a request says which requests belong to
 * one client, so everyone who has the token shares one session of the host.
 *
 * @module
 */
import type { Clock } from "../core/ports/ports.ts";
import { isMap } from "../core/values/plain_data.ts";
import { type IdleWatch, idleWatch } from "./serve_http_idle.ts";
import { headerChecked, type HttpSdk, type McpSeat } from "./serve_http_sdk.ts";
import { patient, watched } from "./serve_http_streams.ts";

/** Options of {@link modernRequests}. */
export interface ModernOptions {
  readonly sdk: HttpSdk;
  readonly clock: Clock;
  readonly idleMs: number;
  /** Opens a session of the host; called again for the first request after the one before was ended. */
  readonly open: () => Promise<McpSeat>;
}

/** Answers requests of the newer revisions. */
export interface ModernRequests {
  /** Answers a request; `body` is its JSON. */
  fetch(request: Request, body: unknown, signal: AbortSignal | null): Promise<Response>;
  /** Ends calls that still run, every stream, and the session. */
  close(): Promise<void>;
}

/** Most `subscriptions/listen` streams at a time. */
const MAX_SUBSCRIPTIONS = 100;

interface Shared {
  readonly seat: Promise<McpSeat>;
  readonly watch: IdleWatch;
}

/** Serves clients of the newer revisions. */
export function modernRequests({ sdk, clock, idleMs, open }: ModernOptions): ModernRequests {
  let shared: Shared | null = null;
  const handler = sdk.createMcpHandler(async () => headerChecked(sdk, await current().seat), {
    legacy: "reject",
    maxSubscriptions: MAX_SUBSCRIPTIONS,
  });

  function current(): Shared {
    return shared ??= { seat: begin(), watch: idleWatch({ clock, idleMs, onIdle: () => void leave() }) };
  }

  async function begin(): Promise<McpSeat> {
    try {
      const seat = await open();
      seat.on((event) => handler.bus.publish(event));
      return seat;
    } catch (error) {
      shared = null; // The next request tries again.
      throw error;
    }
  }

  async function leave(): Promise<void> {
    const left = shared;
    shared = null;
    left?.watch.stop();
    await (await left?.seat)?.close();
  }

  async function answer({ url, method, headers }: Request, body: unknown, signal: AbortSignal): Promise<Response> {
    return await handler.fetch(new Request(url, { method, headers, signal }), { parsedBody: body });
  }

  return {
    async fetch(request, body, signal) {
      const { seat, watch } = current();
      const done = watch.use();
      let stop = (): void => {};
      const end = (): void => {
        stop();
        done();
      };
      try {
        const uris = listenedTo(body);
        if (uris.length > 0) stop = (await seat).watch(uris);
        return watched(await patient((gone) => answer(request, body, gone), { clock, signal }), end);
      } catch (error) {
        end();
        throw error;
      }
    },
    async close() {
      await handler.close();
      await leave();
    },
  };
}

/** The resources that a `subscriptions/listen` request names; none for any other request. */
function listenedTo(body: unknown): readonly string[] {
  if (!isMap(body) || body.method !== "subscriptions/listen" || !isMap(body.params)) return [];
  const { notifications } = body.params;
  const uris = isMap(notifications) ? notifications.resourceSubscriptions : [];
  return Array.isArray(uris) ? [...new Set(uris)].filter((uri) => typeof uri === "string") : [];
}
