/**
 * Installed plugins, as install leaves them, for tests that are about something else.
 *
 * @module
 */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { detectRuntime } from "../../src/adapters/default.ts";
import { copyTree, removeTree, TREE_LIMITS } from "../../src/core/files/tree.ts";

/** Copies a plugin's folder to its place in `home`, with a record that pins its hash; `fields` are lines of TOML. */
export async function putInstalled(home: string, name: string, dir: string, fields = "local = true"): Promise<string> {
  const { files } = await detectRuntime();
  const place = join(home, "plugins", name);
  await mkdir(join(home, "plugins"), { recursive: true });
  await removeTree(place, files);
  const { hash } = await copyTree(dir, place, { files, limits: TREE_LIMITS });
  const local = await readFile(join(home, "local.toml"), "utf8").catch(() => "");
  await writeFile(join(home, "local.toml"), `${local}[plugins.${name}]\nhash = "${hash}"\n${fields}\n`);
  return place;
}
