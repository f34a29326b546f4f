/**
 * Folders that a command fills with something new.
 *
 * @module
 */
import { join } from "node:path";
import { HostError } from "../core/errors/host_error.ts";
import type { Files } from "../core/ports/ports.ts";

/** Throws `scaffold.not_empty` unless `path` is an empty folder or nothing. */
export async function checkEmpty(files: Files, path: string): Promise<void> {
  const kind = (await files.target(path))?.kind;
  if (kind === undefined || (kind === "directory" && (await files.list(path)).length === 0)) return;
  throw new HostError("scaffold.not_empty", `"${path}" ${kind === "directory" ? "is not empty" : "is no folder"}`, {
    data: { path },
    hint: "Name a new or empty folder",
  });
}

/** Writes the files of a new folder, by path inside it. */
export async function fillFolder(
  files: Files,
  path: string,
  made: ReadonlyMap<string, { readonly content: string; readonly mode?: number }>,
): Promise<void> {
  await files.makeDir(path, { recursive: true, mode: 0o755 });
  for (const [file, { content, mode = 0o644 }] of made) await files.write(join(path, file), content, mode);
}
