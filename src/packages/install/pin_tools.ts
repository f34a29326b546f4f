/**
 * Pins and approvals of the tools of installed MCP servers: what the operator saw is what agents get.
 *
 * @module
 */
import type { Audit } from "../../core/audit/audit.ts";
import type { McpTool } from "../../core/mcp/mcp_tool.ts";
import { pinsOf, type VersionPins } from "../../core/pins/tool_pins.ts";
import { readLocalConfig } from "../../core/project/local_config.ts";
import { approvePins, type PinnedVersion, type PinPorts, pinVersion } from "../installed/pin_store.ts";
import { recordOf } from "./change_installed.ts";

/** The home, its ports, and the audit that gets an event for each change. */
export interface PinToolsPorts extends PinPorts {
  readonly audit: Pick<Audit, "emit">;
}

/** Names in one part of an audit event. */
const NAMED = 50;

/**
 * Pins the tools of an installed server that the operator has seen before agreeing to it, such as those of a trial run.
 * Without this, those of its first start are pinned. A version that has pins keeps them.
 *
 * @throws {HostError} `plugin.not_installed` or `local.*`.
 */
export async function pinTools(
  plugin: string,
  tools: readonly Pick<McpTool, "name" | "definition">[],
  ports: PinToolsPorts,
): Promise<VersionPins> {
  const { hash = "" } = recordOf(plugin, await readLocalConfig(ports.home, ports.runtime.files));
  const { isNew, ...pinned } = await pinVersion(plugin, hash, await pinsOf(tools), ports);
  if (isNew) auditPinned(plugin, pinned, ports.audit);
  return pinned.pins;
}

/** Audits that tools were pinned, with how they differ from those of the version before. */
export function auditPinned(
  name: string,
  { pins, changes }: Pick<PinnedVersion, "pins" | "changes">,
  audit: Pick<Audit, "emit">,
): void {
  const { added = [], changed = [], removed = [] } = changes ?? {};
  const cut = (names: readonly string[]): string[] => names.slice(0, NAMED);
  const data = { hash: pins.hash, count: Object.keys(pins.tools).length };
  audit.emit("plugin.tools_pinned", { name, instance: name }, {
    ...data,
    added: cut(added),
    changed: cut(changed),
    removed: cut(removed),
  });
}

/**
 * Approves quarantined tools of a version, each by the hash of the definition that was shown.
 *
 * @throws {HostError} `tool.not_quarantined` or `tool.approval_stale`; then none is approved.
 */
export async function approveTools(
  name: string,
  hash: string,
  tools: Readonly<Record<string, string>>,
  ports: PinToolsPorts,
): Promise<void> {
  const { before } = await approvePins(name, hash, tools, ports);
  for (const [tool, listed] of Object.entries(tools)) {
    const pinned = Object.hasOwn(before.tools, tool) ? before.tools[tool]!.sha256 : null;
    ports.audit.emit("plugin.tool_approved", { name, instance: name }, { tool: `${name}.${tool}`, pinned, listed });
  }
}
