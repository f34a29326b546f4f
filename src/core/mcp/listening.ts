/**
 * `subscriptions/listen`: the one open request over which a server of the newer revisions reports changes.
 *
 * @module
 */
import { HostError } from "../errors/host_error.ts";
import type { Clock } from "../ports/ports.ts";
import { isMap } from "../values/plain_data.ts";
import type { Connection } from "../wire/connection_types.ts";
import { META } from "./messages.ts";
import type { McpDefinition, McpServerInfo } from "./peer.ts";

/** Time before a request that the server has ended is made again. */
const REST_MS = 5_000;
/** Time in which a server must say what it will report. */
const ACKNOWLEDGE_MS = 10_000;

/** Ports of a listener. */
export interface ListeningOptions {
  readonly connection: Connection;
  readonly info: McpServerInfo;
  readonly clock: Clock;
  /** Adds what the client is and can to params. */
  readonly withMeta: (params: McpDefinition) => McpDefinition;
}

/** One request that is open, or about to be. */
interface Stream {
  readonly uris: readonly string[];
  readonly controller: AbortController;
  /** Resolves with the URIs whose changes the server will report. */
  readonly acknowledged: PromiseWithResolvers<readonly unknown[]>;
  id: number | null;
}

/** Keeps one request open, with all resources in it; another one takes its place whenever these change. */
export class Listening {
  readonly #options: ListeningOptions;
  readonly #lists: McpDefinition;
  readonly #uris = new Set<string>();
  #current: Stream | null = null;
  /** Streams that have been sent, by the id of their request. */
  readonly #byId = new Map<unknown, Stream>();
  #sending: Stream | null = null;

  /** Asks nothing yet. */
  constructor(options: ListeningOptions) {
    this.#options = options;
    this.#lists = Object.fromEntries(
      ["tools", "resources", "prompts"].filter((part) => {
        const offered = options.info.capabilities[part];
        return isMap(offered) && offered.listChanged === true;
      }).map((part) => [`${part}ListChanged`, true]),
    );
  }

  /** Opens the request where the server reports changes of a list. */
  begin(): void {
    this.#open();
  }

  /** Has changes of a resource reported. Rejects when the server does not agree to. */
  async add(uri: string): Promise<void> {
    this.#uris.add(uri);
    try {
      const agreed = await this.#open().acknowledged.promise;
      if (!agreed.includes(uri)) {
        throw new HostError("mcp.not_offered", `The server does not report changes of "${uri.slice(0, 200)}"`, {
          data: { uri },
        });
      }
    } catch (error) {
      this.#uris.delete(uri);
      throw error;
    }
  }

  /** Has changes of a resource reported no longer. */
  async remove(uri: string): Promise<void> {
    if (!this.#uris.delete(uri)) return;
    await this.#open().acknowledged.promise;
  }

  /** Takes the server's word for what it will report. */
  onNotification(method: string, params: unknown): boolean {
    if (method !== "notifications/subscriptions/acknowledged") return false;
    const { _meta, notifications } = isMap(params) ? params : {};
    const stream = this.#byId.get(isMap(_meta) ? _meta[META.subscription] : undefined);
    const agreed = isMap(notifications) ? notifications.resourceSubscriptions : undefined;
    stream?.acknowledged.resolve(Array.isArray(agreed) ? agreed : []);
    return true;
  }

  /** Takes the id of the request that goes out. */
  onSent(id: number): void {
    if (this.#sending) this.#byId.set(this.#sending.id = id, this.#sending);
    this.#sending = null;
  }

  /** Sends the request with all that is wanted now; the one before is ended as soon as this one stands. */
  #open(): Stream {
    const { connection, clock, withMeta } = this.#options;
    const uris = [...this.#uris];
    const acknowledged = Promise.withResolvers<readonly unknown[]>();
    const stream: Stream = { uris, controller: new AbortController(), acknowledged, id: null };
    this.#current = stream;
    void acknowledged.promise.then(() => this.#endOthers(stream), () => {});
    const notifications = { ...this.#lists, ...(uris.length > 0 && { resourceSubscriptions: uris }) };
    if (Object.keys(notifications).length === 0) {
      acknowledged.resolve([]);
      return stream;
    }
    const cancel = clock.after(ACKNOWLEDGE_MS, () => {
      acknowledged.reject(new HostError("protocol.timeout", "The server did not acknowledge subscriptions/listen"));
    });
    void acknowledged.promise.then(cancel, cancel);
    this.#sending = stream;
    const { signal } = stream.controller;
    connection.call("subscriptions/listen", withMeta({ notifications }), { timeoutMs: Infinity, signal }).then(
      () => this.#onEnd(stream, new HostError("mcp.malformed", "The server ended subscriptions/listen at once")),
      (error: HostError) => this.#onEnd(stream, error),
    );
    return stream;
  }

  /** Ends the requests that were sent before `stream`, which stands now. */
  #endOthers(stream: Stream): void {
    for (const other of this.#byId.values()) {
      if (stream.id === null || other.id! < stream.id) other.controller.abort();
    }
  }

  #onEnd(stream: Stream, error: HostError): void {
    const { connection, clock } = this.#options;
    if (stream.id !== null) this.#byId.delete(stream.id);
    stream.acknowledged.reject(error);
    if (this.#current !== stream || connection.closed || error.rpc === -32601) return;
    clock.after(REST_MS, () => {
      if (this.#current === stream && !connection.closed) this.#open();
    });
  }
}
