/**
 * Run once on each runtime; prints its figures as one line of JSON.
 *
 * Usage: measure.ts <rounds> <round in ms>
 *
 * @module
 */
import process from "node:process";
import { chainCases } from "./chain_cases.ts";
import { measureCommand } from "./command_case.ts";
import { dispatchCases } from "./dispatch_cases.ts";
import { fileCases } from "./file_cases.ts";
import { timesPerSecond } from "./rounds.ts";

const [rounds = "3", roundMs = "40"] = process.argv.slice(2);
const effort = { rounds: Number(rounds), roundMs: Number(roundMs) };
const fewer = { ...effort, rounds: Math.floor(effort.rounds / 4) }; // One takes seconds, and the warm-up counts.
const figures: Record<string, Record<string, number>> = {};
for (const [name, ways] of Object.entries(chainCases())) figures[name] = await timesPerSecond(ways, effort);
for (const [name, ways] of Object.entries(dispatchCases())) figures[name] = await timesPerSecond(ways, effort);
for (const [name, ways] of Object.entries(await fileCases())) {
  const rates = await timesPerSecond(ways, fewer);
  figures[name] = Object.fromEntries(Object.entries(rates).map(([way, rate]) => [way, 1000 / rate]));
}
Object.assign(figures, await measureCommand(effort.rounds * 3));
console.log(JSON.stringify(figures));
