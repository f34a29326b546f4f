/**
 * Folders on the way to a path a person named.
 *
 * @module
 */
import { dirname } from "node:path";
import type { Files } from "../core/ports.ts";

/**
 * Makes a folder and its parents, each with `mode`; what stands already stays as it is. One step at a time: Node's own
 * recursive form never ends under `/proc`.
 */
export async function makeDirs(path: string, mode: number, files: Files): Promise<void> {
  if ((await files.target(path))?.kind === "directory") return;
  if (dirname(path) !== path) await makeDirs(dirname(path), mode, files);
  await files.makeDir(path, { mode });
}
