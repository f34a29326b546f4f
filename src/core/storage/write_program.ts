/**
 * The file that storage processes run.
 *
 * @module
 */
import { HostError, messageOf } from "../errors/host_error.ts";
import type { Runtime } from "../ports/ports.ts";
import { sha256 } from "../values/sha256.ts";

/**
 * Writes the program into `<home>/run/`, unless it is there already; returns its path. Rejects with `storage.disk_full`
 * or `storage.disk_failed`.
 */
export async function writeProgram({ databases, files, ids }: Runtime, home: string): Promise<string> {
  const text = await databases.storageProgram();
  const dir = `${home}/run`;
  await files.makeDir(dir, { recursive: true, mode: 0o700 });
  const path = `${dir}/storage-${(await sha256(text)).slice(0, 16)}.mjs`;
  if (await files.readText(path).catch(() => null) === text) return path;
  // Another host may be doing the same: the file appears whole.
  const draft = `${dir}/${ids.create("storage")}.tmp`;
  try {
    await files.write(draft, text);
    await files.rename(draft, path);
  } catch (cause) {
    await files.remove(draft).catch(() => {});
    const isFull = ["ENOSPC", "EDQUOT"].includes((cause as { code?: string }).code ?? "");
    const message = `Cannot start the storage process: ${messageOf(cause)}`;
    throw new HostError(isFull ? "storage.disk_full" : "storage.disk_failed", message, {
      hint: isFull ? "Make room on the disk: the next request tries again" : "Check the disk and its permissions",
      cause,
    });
  }
  return path;
}
