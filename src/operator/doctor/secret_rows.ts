/**
 * The row about the operator's secrets: whether other users of the machine can read them.
 *
 * @module
 */
import { homeFolder } from "../../core/files/home.ts";
import type { Runtime } from "../../core/ports/ports.ts";
import { referredFiles } from "../../core/project/edit_secrets.ts";
import { readLocalConfig } from "../../core/project/local_config.ts";
import type { MachineRow } from "./report.ts";

const READABLE_BY_OTHERS = 0o044;

/**
 * Returns the row for `local.toml` of a home, which is by default the one that commands use, and for the files that its
 * values refer to; none where the operator has set no value, or the file cannot be read.
 */
export async function secretRows(given: string | undefined, { files, env }: Runtime): Promise<MachineRow[]> {
  let home: string;
  try {
    home = homeFolder(given, env);
  } catch {
    return []; // There is no home folder, and so no file in it.
  }
  const local = await readLocalConfig(home, files).catch(() => null);
  if (!local || local.secrets.size === 0) return [];
  const paths = [local.file, ...referredFiles(local)];
  const infos = await Promise.all(
    paths.map(async (path) => [path, await files.target(path).catch(() => null)] as const),
  );
  const open = infos.filter(([, info]) => info !== null && (info.mode & READABLE_BY_OTHERS) !== 0).map(([path]) =>
    path
  );
  const id = "secrets";
  if (open.length === 0) return [{ id, status: "ok", detail: `Only you can read ${paths.join(", ")}` }];
  const detail = `Others can read ${open.join(", ")}`;
  return [{ id, status: "degraded", detail, hint: `Run: chmod go-rwx ${open.map((path) => `'${path}'`).join(" ")}` }];
}
