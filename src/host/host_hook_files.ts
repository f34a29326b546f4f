/**
 * The hook files of a host's project: opened by each start, and closed by the stop after it.
 *
 * @module
 */
import type { HookEngine } from "../hooks/engine/engine.ts";
import { hookFileWarnings } from "../hooks/hook_file_warnings.ts";
import type { OpenedHookFiles } from "../hooks/open_hook_files.ts";

/** Opens and closes hook files with their host. */
export interface HostHookFiles {
  /** Adds the hooks that the operator trusts to the chain; warns of files that do not run. */
  open(): Promise<void>;
  /** Takes them out again, and ends their commands and servers. */
  close(): Promise<void>;
}

/** Returns the hook files of a host; `open` reads them, and is absent where the embedder does not want any. */
export function hostHookFiles(
  { engine, warn, open }: {
    readonly engine: Pick<HookEngine, "add">;
    readonly warn: (message: string) => void;
    readonly open?: () => Promise<OpenedHookFiles>;
  },
): HostHookFiles {
  let opened: { readonly files: OpenedHookFiles; readonly remove: () => void } | null = null;
  return {
    async open() {
      if (!open || opened) return;
      const files = await open();
      for (const { file, line, message } of files.found.errors) warn(`${file}:${line}: ${message}`);
      for (const { message } of hookFileWarnings(files)) warn(message);
      opened = { files, remove: engine.add(files.registrations) };
    },
    async close() {
      const before = opened;
      opened = null;
      before?.remove();
      await before?.files.close();
    },
  };
}
