/**
 * The hook files of a host's project: opened by each start, and closed by the stop after it.
 *
 * @module
 */
import { hookFileWarnings } from "../hooks/hook_file_warnings.ts";
import type { OpenedHookFiles } from "../hooks/open_hook_files.ts";
import type { HostRooms } from "./host_rooms.ts";
import type { Host } from "./types.ts";

/** Opens and closes hook files with their host. */
export interface HostHookFiles {
  /** Adds the hooks that the operator trusts to the chain; warns of files that do not run. Rejects when aborted. */
  open(signal: AbortSignal): Promise<void>;
  /** Takes them out again, and ends their commands and servers. */
  close(): Promise<void>;
}

/** Returns the hook files of the host that is made of `rooms`: none where the embedder does not want any. */
export function hostHookFiles(
  { options, chain, warn }: Pick<HostRooms, "options" | "chain" | "warn">,
  host: () => Host,
): HostHookFiles {
  let opened: { readonly files: OpenedHookFiles; readonly remove: () => void } | null = null;
  return {
    async open(signal) {
      if (!options.openHookFiles || opened) return;
      const files = await options.openHookFiles(host(), warn);
      for (const { file, line, message } of files.found.errors) warn(`${file}:${line}: ${message}`);
      for (const { message } of hookFileWarnings(files)) warn(message);
      opened = { files, remove: chain.engine.add(files.registrations) };
      signal.throwIfAborted(); // The stop that aborted this start closes them.
    },
    async close() {
      const before = opened;
      opened = null;
      before?.remove();
      await before?.files.close();
    },
  };
}
