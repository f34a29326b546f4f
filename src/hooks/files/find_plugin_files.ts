/**
 * Hook files of a repository that is a plugin of an agent: where its manifest says, else in the usual places.
 *
 * @module
 */
import type { Files } from "../../core/ports/ports.ts";
import { isMap } from "../../core/values/plain_data.ts";
import { DIALECTS } from "./dialects/all.ts";
import { normalPath } from "./named_scripts.ts";
import type { HookDialect } from "./types.ts";

/** A hook file of a plugin; without a dialect its content decides. */
export interface PluginHookFile {
  readonly name: string;
  readonly dialect?: HookDialect;
}

/** Manifests, and the dialect of the hooks that each names. */
const MANIFESTS: readonly (readonly [string, HookDialect])[] = [
  [".claude-plugin/plugin.json", "plugin"],
  [".codex-plugin/plugin.json", "codex"],
  [".cursor-plugin/plugin.json", "cursor"],
];
/** Files that only a plugin has: without one of them, `hooks.json` may be anything. */
const MARKS = ["plugin.json", ".github/plugin/plugin.json", ...MANIFESTS.map(([name]) => name)];
const MAX_MANIFEST_BYTES = 256 * 1024;

/** Returns the hook files of the plugin that a repository is, each once. */
export async function findPluginFiles(dir: string, files: Files): Promise<PluginHookFile[]> {
  const isThere = async (name: string): Promise<boolean> => (await files.target(`${dir}/${name}`))?.kind === "file";
  const found = new Map<string, PluginHookFile>();
  for (const [manifest, dialect] of MANIFESTS) {
    if (!await isThere(manifest)) continue;
    for (const name of await namedIn(`${dir}/${manifest}`, manifest, files)) found.set(name, { name, dialect });
  }
  const isPlugin = (await Promise.all(MARKS.map(isThere))).some((is) => is);
  const usual = new Set(Object.values(DIALECTS).flatMap(({ places }) => places.plugin));
  for (const name of usual) {
    if (found.has(name) || (name === "hooks.json" && !isPlugin)) continue;
    if (await files.target(`${dir}/${name}`) === null) continue;
    const isCodex = await isThere(".codex-plugin/plugin.json") && !await isThere(".claude-plugin/plugin.json");
    const isOwn = name === "hooks/hooks.json" && isCodex;
    found.set(name, { name, ...(isOwn && { dialect: "codex" as const }) });
  }
  return [...found.values()];
}

/** Returns the files that a manifest names for hooks; itself, when they stand in it. */
async function namedIn(path: string, name: string, files: Files): Promise<string[]> {
  const bytes = await files.readHead(path, MAX_MANIFEST_BYTES).catch(() => new Uint8Array());
  let hooks: unknown;
  try {
    hooks = (JSON.parse(new TextDecoder().decode(bytes)) as { hooks?: unknown } | null)?.hooks;
  } catch {
    return []; // Its agent reads no hooks from it either.
  }
  if (isMap(hooks)) return [name];
  const paths = [hooks].flat().filter((one): one is string => typeof one === "string" && one !== "");
  return paths.map((one) => normalPath(`/${one}`).slice(1));
}
