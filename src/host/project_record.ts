/**
 * The record of which folder has which project id. Ids name instances, storage and audit files: two folders with one id
 * under one home would share them.
 *
 * @module
 */
import { HostError } from "../core/errors/host_error.ts";
import type { Runtime } from "../core/ports/ports.ts";
import { readProject } from "../core/project/read_project.ts";

/**
 * Records that `id` is the project in `dir`.
 *
 * @throws {HostError} `project.duplicate_id` when another folder that still holds a project of that id has it.
 */
export async function recordProject(
  { id, dir }: { readonly id: string; readonly dir: string },
  home: string,
  { files, ids }: Pick<Runtime, "files" | "ids">,
): Promise<void> {
  const folder = `${home}/run/projects`;
  const file = `${folder}/${id}.json`;
  const known = await files.readText(file).then(dirIn, () => null);
  if (known === dir) return;
  if (known !== null && await holdsProject(known, id)) {
    throw new HostError("project.duplicate_id", `Projects "${dir}" and "${known}" both have the id "${id}"`, {
      data: { id, dir, other: known },
      hint: "Write another id: into one of their project.yaml files, or use another home",
    });
  }
  await files.makeDir(folder, { recursive: true, mode: 0o700 });
  const fresh = `${folder}/${ids.create(id)}.tmp`;
  await files.write(fresh, `${JSON.stringify({ dir })}\n`);
  await files.rename(fresh, file);

  /** A folder that was moved, removed or given another id no longer holds the project. */
  async function holdsProject(other: string, id: string): Promise<boolean> {
    return await readProject(other, files).then((project) => project.id === id, () => false);
  }
}

function dirIn(text: string): string | null {
  const { dir } = JSON.parse(text) as { dir?: unknown };
  return typeof dir === "string" ? dir : null;
}
