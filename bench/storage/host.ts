/**
 * Runs the storage cases on the runtime that runs it, and prints their figures as JSON: `host.ts <node> <rounds>`.
 *
 * @module
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { measureEngine } from "./engine_case.ts";
import { measureHops } from "./hop_case.ts";

const [node = "", rounds = "10"] = process.argv.slice(2);
const dir = mkdtempSync(join(tmpdir(), "kaged-bench-"));
try {
  for (const part of ["engine", "hops"]) mkdirSync(join(dir, part), { mode: 0o700 });
  const engine = measureEngine(join(dir, "engine"), Number(rounds));
  const hops = await measureHops(join(dir, "hops"), node, Math.ceil(Number(rounds) / 3));
  console.log(JSON.stringify({ ...engine, ...hops }));
} finally {
  rmSync(dir, { recursive: true });
}
