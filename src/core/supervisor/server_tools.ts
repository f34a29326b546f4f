/**
 * The tools of a running MCP server, as it listed them last.
 *
 * @module
 */
import type { AuditData } from "../audit/events.ts";
import { messageOf } from "../errors/host_error.ts";
import { listTools, type ToolListing } from "../mcp/list_tools.ts";
import type { McpTool } from "../mcp/mcp_tool.ts";
import type { DialectPorts } from "./dialect.ts";
import { HANDSHAKE_TIMEOUT_MS } from "./handshake.ts";

/** Least time between two looks at a server's tools, however often it says that they changed. */
const RELIST_MS = 5_000;

/** Names in one part of an audit event. */
const NAMED = 50;

/** Ports of a list of tools. */
export interface ServerToolsPorts extends Pick<DialectPorts, "manifest" | "audit" | "subject" | "clock" | "onTools"> {
  /** Sends `tools/list`, within the time of a step of the handshake. */
  readonly ask: (params: Record<string, unknown>, timeoutMs: number) => Promise<unknown>;
  /** Whether the connection has ended. */
  readonly isClosed: () => boolean;
  /** Called each time a running server has been listed again. */
  readonly onListed: () => void;
}

/** The tools of one server. */
export class ServerTools {
  readonly #ports: ServerToolsPorts;
  #relist: "idle" | "busy" | "again" = "busy"; // The handshake lists them.
  all: readonly McpTool[] = [];
  /** `<plugin>.<tool>` → tool. */
  byName: ReadonlyMap<string, McpTool> = new Map();

  /** Lists nothing yet. */
  constructor(ports: ServerToolsPorts) {
    this.#ports = ports;
  }

  /** Lists the tools within the time of a handshake step; later changes are listed after a rest. */
  async listFirst(): Promise<void> {
    await this.#list();
    this.#rest();
  }

  /** Lists the tools again: now, or once the rest after the last listing is over. */
  listAgain(): void {
    if (this.#relist !== "idle") return void (this.#relist = "again");
    this.#relist = "busy";
    const { audit, subject, onTools, onListed, isClosed } = this.#ports;
    this.#list(() => onTools(this.all)).then(onListed).catch((error) => {
      if (isClosed()) return;
      const detail = messageOf(error).slice(0, 200);
      audit.emit("plugin.protocol_violation", subject, { violation_type: "tools_list", detail });
    });
    this.#rest();
  }

  /** Lists the tools, then calls `adopt`, then audits them: a listener to the audit finds the new tools in place. */
  async #list(adopt: () => void = () => {}): Promise<void> {
    const { manifest, audit, subject, clock, ask } = this.#ports;
    const endMs = clock.monotonic() + HANDSHAKE_TIMEOUT_MS;
    const before = this.all;
    const found = await listTools((params) => ask(params, Math.max(1, endMs - clock.monotonic())), before);
    this.all = found.tools;
    this.byName = new Map(found.tools.map((tool) => [`${manifest.name}.${tool.name}`, tool]));
    adopt();
    audit.emit("plugin.tools_listed", subject, toolChanges(before, found));
  }

  #rest(): void {
    this.#ports.clock.after(RELIST_MS, () => {
      const isAsked = this.#relist === "again";
      this.#relist = "idle";
      if (isAsked && !this.#ports.isClosed()) this.listAgain();
    });
  }
}

/** Returns the differences between two lists, for the audit: a server may change its tools at any time. */
function toolChanges(
  before: readonly McpTool[],
  { tools, leftOut }: ToolListing,
): AuditData["plugin.tools_listed"] {
  const old = new Map(before.map((tool) => [tool.name, tool]));
  const kept = new Set(tools.map(({ name }) => name));
  const names = (some: readonly McpTool[]): string[] => some.slice(0, NAMED).map(({ name }) => name);
  return {
    count: tools.length,
    added: names(tools.filter(({ name }) => !old.has(name))),
    removed: names(before.filter(({ name }) => !kept.has(name))),
    changed: names(tools.filter((tool) => old.has(tool.name) && old.get(tool.name) !== tool)),
    left_out: leftOut.slice(0, NAMED).map((one) => ({ ...one })),
  };
}
