/**
 * The ports of installing, and the lock and recovery around every change of what is installed.
 *
 * @module
 */
import type { Audit } from "../../core/audit/audit.ts";
import { withHomeLock } from "../../core/files/file_lock.ts";
import { storageAccess } from "../../core/manifest/capability_set.ts";
import type { Runtime } from "../../core/ports/ports.ts";
import { createStorage, isStorageAvailable } from "../../core/storage/storage.ts";
import { isUnfinished, type PackagePorts, recoverPackages } from "../installed/journal.ts";
import type { TreeLimits } from "../../core/files/tree.ts";

/** The operator's folder, and the ports that installing needs. */
export interface InstallPorts {
  readonly runtime: Runtime;
  readonly home: string;
  /** Gets an event for every change. */
  readonly audit: Pick<Audit, "emit">;
  /** Largest tree that is installed. Default: `TREE_LIMITS`, 256 MiB in 20,000 files. */
  readonly limits?: TreeLimits;
  /** Aborts a fetch that is under way. */
  readonly signal?: AbortSignal;
}

/** Runs `work` under the lock of the home, after finishing a change that a crash interrupted. */
export async function changingPackages<T>(ports: InstallPorts, work: (own: PackagePorts) => Promise<T>): Promise<T> {
  const { home, runtime } = ports;
  return await withHomeLock(home, runtime, async () => {
    const own = packagePorts(ports);
    await runtime.files.makeDir(`${home}/plugins`, { recursive: true, mode: 0o700 });
    await recoverPackages(own);
    return await work(own);
  });
}

/** Finishes a change that a crash interrupted. Call it before reading what is installed; mostly it costs one look. */
export async function settlePackages(ports: InstallPorts): Promise<void> {
  if (await isUnfinished(ports.home, ports.runtime.files)) await changingPackages(ports, () => Promise.resolve());
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

function packagePorts({ runtime, home, audit }: InstallPorts): PackagePorts {
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
