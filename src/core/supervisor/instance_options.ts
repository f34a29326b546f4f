/**
 * The parts an instance is made of, and what each of its processes gets of them.
 *
 * @module
 */
import type { AuditSubject, CallAudit } from "../audit/audit.ts";
import type { TreeMemory } from "../files/tree_memory.ts";
import type { Manifest } from "../manifest/manifest.ts";
import type { SecretMask } from "../values/secret_mask.ts";
import type { ReadTurns } from "../wire/read_turns.ts";
import { STUCK_TIMEOUTS } from "./health.ts";
import type { PluginProcessOptions } from "./plugin_process.ts";
import type { PluginSource } from "./plugin_source.ts";
import type { PluginNotification, SupervisorOptions } from "./types.ts";

/** The parts an instance is made of. */
export interface InstanceOptions {
  readonly host: SupervisorOptions;
  readonly source: PluginSource;
  /** The manifest as it was when the plugin was registered. */
  readonly manifest: Manifest;
  readonly audit: CallAudit;
  readonly secrets: SecretMask;
  readonly subject: AuditSubject;
  /** Turns of all plugins whose output the host reads; absent, this one's is read at once. */
  readonly turns?: ReadTurns;
  /** Hashes of folders that all plugins of a host share; absent, the files of this one are read at each start. */
  readonly trees?: TreeMemory;
  readonly onNotification?: (notification: PluginNotification) => void;
  /** Calls the tools of an MCP server by the server's own names, and lists none of them. Default: false. */
  readonly byWireName?: boolean;
}

/** Returns the options of a process; `own` is what the instance itself does for it. */
export function processOptions(
  { host, audit, secrets, subject, turns, onNotification, byWireName = false }: InstanceOptions,
  own: Pick<PluginProcessOptions, "checkWanted" | "tap" | "onRequest" | "onTools">,
): PluginProcessOptions {
  const { instance, name: plugin } = subject;
  const { askNetwork, onMcpRequest } = host;
  return {
    ...own,
    runtime: host.runtime,
    secrets,
    audit,
    subject,
    byWireName,
    join: turns && (() => turns.join(host.weight?.(plugin) ?? 1)),
    maxTimeouts: host.maxTimeouts?.(plugin) ?? STUCK_TIMEOUTS,
    askNetwork: askNetwork && ((target, signal) => askNetwork({ instance, plugin }, target, signal)),
    onLog: (line) => host.onLog?.({ plugin, instance, line: secrets.text(line) }),
    onNotification: (method, params) => onNotification?.({ instance, method, params }),
    onMcpEvent: (event) => host.onMcpEvent?.({ instance, plugin }, event),
    ...(host.mcpOffers && { mcpOffers: host.mcpOffers }),
    ...(onMcpRequest && { onMcpRequest: (request) => onMcpRequest({ instance, plugin }, request) }),
  };
}
