/**
 * Listeners to changes of resources. A server is subscribed to once for each URI, however many listen, and again after
 * it has started anew.
 *
 * @module
 */
import type { McpServer, McpServers } from "./mcp_servers.ts";

/** Listeners to one URI of one instance. */
interface Subscription {
  readonly server: McpServer;
  readonly uri: string;
  readonly listeners: Set<Listener>;
  /** The last request to the server about it: they are made one after the other. */
  asked: Promise<void>;
}

/** An object of its own for each call: the same function may be added twice. */
interface Listener {
  readonly session: string;
  readonly call: () => void;
}

/** Most URIs that one instance is subscribed to. */
export const MAX_SUBSCRIPTIONS = 1_000;

/** The subscriptions of a host. */
export class McpSubscriptions {
  readonly #servers: McpServers;
  readonly #onTrouble: (server: McpServer, error: unknown) => void;
  readonly #byKey = new Map<string, Subscription>();

  /** `onTrouble` gets failures that nobody waits for. */
  constructor(servers: McpServers, onTrouble: (server: McpServer, error: unknown) => void) {
    this.#servers = servers;
    this.#onTrouble = onTrouble;
  }

  /** Number of URIs that an instance is subscribed to. */
  count({ instance }: Pick<McpServer, "instance">): number {
    return [...this.#byKey.values()].filter(({ server }) => server.instance === instance).length;
  }

  /** Adds a listener; the first of a URI subscribes. Returns what removes it. Rejects as the server answered. */
  async add(server: McpServer, uri: string, listener: Listener): Promise<() => Promise<void>> {
    const key = `${server.instance} ${uri}`;
    const known = this.#byKey.get(key);
    const one = known ?? { server, uri, listeners: new Set<Listener>(), asked: Promise.resolve() };
    this.#byKey.set(key, one);
    one.listeners.add(listener);
    if (!known) one.asked = this.#servers.peer(server).subscribe(uri);
    try {
      await one.asked;
    } catch (error) {
      await this.#remove(key, one, listener);
      throw error;
    }
    return () => this.#remove(key, one, listener);
  }

  /** Calls the listeners of a resource that has changed. A server may also name a part of what was subscribed to. */
  updated(instance: string, changed: string): void {
    for (const { server, uri, listeners } of [...this.#byKey.values()]) {
      if (server.instance !== instance || !isWithin(changed, uri)) continue;
      for (const { call } of [...listeners]) call();
    }
  }

  /** Subscribes to everything of a server again that has started anew. */
  renew(instance: string): void {
    for (const one of this.#byKey.values()) {
      if (one.server.instance !== instance) continue;
      one.asked = this.#servers.peer(one.server).subscribe(one.uri);
      one.asked.catch((error) => this.#onTrouble(one.server, error));
    }
  }

  /** Removes the listeners of a session that was closed. */
  async forget(session: string): Promise<void> {
    const own = [...this.#byKey].flatMap(([key, one]) => {
      return [...one.listeners].filter((listener) => listener.session === session)
        .map((listener) => this.#remove(key, one, listener));
    });
    await Promise.all(own);
  }

  /** Removes a listener; the last one of a URI unsubscribes. Never rejects: a server that has gone holds nothing. */
  async #remove(key: string, one: Subscription, listener: Listener): Promise<void> {
    if (!one.listeners.delete(listener) || one.listeners.size > 0) return;
    const isSubscribed = await one.asked.then(() => true, () => false);
    if (one.listeners.size > 0) return; // Somebody has come meanwhile.
    if (this.#byKey.get(key) === one) this.#byKey.delete(key);
    if (!isSubscribed) return;
    await this.#servers.running(one.server)?.unsubscribe(one.uri)
      .catch((error) => this.#onTrouble(one.server, error));
  }
}

function isWithin(changed: string, uri: string): boolean {
  return changed === uri || changed.startsWith(uri.endsWith("/") ? uri : `${uri}/`);
}
