/**
 * The TypeScript in a guide, run as it stands.
 *
 * @module
 */
import { readFile, writeFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import type { Host } from "../../src/core/host/types.ts";

const ENTRIES: Readonly<Record<string, string>> = {
  "@kaged/plugin-host": "mod.ts",
  "@kaged/plugin-host/addons": "src/addons/mod.ts",
  "@kaged/plugin-host/events": "src/core/events/mod.ts",
  "@kaged/plugin-host/hooks": "src/core/hooks/mod.ts",
  "@kaged/plugin-host/http": "src/core/http/mod.ts",
  "@kaged/plugin-host/jobs": "src/core/jobs/mod.ts",
};
const root = new URL("../../", import.meta.url);

/** Returns the blocks of `docs/<guide>` in one language, in order. */
export async function docBlocks(guide: string, language: string): Promise<string[]> {
  const text = await readFile(new URL(`docs/${guide}`, root), "utf8");
  return [...text.matchAll(/^```(\w+)\n(.*?)^```$/gms)].filter(([, name]) => name === language)
    .map(([, , body]) => body!);
}

/** Runs a block with `host` in its reach; its relative paths lie in `dir`. */
export async function runBlock(block: string, { host, dir }: { host: Host; dir: string }): Promise<void> {
  const code = block.replaceAll('"./', `"${dir}/`).replace(
    /from "([^"]+)"/g,
    (_, name: string) => `from "${name in ENTRIES ? new URL(ENTRIES[name]!, root).href : import.meta.resolve(name)}"`,
  );
  const path = `${dir}/block_${crypto.randomUUID()}.ts`;
  await writeFile(path, code);
  Object.assign(globalThis, { host });
  await import(pathToFileURL(path).href);
}
