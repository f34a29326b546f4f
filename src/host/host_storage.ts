/**
 * The host's storage: there while the host runs, with the quotas of `config.toml`.
 *
 * @module
 */
import type { Audit } from "../core/audit/audit.ts";
import type { Runtime } from "../core/ports/ports.ts";
import type { OperatorConfig } from "../core/project/operator_config.ts";
import type { IncomingRequest } from "../core/wire/connection_types.ts";
import type { StorageReport } from "../core/storage/maintenance.ts";
import { createStorage, isStorageAvailable, type Storage } from "../core/storage/storage.ts";
import type { PluginInfo } from "../core/supervisor/types.ts";

/** What storage stands on. */
export interface HostStorageOptions {
  /** The runtime. */
  readonly runtime: Runtime;
  /** The operator's folder. */
  readonly home: string;
  /** What the operator set: `storage_mb` for all and for one plugin. */
  readonly operator: Pick<OperatorConfig, "limits" | "pluginLimits">;
}

/** Answers plugins' storage requests. */
export interface HostStorage {
  /** Whether there is storage on this runtime at all. */
  readonly isAvailable: boolean;
  /** Answers one request; storage that was closed opens anew. */
  handle(client: PluginInfo, request: IncomingRequest, audit: Pick<Audit, "emit">): Promise<unknown>;
  /** What a plugin keeps: nothing, as long as nobody has kept anything. */
  report(plugin: string): Promise<StorageReport>;
  /** Knows nothing of a plugin any more: what it kept was dropped by someone else. */
  forget(plugin: string): void;
  /** Ends its processes. */
  close(): Promise<void>;
}

const MIB = 1024 * 1024;

/** Returns the host's storage; nothing is opened before the first request. */
export function hostStorage({ runtime, home, operator }: HostStorageOptions): HostStorage {
  let open: Storage | null = null;
  const quotas = Object.fromEntries(
    Object.entries(operator.pluginLimits).flatMap(([plugin, { storage_mb }]) =>
      storage_mb === undefined ? [] : [[plugin, storage_mb * MIB]]
    ),
  );
  const { storage_mb } = operator.limits;
  const limits = storage_mb === undefined ? {} : { limits: { quotaBytes: storage_mb * MIB } };
  const opened = (): Storage => open ??= createStorage({ runtime, home, quotas, ...limits });
  return {
    isAvailable: isStorageAvailable(runtime),
    handle: (client, request, audit) => opened().handle(client, request, audit),
    async report(plugin) {
      if (await runtime.files.info(`${home}/kaged.db`) === null) return { tables: [], bytes: 0 };
      return await opened().report(plugin);
    },
    forget: (plugin) => open?.forget(plugin),
    async close() {
      const closing = open;
      open = null;
      await closing?.close();
    },
  };
}
