/**
 * Whose a folder of `--out` is: two hookspecs in one would overwrite each other's files and remove what the other gives.
 *
 * @module
 */
import { join, relative } from "node:path";
import { HostError } from "../core/errors/host_error.ts";
import type { Files } from "../core/ports/ports.ts";

/** Stands in the folder and holds the way from there to its hookspec. */
const OWNER_FILE = ".hookspec";
const MAX_BYTES = 5_000;

/** A folder for every language, and the hookspec that it is for; both absolute. */
interface OutFolder {
  readonly out: string;
  readonly dir: string;
}

/** Rejects with `hookspec.out_taken` when the folder is another hookspec's. */
export async function requireOwnOut({ out, dir }: OutFolder, files: Files): Promise<void> {
  const file = join(out, OWNER_FILE);
  if (await files.info(file) === null) return;
  const owner = new TextDecoder().decode(await files.readHead(file, MAX_BYTES)).trim();
  if (owner === relative(out, dir)) return;
  throw new HostError("hookspec.out_taken", `"${out}" holds what follows from the hookspec at "${join(out, owner)}"`, {
    data: { out, dir, owner },
    hint: `Give each hookspec a folder of its own; if that one has moved, remove ${file}`,
  });
}

/** Makes the folder the hookspec's own. */
export async function claimOut({ out, dir }: OutFolder, files: Files): Promise<void> {
  const file = join(out, OWNER_FILE);
  if (await files.info(file) === null) await files.write(file, `${relative(out, dir)}\n`, 0o644);
}
