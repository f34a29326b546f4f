#!/usr/bin/env node
/**
 * The `kaged` command. Says in one line when the runtime is too old; only then loads the rest, which an old runtime
 * could not even parse.
 *
 * @module
 */
import process from "node:process";

const floors: Readonly<Record<string, string>> = { deno: "2.9.0", bun: "1.4.0", node: "24.15.0" };
// Node comes last: the other two also answer to its name.
const runtime = process.versions["deno"] ? "deno" : process.versions["bun"] ? "bun" : "node";
const version = process.versions[runtime] ?? "0";
const floor = floors[runtime] ?? "0";

if (isOlder(version, floor)) {
  console.error(`error[host.runtime_old]: kaged needs ${runtime} ${floor} or newer, and this is ${version}`);
  process.exitCode = 1;
} else {
  const { main } = await import("./main.ts");
  process.exitCode = await main(process.argv.slice(2));
}

function isOlder(version: string, floor: string): boolean {
  const [have, need] = [version, floor].map((text) => text.split(".").map((part) => parseInt(part, 10) || 0));
  for (let at = 0; at < 3; at++) {
    const difference = (have?.[at] ?? 0) - (need?.[at] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}
