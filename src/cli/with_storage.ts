/**
 * The operator's storage, for commands that look at it.
 *
 * @module
 */
import { HostError } from "../core/errors/host_error.ts";
import type { Runtime } from "../core/ports/ports.ts";
import type { Storage } from "../core/storage/storage.ts";
import type { Terminal } from "./terminal.ts";

/** Runs `work` on the storage of the operator's home. Fails with `host.misuse` where nothing was ever kept. */
export async function withStorage<T>(
  { home: given, plugin }: { readonly home: string | undefined; readonly plugin: string },
  terminal: Terminal,
  work: (storage: Storage, runtime: Runtime) => Promise<T>,
): Promise<T> {
  const { homeFolder } = await import("../core/files/home.ts");
  const { createStorage } = await import("../core/storage/storage.ts");
  if (!/^[a-z][a-z0-9-]*$/.test(plugin)) {
    throw new HostError("host.misuse", `"${plugin}" is no name of a plugin`, {
      hint: "Pass the name in its manifest: lower-case letters, digits and dashes",
    });
  }
  const runtime = await terminal.runtime();
  const home = homeFolder(given, runtime.env);
  if (await runtime.files.info(`${home}/kaged.db`) === null) {
    throw new HostError("host.misuse", `No plugin keeps anything in "${home}"`, { hint: "Name the home with --home" });
  }
  await using storage = createStorage({ runtime, home });
  return await work(storage, runtime);
}
