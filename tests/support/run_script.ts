/**
 * Runs a TypeScript program of the tests on the runtime of the test.
 *
 * @module
 */
import { type ChildProcess, spawn } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { compiledCode } from "./compiled_code.ts";

const CONFIG: string = fileURLToPath(new URL("../../deno.json", import.meta.url));

/** Starts it; its stdout and stdin are pipes, its stderr is the test's own. */
export function runScript(script: URL, args: readonly string[]): ChildProcess {
  return spawn(process.execPath, [...prefix(), fileURLToPath(script), ...args], {
    stdio: ["pipe", "pipe", "inherit"],
    env: { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: "/nonexistent", ...compiledCode, NO_COLOR: "1" },
  });
}

function prefix(): string[] {
  if (process.versions["deno"]) return ["run", "-A", "--quiet", "--no-lock", "--no-check", "--config", CONFIG];
  if (process.versions["bun"]) return ["--config=/dev/null", "--no-env-file", "--no-install"];
  return ["--disable-warning=ExperimentalWarning"];
}
