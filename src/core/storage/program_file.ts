/**
 * The storage program on disk.
 *
 * @module
 */
import type { Runtime } from "../ports/ports.ts";

/** Writes the program into `<home>/run/`, unless it is there already; returns its path. */
export async function writeProgram({ databases, files, ids }: Runtime, home: string): Promise<string> {
  const text = await databases.storageProgram();
  const dir = `${home}/run`;
  await files.makeDir(dir, { recursive: true, mode: 0o700 });
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  const hash = Array.from(new Uint8Array(digest).subarray(0, 8), (byte) => byte.toString(16).padStart(2, "0")).join("");
  const path = `${dir}/storage-${hash}.mjs`;
  if (await files.readText(path).catch(() => null) === text) return path;
  // Another host may be doing the same: the file appears whole.
  const draft = `${dir}/${ids.create("storage")}.tmp`;
  await files.write(draft, text);
  await files.rename(draft, path);
  return path;
}
