/**
 * Where Node and Deno keep compiled code between runs: without these variables each command a test starts compiles the
 * whole source again. `scripts/test.ts` sets them.
 *
 * @module
 */
import process from "node:process";

const NAMES = ["NODE_COMPILE_CACHE", "DENO_DIR"];

/** The variables as this run has them, for programs that get an environment of their own. */
export const compiledCode: Readonly<Record<string, string>> = Object.fromEntries(
  NAMES.flatMap((name) => process.env[name] ? [[name, process.env[name]]] : []),
);
