/**
 * Run once on each runtime; prints its figures as one line of JSON.
 *
 * Usage: measure.ts <rounds> <round in ms>
 *
 * @module
 */
import process from "node:process";
import { timesPerSecond } from "../hooks/rounds.ts";
import { emitCases } from "./emit_cases.ts";
import { keptMemory } from "./kept_memory.ts";

const [rounds = "3", roundMs = "40"] = process.argv.slice(2);
const figures: Record<string, Record<string, number>> = {};
for (const [name, ways] of Object.entries(emitCases())) {
  figures[name] = await timesPerSecond(ways, { rounds: Number(rounds), roundMs: Number(roundMs) });
}
for (const [name, ours] of Object.entries(await keptMemory())) figures[name] = { ours };
console.log(JSON.stringify(figures));
