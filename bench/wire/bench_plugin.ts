/**
 * A plugin folder for the cases that need a whole plugin.
 *
 * @module
 */
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Folders of one measurement. */
export interface BenchFolders {
  /** The operator's folder. */
  readonly home: string;
  /** The plugin's folder. */
  readonly plugin: string;
  /** Removes them. */
  remove(): void;
}

/** Writes a plugin that `command` runs, with a program of its own beside it. */
export function createBenchFolders(command: readonly string[], programs: Record<string, URL | string>): BenchFolders {
  const root = mkdtempSync(join(tmpdir(), "kaged-bench-"));
  const [home, plugin] = [join(root, "home"), join(root, "plugin")];
  for (const dir of [home, plugin]) mkdirSync(dir);
  const manifest = [
    "name: bench-plugin",
    "version: 1.0.0",
    "kaged_api: 1",
    "description: Answers at once",
    `command: ${JSON.stringify(command)}`,
    "capabilities: []",
    "methods: [bench.small]",
    "",
  ];
  writeFileSync(join(plugin, "kaged-plugin.yaml"), manifest.join("\n"));
  for (const [name, source] of Object.entries(programs)) {
    if (typeof source === "string") writeFileSync(join(plugin, name), source);
    else copyFileSync(source, join(plugin, name));
  }
  return { home, plugin, remove: () => rmSync(root, { recursive: true, force: true }) };
}
