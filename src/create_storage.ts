/**
 * Storage as an embedder makes it: on the runtime the program runs on.
 *
 * @module
 */
import { detectRuntime } from "./adapters/default.ts";
import { checkHome, homeFolder } from "./core/files/home.ts";
import type { Runtime } from "./core/ports/ports.ts";
import type { Storage, StorageOptions } from "./core/storage/storage.ts";

/** How storage is set up; runtime and home have defaults. */
export interface CreateStorageOptions extends Omit<StorageOptions, "runtime" | "home"> {
  /** The runtime it stands on. Default: the one the program runs on. */
  readonly runtime?: Runtime;
  /** The operator's folder, absolute; the database is `kaged.db` in it. Default: `$KAGED_HOME`, else `~/.local/share/kaged`. */
  readonly home?: string;
}

/**
 * Makes the storage that plugins of a supervisor share; a host makes its own. No process is started before the first
 * request.
 *
 * @example Plugins with storage, under a supervisor
 * ```ts
 * import { createStorage, createSupervisor } from "@kaged/plugin-host";
 *
 * await using storage = await createStorage();
 * await using supervisor = await createSupervisor({
 *   storageAvailable: storage.isAvailable,
 *   onRequest: (plugin, request, audit) => storage.handle(plugin, request, audit),
 * });
 * ```
 */
export async function createStorage(options: CreateStorageOptions = {}): Promise<Storage> {
  const runtime = options.runtime ?? await detectRuntime();
  const { createStorage: createOn } = await import("./core/storage/storage.ts");
  const home = homeFolder(options.home, runtime.env);
  await checkHome(home, runtime);
  return createOn({ ...options, runtime, home });
}
