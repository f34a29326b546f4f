#!/usr/bin/env node
/**
 * The `kaged` command. Says in one line when the runtime is too old; only then loads the rest, which an old runtime
 * could not even parse.
 *
 * @module
 */
import process from "node:process";
import { oldRuntime } from "../adapters/runtime_floor.ts";

const old = oldRuntime("kaged");
if (old !== null) {
  console.error(`error[host.runtime_old]: ${old}`);
  process.exitCode = 1;
} else {
  const { main } = await import("./main.ts");
  process.exitCode = await main(process.argv.slice(2));
}
