/**
 * The host's storage: there while the host runs, with the quotas of `config.toml`.
 *
 * @module
 */
import type { Audit } from "../core/audit/audit.ts";
import type { Runtime } from "../core/ports/ports.ts";
import type { OperatorConfig } from "../core/project/operator_config.ts";
import type { StorageReport } from "../core/storage/catalogue.ts";
import type { IncomingRequest } from "../core/wire/connection_types.ts";
import { createStorage, isStorageAvailable, type Storage } from "../core/storage/storage.ts";
import type { PluginInfo } from "../core/supervisor/types.ts";

/** Options of a host's storage. */
export interface HostStorageOptions {
  readonly runtime: Runtime;
  readonly home: string;
  /** Holds `storage_mb` for all plugins and for single ones. */
  readonly operator: Pick<OperatorConfig, "limits" | "pluginLimits">;
}

/** Answers plugins' storage requests. */
export interface HostStorage {
  /** Whether there is storage on this runtime at all. */
  readonly isAvailable: boolean;
  /** Answers one request; storage that was closed opens anew. */
  handle(client: PluginInfo, request: IncomingRequest, audit: Pick<Audit, "emit">): Promise<unknown>;
  /** Returns a plugin's tables and their size; makes no database where there is none. */
  report(plugin: string): Promise<StorageReport>;
  /** Forgets a plugin's tables, which another room has dropped. */
  forget(plugin: string): void;
  /** Ends the processes of the database; the next request starts them anew. */
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
