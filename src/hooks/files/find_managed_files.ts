/**
 * Hook files of a machine's administrator, which other agents read above all others. This host does not: its own rules
 * for everybody stand in `config.toml`. It lists those that are there, because somebody may count on them.
 *
 * @module
 */
import type { Files } from "../../core/ports/ports.ts";
import { DIALECTS } from "./dialects/all.ts";
import type { UnusedHook } from "./types.ts";

type ManagedFile = Pick<UnusedHook, "id" | "reason">;

/** Returns each such file that is there, as left out. */
export async function managedFiles(files: Pick<Files, "target" | "list">): Promise<ManagedFile[]> {
  const found: ManagedFile[] = [];
  for (const { places, title } of new Set(Object.values(DIALECTS))) {
    const reason = `Files that an administrator has for ${title} are not read: ` +
      "to run its hooks, put them into a file that you trust";
    for (const place of places.managed) found.push(...(await present(place, files)).map((id) => ({ id, reason })));
  }
  return found;
}

async function present(place: string, files: Pick<Files, "target" | "list">): Promise<string[]> {
  const [folder] = place.split("/*", 1);
  const there = await files.target(folder!).catch(() => null);
  if (there === null) return [];
  if (folder === place) return [place];
  // A folder that only its owner may list is named as a whole.
  const names = await files.list(folder!).catch(() => null);
  return names?.filter((name) => name.endsWith(".json")).map((name) => `${folder}/${name}`) ?? [place];
}
