/**
 * Log messages of caged MCP servers on their way to a client.
 *
 * @module
 */
import { MCP_LOG_LEVELS, type McpEvent, type McpLogLevel } from "../core/mcp/peer.ts";
import type { Flight } from "./flight.ts";
import type { Flights } from "./flights.ts";
import type { Json } from "./sdk_types.ts";

/** Key of `_meta` under which a modern client wants log messages of a request. */
const LEVEL_KEY = "io.modelcontextprotocol/logLevel";

/** The parts of a served session that logs need. */
interface LogPorts {
  readonly flights: Flights;
  /** Has the servers send messages from this level on. */
  setLevel(level: McpLogLevel): Promise<void>;
  /** Sends a notification that belongs to no call, to legacy clients. */
  announce(method: string, params: Json): void;
}

/**
 * Passes on log messages. One of a plugin that works for the client goes with that call. A modern client gets those it
 * asked for with the call; a legacy one also those between calls, and all until it has set a level.
 */
export class ClientLogs {
  readonly #ports: LogPorts;
  #asked: McpLogLevel | null = null;
  #level: McpLogLevel = "debug";

  /** Begins with every message for legacy clients, and none for modern ones. */
  constructor(ports: LogPorts) {
    this.#ports = ports;
  }

  /** A legacy client sets its level. */
  async set(level: McpLogLevel): Promise<void> {
    this.#level = level;
    this.#asked = level;
    await this.#ports.setLevel(level);
  }

  /** Has the servers send what a modern request wants, unless they do. */
  async prepare(envelope: Json | undefined): Promise<void> {
    const level = levelIn(envelope?.[LEVEL_KEY]);
    if (level === null || (this.#asked !== null && admits(this.#asked, level))) return;
    this.#asked = level;
    await this.#ports.setLevel(level).catch(() => {}); // A server that sets no level sends what it likes.
  }

  /** Passes one message on. */
  hear(plugin: string, { level, logger, data }: Extract<McpEvent, { type: "log" }>): void {
    const params = { level, logger: logger === undefined ? plugin : `${plugin}/${logger}`, data };
    const of = (owner: string | null): Flight | undefined =>
      this.#ports.flights.all.find((flight) => flight.facts.plugin === owner && this.#wants(flight, level));
    const flight = of(plugin) ?? of(null);
    if (flight) flight.notify("notifications/message", params);
    else if (admits(this.#level, level)) this.#ports.announce("notifications/message", params);
  }

  #wants({ isParked, caller: { era, context } }: Flight, level: McpLogLevel): boolean {
    if (isParked) return false;
    const least = era === "legacy" ? this.#level : levelIn(context.mcpReq.envelope?.[LEVEL_KEY]);
    return least !== null && admits(least, level);
  }
}

/** Whether a message of `level` is to be sent from `least` on. */
function admits(least: McpLogLevel, level: McpLogLevel): boolean {
  return MCP_LOG_LEVELS.indexOf(level) >= MCP_LOG_LEVELS.indexOf(least);
}

function levelIn(value: unknown): McpLogLevel | null {
  return MCP_LOG_LEVELS.find((level) => level === value) ?? null;
}
