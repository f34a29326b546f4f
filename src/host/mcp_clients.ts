/**
 * The clients' sides of open sessions, and whose roots a server gets. A server is one process for all sessions of its
 * agents, so outside calls it is given roots only where no other session could be meant.
 *
 * @module
 */
import type { McpServers } from "./mcp_servers.ts";
import type { ClientSide } from "./mcp_types.ts";

interface Offered {
  readonly session: string;
  /** Null: all agents. */
  readonly agent: string | null;
  readonly side: ClientSide;
  /** Whether servers have been told of its roots. */
  isTold: boolean;
}

/** Keeps the clients' sides of sessions. */
export class McpClients {
  readonly #servers: Pick<McpServers, "instancesOf" | "agentsOf" | "running">;
  readonly #hasRoots: boolean;
  /** The newest first. */
  #offered: readonly Offered[] = [];

  /** `hasRoots`: whether servers are offered roots at all. */
  constructor(servers: Pick<McpServers, "instancesOf" | "agentsOf" | "running">, hasRoots: boolean) {
    this.#servers = servers;
    this.#hasRoots = hasRoots;
  }

  /** Adds a client of a session; servers hear of its roots. The returned function takes it away. */
  add(session: string, client: ClientSide, agent: string | null): () => void {
    // Not a copy: parts of a client may come and go.
    const own: Offered = { session, agent, side: Object.create(client), isTold: false };
    this.#offered = [own, ...this.#offered];
    if (own.side.roots) this.#tell(own);
    return () => this.#remove((one) => one === own);
  }

  /** Takes away the clients of a session. */
  forget(session: string): void {
    this.#remove((one) => one.session === session);
  }

  /** Returns the clients of a session, the newest first. */
  of(session: string): ClientSide[] {
    return this.#offered.filter((one) => one.session === session).map(({ side }) => side);
  }

  /** Has the servers of a session's agent ask for roots again. */
  rootsChanged(session: string): void {
    for (const one of this.#offered) if (one.session === session) this.#tell(one);
  }

  /** The only session with roots among those that an instance serves; null where there is none, or several. */
  onlyWithRoots(instance: string): string | null {
    const agents = this.#servers.agentsOf(instance);
    const able = this.#offered.filter(({ agent, side }) => (agent === null || agents.includes(agent)) && side.roots);
    const [only, other] = new Set(able.map(({ session }) => session));
    return other === undefined ? only ?? null : null;
  }

  #remove(isLeaving: (one: Offered) => boolean): void {
    const leaving = this.#offered.filter(isLeaving);
    this.#offered = this.#offered.filter((one) => !isLeaving(one));
    // A server must not keep the roots of a client that has gone, and may now get those of the one that is left.
    for (const one of leaving) if (one.isTold) this.#tell(one);
  }

  #tell(one: Offered): void {
    if (!this.#hasRoots) return;
    one.isTold = true;
    for (const instance of this.#servers.instancesOf(one.agent)) this.#servers.running({ instance })?.rootsChanged();
  }
}
