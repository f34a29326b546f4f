/**
 * What installing stands on.
 *
 * @module
 */
import type { Audit } from "../../core/audit/audit.ts";
import { storageAccess } from "../../core/manifest/capability_set.ts";
import type { Runtime } from "../../core/ports/ports.ts";
import { createStorage, isStorageAvailable } from "../../core/storage/storage.ts";
import { isUnfinished, recoverStore, type StorePorts } from "../installed/journal.ts";
import { withHomeLock } from "../../core/files/home_lock.ts";
import { TREE_LIMITS, type TreeLimits } from "../../core/files/tree.ts";

/** What installing stands on. */
export interface InstallPorts {
  /** The runtime. */
  readonly runtime: Runtime;
  /** The operator's folder. */
  readonly home: string;
  /** Where it is told of. */
  readonly audit: Pick<Audit, "emit">;
  /** How much a plugin may bring. Default: {@link TREE_LIMITS}. */
  readonly limits?: TreeLimits;
  /** Ends what takes long. */
  readonly signal?: AbortSignal;
}

/** Returns how much a plugin may bring. */
export function treeLimits({ limits = TREE_LIMITS }: InstallPorts): TreeLimits {
  return limits;
}

/** Runs `work` while nobody else changes the store, after what a crash left was put in order. */
export async function changingStore<T>(ports: InstallPorts, work: (store: StorePorts) => Promise<T>): Promise<T> {
  const { home, runtime } = ports;
  return await withHomeLock(home, runtime, async () => {
    const store = storePorts(ports);
    await runtime.files.makeDir(`${home}/plugins`, { recursive: true, mode: 0o700 });
    await recoverStore(store);
    return await work(store);
  });
}

/** Finishes what a crash interrupted, for whoever is about to read the store. Costs one look when nothing was. */
export async function settleStore(ports: InstallPorts): Promise<void> {
  if (await isUnfinished(ports.home, ports.runtime.files)) await changingStore(ports, () => Promise.resolve());
}

/** Claims a plugin's tables, when it may have any. Rejects with `storage.prefix_taken`. */
export async function claimStorage(
  { name, capabilities }: { readonly name: string; readonly capabilities: readonly string[] },
  { runtime, home }: InstallPorts,
): Promise<void> {
  if (storageAccess(capabilities) === "none" || !isStorageAvailable(runtime)) return;
  await using storage = createStorage({ runtime, home });
  await storage.claim(name);
}

function storePorts({ runtime, home, audit }: InstallPorts): StorePorts {
  const { files, ids } = runtime;
  return {
    home,
    files,
    ids,
    async dropStorage(plugin) {
      if (await files.info(`${home}/kaged.db`) === null) return;
      await using storage = createStorage({ runtime, home });
      const tables = await storage.drop(plugin);
      if (tables.length > 0) audit.emit("plugin.storage_dropped", { name: plugin, instance: plugin }, { tables });
    },
  };
}
