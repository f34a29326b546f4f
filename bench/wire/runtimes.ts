/**
 * The runtimes of this checkout, as commands.
 *
 * @module
 */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import process from "node:process";

/** A runtime and what stands between it and the program. */
export interface RuntimeCommand {
  /** Which one. */
  readonly name: "node" | "bun" | "deno";
  /** Its version. */
  readonly version: string;
  /** Its executable. */
  readonly file: string;
  /** Arguments before the program; each gives it a garbage collector to call. */
  readonly args: readonly string[];
}

const tool = (name: string): string => fileURLToPath(new URL(`../../node_modules/.bin/${name}`, import.meta.url));

/** Returns every runtime; Node is the one that runs this. */
export function runtimeCommands(): RuntimeCommand[] {
  const [bun, deno] = [tool("bun"), tool("deno")];
  const version = (file: string): string => {
    return execFileSync(file, ["--version"], { encoding: "utf8" }).match(/\d+\.\d+\.\d+/)?.[0] ?? "unknown";
  };
  return [
    { name: "node", version: process.versions.node, file: process.execPath, args: ["--expose-gc", "--no-warnings"] },
    { name: "bun", version: version(bun), file: bun, args: [] },
    {
      name: "deno",
      version: version(deno),
      file: deno,
      args: ["run", "-A", "--no-check", "--quiet", "--v8-flags=--expose-gc"],
    },
  ];
}
