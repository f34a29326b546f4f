/**
 * Streamable HTTP of the revisions without a handshake (2026-07-28). Nothing in a request says which requests belong to
 * one client, so everyone who has the token shares one session of the host.
 *
 * @module
 */
import type { Clock } from "../core/ports/ports.ts";
import { isMap } from "../core/values/plain_data.ts";
import { type IdleWatch, idleWatch } from "./serve_http_idle.ts";
import type { HttpMcpServer, HttpSdk, ServerEvent } from "./serve_http_sdk.ts";
import { patient, watched } from "./serve_http_streams.ts";

/** The session of the host that requests without a handshake are made in. */
export interface SharedSeat {
  /** Makes the server of one request. */
  server(): Promise<HttpMcpServer>;
  /** Calls `changed` whenever the resource changes, until the returned function is called. */
  watch(uri: string, changed: () => void): Promise<() => Promise<void>>;
  /** Ends the session of the host. */
  close(): Promise<void>;
}

/** Options of {@link modernRequests}. */
export interface ModernOptions {
  readonly sdk: HttpSdk;
  readonly clock: Clock;
  readonly idleMs: number;
  /** Opens the session; called again for the first request after the one before was ended. */
  readonly open: () => SharedSeat;
  /** Calls the listener when a list has changed, until the returned function is called. */
  readonly onChange: (listener: (event: ServerEvent) => void) => () => void;
  readonly onError: (error: Error) => void;
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
/** Most resources that one stream is told of. */
const MAX_WATCHED = 1_000;

/** Serves clients of the newer revisions. */
export function modernRequests({ sdk, clock, idleMs, open, onChange, onError }: ModernOptions): ModernRequests {
  let shared: { readonly seat: SharedSeat; readonly watch: IdleWatch } | null = null;
  const handler = sdk.createMcpHandler(() => current().seat.server(), {
    legacy: "reject",
    onerror: onError,
    maxSubscriptions: MAX_SUBSCRIPTIONS,
  });
  const stopChanges = onChange((event) => handler.bus.publish(event));

  function current(): { readonly seat: SharedSeat; readonly watch: IdleWatch } {
    return shared ??= { seat: open(), watch: idleWatch({ clock, idleMs, onIdle: () => void leave() }) };
  }

  async function leave(): Promise<void> {
    const left = shared;
    shared = null;
    left?.watch.stop();
    await left?.seat.close();
  }

  async function answer(request: Request, body: unknown, signal: AbortSignal): Promise<Response> {
    const { url, method, headers } = request;
    return await handler.fetch(new Request(url, { method, headers, signal }), { parsedBody: body });
  }

  /** Has the resources watched that a `subscriptions/listen` request names; returns a function that ends it. */
  async function watchResources(body: unknown): Promise<() => void> {
    const { seat } = current();
    const stops: (() => Promise<void>)[] = [];
    for (const uri of listenedTo(body)) {
      const changed = (): void => handler.bus.publish({ kind: "resource_updated", uri });
      // A resource that nobody has, or that cannot be watched, changes nothing for the others.
      await seat.watch(uri, changed).then((stop) => stops.push(stop), onError);
    }
    return () => {
      for (const stop of stops) stop().catch(onError);
    };
  }

  return {
    async fetch(request, body, signal) {
      const done = current().watch.use();
      let stop = (): void => {};
      const end = (): void => {
        stop();
        done();
      };
      try {
        stop = await watchResources(body);
        return watched(await patient((gone) => answer(request, body, gone), { clock, signal }), end);
      } catch (error) {
        end();
        throw error;
      }
    },
    async close() {
      stopChanges();
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
  if (!Array.isArray(uris)) return [];
  return [...new Set(uris)].filter((uri) => typeof uri === "string").slice(0, MAX_WATCHED);
}
