/**
 * The measuring host: run once on each runtime, prints its figures as one line of JSON.
 *
 * Usage: host.ts <node> <rounds> <round in ms> <starts>
 *
 * @module
 */
import process from "node:process";
import { measureCalls } from "./call_cases.ts";
import { measureSpawn } from "./spawn_case.ts";

const [node = "node", rounds = "3", roundMs = "50", starts = "3"] = process.argv.slice(2);
const calls = await measureCalls(node, { rounds: Number(rounds), roundMs: Number(roundMs) });
const spawn = await measureSpawn(node, Number(starts));
console.log(JSON.stringify({ ...calls, "spawn to running": spawn }));
process.exit(0);
