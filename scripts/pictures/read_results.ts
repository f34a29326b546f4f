/**
 * Results of benchmarks and long runs, checked before they are drawn.
 *
 * @module
 */
import * as v from "valibot";
import type { KeptReport } from "../../bench/report.ts";
import type { SoakReport } from "./soak_chart.ts";

const ratios = v.record(v.string(), v.number());
const benchSchema = v.object({
  name: v.string(),
  date: v.string(),
  machine: v.string(),
  versions: v.record(v.string(), v.string()),
  control: v.nullable(v.number()),
  rows: v.array(v.object({
    runtime: v.string(),
    case: v.string(),
    unit: v.string(),
    better: v.picklist(["higher", "lower"]),
    ours: v.number(),
    // A ratio that could not be computed is null in JSON.
    peers: v.pipe(v.record(v.string(), v.nullable(v.number())), v.transform(withoutNull)),
  })),
  goals: v.array(v.object({ text: v.string(), values: ratios, met: v.array(v.string()) })),
});
const sample = v.object({ t: v.number(), value: v.number() });
const soakSchema = v.object({
  date: v.string(),
  machine: v.string(),
  runtime: v.string(),
  minutes: v.number(),
  series: v.pipe(
    v.array(v.object({
      name: v.string(),
      unit: v.string(),
      samples: v.pipe(v.array(sample), v.minLength(2, "fewer than two samples")),
      verdict: v.string(),
      isFlat: v.nullable(v.boolean()),
    })),
    v.minLength(1, "no series"),
  ),
});

/** Reads `bench/results/<name>.json`. @throws {Error} That says where it is not what a benchmark writes. */
export function readBench(text: string, path: string): KeptReport {
  return read(benchSchema, text, path);
}

/** Reads `bench/results/soak-<runtime>.json`. @throws {Error} That says where it is not what a long run writes. */
export function readSoak(text: string, path: string): SoakReport {
  return read(soakSchema, text, path);
}

function read<T>(schema: v.GenericSchema<unknown, T>, text: string, path: string): T {
  let input: unknown;
  try {
    input = JSON.parse(text);
  } catch (error) {
    throw new Error(`${path} is not JSON: ${(error as Error).message}`);
  }
  const { success, output, issues } = v.safeParse(schema, input);
  if (success) return output;
  const [issue] = issues;
  throw new Error(`${path} at ${v.getDotPath(issue) ?? "its root"}: ${issue.message}`);
}

function withoutNull(peers: Readonly<Record<string, number | null>>): Record<string, number> {
  return Object.fromEntries(Object.entries(peers).filter((entry): entry is [string, number] => entry[1] !== null));
}
