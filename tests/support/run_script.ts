/**
 * Runs a TypeScript program of the tests on the runtime of the test, or on another.
 *
 * @module
 */
import { type ChildProcess, spawn } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { compiledCode } from "./compiled_code.ts";
import { RUNTIME_PROGRAMS } from "./runtime_programs.ts";

const CONFIG: string = fileURLToPath(new URL("../../deno.json", import.meta.url));

type RuntimeName = keyof typeof RUNTIME_PROGRAMS;

/** Starts it; its stdout and stdin are pipes, its stderr is the test's own. */
export function runScript(script: URL, args: readonly string[], runtime?: RuntimeName): ChildProcess {
  const program = runtime ? RUNTIME_PROGRAMS[runtime] : process.execPath;
  return spawn(program, [...PREFIX[runtime ?? here()], fileURLToPath(script), ...args], {
    stdio: ["pipe", "pipe", "inherit"],
    env: { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: "/nonexistent", ...compiledCode, NO_COLOR: "1" },
  });
}

const PREFIX: Readonly<Record<RuntimeName, readonly string[]>> = {
  deno: ["run", "-A", "--quiet", "--no-lock", "--no-check", "--config", CONFIG],
  bun: ["--config=/dev/null", "--no-env-file", "--no-install"],
  node: ["--disable-warning=ExperimentalWarning"],
};

function here(): RuntimeName {
  return process.versions["deno"] ? "deno" : process.versions["bun"] ? "bun" : "node";
}
