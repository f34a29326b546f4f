/**
 * A project and a home on the disk for a host that is measured, with plugins made for it.
 *
 * @module
 */
import { copyFileSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { HostOptions } from "../mod.ts";

/** A plugin of the project: its program, and lines of its manifest beside name and command. */
export interface BenchPlugin {
  readonly program: string;
  readonly args?: readonly string[];
  /** Files that are put beside the program. */
  readonly beside?: readonly string[];
  readonly manifest: string;
}

/** Where the host is, and the command by which its plugins run. */
export interface BenchGround {
  /** An empty folder. */
  readonly dir: string;
  /** Id of the project. */
  readonly id: string;
  /** Path of the Node that runs the plugins. */
  readonly node: string;
}

/** Writes project, home and plugins; returns what a host is made with. The primary agent has every plugin. */
export function hostPlaces(
  { dir, id, node }: BenchGround,
  plugins: Readonly<Record<string, BenchPlugin>>,
): Required<Pick<HostOptions, "project" | "home" | "plugins">> {
  const [project, home] = [join(dir, "project"), join(dir, "home")];
  mkdirSync(home, { mode: 0o700 });
  mkdirSync(project);
  writeFileSync(join(home, "config.toml"), `[runtimes]\nnode = ${JSON.stringify(node)}\n`);
  const folders = Object.entries(plugins).map(([name, { program, args = [], beside = [], manifest }]) => {
    mkdirSync(join(dir, name));
    copyFileSync(program, join(dir, name, "main.mjs"));
    for (const file of beside) copyFileSync(file, join(dir, name, basename(file)));
    const head = `name: ${name}\nversion: 1.0.0\nkaged_api: 1\ndescription: Part of a benchmark\n`;
    const command = JSON.stringify(["node", "./main.mjs", ...args]);
    writeFileSync(join(dir, name, "kaged-plugin.yaml"), `${head}command: ${command}\n${manifest}`);
    return [`@bench/${name}`, join(dir, name)] as const;
  });
  const declared = Object.keys(plugins).map((name) => `${name}: { package: "@bench/${name}" }`).join(", ");
  writeFileSync(join(project, "project.yaml"), `id: ${id}\nprimary: { plugins: { ${declared} } }\n`);
  return { project, home, plugins: Object.fromEntries(folders) };
}

/** Returns the bytes of the files in a folder. */
export function bytesIn(folder: string): number {
  return readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
}
