/**
 * The least level of log messages that each session wants. A server serves several sessions, and sends the most
 * talkative of them all; each session then leaves out what it does not want.
 *
 * @module
 */
import { MCP_LOG_LEVELS, type McpLogLevel } from "../core/mcp/peer.ts";
import type { McpServer, McpServers } from "./mcp_servers.ts";

/** The levels of all open sessions. */
export class McpLogLevels {
  readonly #servers: McpServers;
  readonly #onTrouble: (server: McpServer, error: unknown) => void;
  readonly #bySession = new Map<string, Map<string, McpLogLevel>>();

  /** `onTrouble` gets failures that nobody waits for. */
  constructor(servers: McpServers, onTrouble: (server: McpServer, error: unknown) => void) {
    this.#servers = servers;
    this.#onTrouble = onTrouble;
  }

  /** Sets the level of a session of an agent, at every server of the agent that logs. */
  async set(
    level: McpLogLevel,
    { agent, session }: { readonly agent: string; readonly session: string },
  ): Promise<void> {
    const own = this.#bySession.get(session) ?? new Map<string, McpLogLevel>();
    this.#bySession.set(session, own.set(agent, level));
    await Promise.all(this.#servers.of(agent).map((server) => this.#send(server)));
  }

  /** Tells a server that has just started. */
  renew(server: McpServer): Promise<void> {
    return this.#send(server);
  }

  /** Forgets the level of a session that was closed. */
  async forget(session: string): Promise<void> {
    const agents = [...this.#bySession.get(session)?.keys() ?? []];
    if (!this.#bySession.delete(session)) return;
    await Promise.all(agents.flatMap((agent) => this.#servers.of(agent)).map((server) => this.#send(server)));
  }

  async #send(server: McpServer): Promise<void> {
    const level = this.#wanted(server);
    const peer = this.#servers.running(server);
    if (level === null || !peer || peer.info.capabilities["logging"] === undefined) return;
    await peer.setLogLevel(level).catch((error) => this.#onTrouble(server, error));
  }

  /** The most talkative level of all sessions whose agents a server serves; null where none has set any. */
  #wanted({ instance }: McpServer): McpLogLevel | null {
    const agents = this.#servers.agentsOf(instance);
    const levels = [...this.#bySession.values()].flatMap((byAgent) => {
      return [...byAgent].filter(([agent]) => agents.includes(agent)).map(([, level]) => level);
    });
    return MCP_LOG_LEVELS.find((level) => levels.includes(level)) ?? null;
  }
}
