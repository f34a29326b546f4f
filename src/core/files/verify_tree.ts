/**
 * Checks that the installed files are still the ones the operator agreed to.
 *
 * @module
 */
import { asHostError, HostError } from "../errors/host_error.ts";
import type { Files } from "../ports/ports.ts";
import { hashTree } from "./tree.ts";

/** A plugin installed under a raised limit must still verify, so there is none here. */
const NO_LIMITS = { maxBytes: Number.MAX_SAFE_INTEGER, maxEntries: Number.MAX_SAFE_INTEGER };

/**
 * Compares a plugin's folder with the hash that was pinned when it was installed.
 *
 * @throws {HostError} `plugin.tampered`, with both hashes in `data`.
 */
export async function verifyTree(plugin: string, dir: string, pinned: string, files: Files): Promise<void> {
  let found: string | null = null;
  let cause: HostError | null = null;
  try {
    ({ hash: found } = await hashTree(dir, files, NO_LIMITS));
  } catch (thrown) {
    cause = asHostError(thrown);
  }
  if (found === pinned) return;
  const why = cause ? `: ${cause.message}` : "";
  throw new HostError("plugin.tampered", `[BLOCKED] The files of "${plugin}" changed since it was installed${why}`, {
    data: { plugin, dir, expected: pinned, found },
    hint: `Look at ${dir}, then install the plugin again or run kaged plugin uninstall ${plugin}`,
    ...(cause && { cause }),
  });
}
