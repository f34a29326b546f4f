/**
 * Checks a value against a knob: the default in a manifest, and each value that an operator sets.
 *
 * @module
 */
import { patternReader } from "../schema/linear_pattern.ts";
import { shown } from "../values/shown_value.ts";
import type { Knob } from "./manifest.ts";

/** Returns why the knob cannot take `value`, or null. */
export async function knobProblem(knob: Knob, value: unknown): Promise<string | null> {
  const { type, values = [], max_length: maxLength = Infinity, prefixes = [] } = knob;
  if (type === "range" || type === "int_range") return rangeProblem(knob, value);
  if (type === "boolean") return typeof value === "boolean" ? null : "It is not true or false";
  if (type === "model_alias" && value === null) return null;
  if (typeof value !== "string") return "It is not a text";
  if (type === "enum") return values.includes(value) ? null : `It is not one of ${values.map(shown).join(", ")}`;
  if (value.length > maxLength) return `It is longer than ${maxLength}`;
  if (type === "text" && /[\r\n]/.test(value)) return "It has more than one line";
  if (type === "text" && knob.pattern !== undefined) return await patternProblem(knob.pattern, value);
  if (type === "model_alias") return /^\S{1,200}$/.test(value) ? null : "It is no alias of a model";
  if (type !== "path") return null;
  const isUnder = prefixes.some((prefix) => value.startsWith(`${prefix}/`));
  if (!isUnder) return `It is not under ${prefixes.map((prefix) => `${prefix}/`).join(" or ")}`;
  return value.split("/").includes("..") || value.includes("\0") ? "It leads out of its folder" : null;
}

function rangeProblem({ type, min = -Infinity, max = Infinity, step }: Knob, value: unknown): string | null {
  if (typeof value !== "number" || !Number.isFinite(value)) return "It is not a number";
  if (type === "int_range" && !Number.isSafeInteger(value)) return "It is not a whole number";
  if (value < min || value > max) return `It is not between ${min} and ${max}`;
  if (step === undefined) return null;
  const steps = (value - min) / step;
  // Steps such as 0.1 have no exact number: a billionth of one is near enough.
  return Math.abs(steps - Math.round(steps)) < 1e-9 * Math.max(1, Math.abs(steps))
    ? null
    : `It is not ${min} plus a number of steps of ${step}`;
}

async function patternProblem(pattern: string, value: string): Promise<string | null> {
  const read = (await patternReader()).read(pattern);
  if ("problem" in read) return read.problem;
  return read.test(value) ? null : `It does not match the pattern ${shown(pattern)}`;
}
