/**
 * The supervisor of a host, with everything that its plugins ask of the other rooms.
 *
 * @module
 */
import type { CallAudit } from "../core/audit/audit.ts";
import type { HostError } from "../core/errors/host_error.ts";
import type { Runtime } from "../core/ports/ports.ts";
import { createSupervisor } from "../core/supervisor/supervisor.ts";
import type { PluginCaller, Supervisor } from "../core/supervisor/types.ts";
import type { SecretMask } from "../core/values/secret_mask.ts";
import { type Recorder, tapeFolder } from "../core/wire/tape/record_tape.ts";
import type { Kind } from "../hooks/kinds/types.ts";
import type { HeldConnections } from "./held_connections.ts";
import { hostLimits } from "./host_limits.ts";
import type { HostMcpRoom } from "./host_mcp.ts";
import type { HostProject } from "./host_project.ts";
import type { HostStorage } from "./host_storage.ts";
import type { HostPins } from "./host_pins.ts";
import { kindMethods } from "./own_kinds.ts";
import type { PluginLogs } from "./plugin_logs.ts";
import type { HostOptions } from "./types.ts";

/** The rooms around it. */
export interface HostSupervisorPorts {
  readonly options: HostOptions & { readonly runtime: Runtime; readonly home: string };
  readonly loaded: Pick<HostProject, "operator">;
  readonly kinds: readonly Kind[];
  readonly pins: HostPins;
  readonly audit: CallAudit;
  readonly secrets: SecretMask;
  readonly storage: HostStorage;
  readonly logs: PluginLogs;
  readonly held: HeldConnections;
  readonly mcp: HostMcpRoom;
  readonly warn: (message: string) => void;
}

/** Returns the supervisor, and the writer of tapes where the embedder asked for them. */
export function hostSupervisor(
  { options, loaded: { operator }, kinds, pins, audit, secrets, storage, logs, held, mcp, warn }: HostSupervisorPorts,
): { readonly supervisor: Supervisor & PluginCaller; readonly recorder: Recorder | null } {
  const { runtime, home, operatorId = null } = options;
  const onFailure = ({ code, message }: HostError): void => warn(`Recording has ended [${code}]: ${message}`);
  const recorder = options.record === undefined
    ? null
    : tapeFolder({ dir: options.record, runtime, secrets, onFailure });
  const supervisor = createSupervisor(
    {
      runtime,
      home,
      operatorId,
      ...hostLimits(options.limits, operator),
      storageAvailable: storage.isAvailable,
      kindMethods: (manifest) => kindMethods(kinds, manifest),
      onRequest: storage.handle,
      askNetwork: (plugin, target, signal) => held.ask(plugin, target, signal),
      onTools(plugin) {
        pins.register(plugin);
        mcp.started(plugin);
      },
      isHeld: (instance) => mcp.isHeld(instance),
      onMcpEvent: (plugin, event) => mcp.heard(plugin, event),
      mcpOffers: options.mcp?.offers ?? [],
      onMcpRequest: (plugin, request) => mcp.answer(plugin, request),
      logLevel: operator.logLevel,
      runtimes: operator.runtimes,
      ...(recorder && { tap: recorder.tap }),
      onLog(line) {
        logs.write(line);
        options.onLog?.(line);
      },
    },
    audit,
    secrets,
  );
  return { supervisor, recorder };
}
