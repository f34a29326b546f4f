/**
 * The hook files of a repository as an embedder opens them: what reads and runs them is loaded when they are asked for.
 *
 * @module
 */
import type { OpenedHookFiles, OpenHookFilesOptions } from "./hooks/open_hook_files.ts";

/**
 * Opens the hook files of a repository. Files that nobody trusts are listed and do not run.
 *
 * @throws {HostError} `config.invalid`, `hook.trust_unreadable`, `host.misuse`
 */
export async function openHookFiles(options: OpenHookFilesOptions): Promise<OpenedHookFiles> {
  return await (await import("./hooks/open_hook_files.ts")).openHookFiles(options);
}
