/**
 * Checks each knob, alone and against the config field it binds to.
 *
 * @module
 */
import * as v from "valibot";
import type { DocumentReport } from "../documents/document_report.ts";
import type { DocumentPath } from "../documents/places.ts";
import { patternReader } from "../schema/linear_pattern.ts";
import { isMap, mapOf } from "../values/plain_data.ts";
import { shown } from "../values/shown_value.ts";
import { knobInput } from "./knob_schema.ts";
import { knobProblem } from "./knob_value.ts";

type Data = Record<string, unknown>;

/** JSON Schema types a knob's value may have in the config; the first that is named fits. */
const SCHEMA_TYPES: Readonly<Record<string, readonly string[]>> = {
  range: ["number"],
  int_range: ["integer", "number"],
  enum: ["string"],
  boolean: ["boolean"],
  text: ["string"],
  multiline: ["string"],
  model_alias: ["string"],
  path: ["string"],
};

/** Checks every knob: its bounds, its default, and the field it writes. */
export async function checkKnobs(data: Data, report: DocumentReport): Promise<void> {
  const targets = new Set<unknown>();
  for (const [name, knob] of Object.entries(mapOf(data, "knobs"))) {
    if (!isMap(knob)) continue;
    const path = ["knobs", name];
    checkBounds(knob, path, report);
    checkChoices(knob, path, report);
    checkTarget(knob, path, { data, report });
    if (await hasSoundPattern(knob, path, report)) await checkDefault(knob, path, report);
    if (typeof knob.binds_to === "string" && targets.has(knob.binds_to)) {
      const message = `Two knobs bind to ${shown(knob.binds_to)}`;
      report.warn("manifest.duplicate_knob_target", [...path, "binds_to"], { message });
    }
    targets.add(knob.binds_to);
  }
}

function checkBounds({ type, min, max, step }: Data, path: DocumentPath, report: DocumentReport): void {
  if (type !== "range" && type !== "int_range") return;
  if (typeof min !== "number" || typeof max !== "number") return;
  const refuse = (field: string, message: string): void =>
    report.error("manifest.invalid_knob_bounds", [...path, field], { message });
  if (min >= max) refuse("max", `min ${min} is not below max ${max}`);
  else if (typeof step === "number" && (step <= 0 || step > max - min)) {
    refuse("step", `step ${step} is not between 0 and ${max - min}`);
  }
}

function checkChoices({ type, values, labels, prefixes }: Data, path: DocumentPath, report: DocumentReport): void {
  if (type === "path" && Array.isArray(prefixes) && new Set(prefixes).size !== prefixes.length) {
    report.error("manifest.invalid_knob_prefixes", [...path, "prefixes"]);
  }
  if (type !== "enum" || !Array.isArray(values)) return;
  values.forEach((value, index) => {
    if (values.indexOf(value) === index) return;
    const message = `${shown(value)} stands twice`;
    report.error("manifest.invalid_knob_values", [...path, "values", index], { message });
  });
  for (const label of isMap(labels) ? Object.keys(labels) : []) {
    if (values.includes(label)) continue;
    const message = `${shown(label)} is not one of the values`;
    report.error("manifest.invalid_knob_labels", [...path, "labels", label], { message, part: "key" });
  }
}

async function hasSoundPattern({ type, pattern }: Data, path: DocumentPath, report: DocumentReport): Promise<boolean> {
  if (type !== "text" || typeof pattern !== "string") return true;
  const read = (await patternReader()).read(pattern);
  if (!("problem" in read)) return true;
  report.error("manifest.invalid_knob_pattern", [...path, "pattern"], { message: read.problem });
  return false;
}

/** Checks the default of a knob that is whole otherwise, as a value that an operator sets. */
async function checkDefault(knob: Data, path: DocumentPath, report: DocumentReport): Promise<void> {
  const shape = v.safeParse(knobInput, knob);
  if (!shape.success || shape.output.type === "model_alias") return;
  // A default may lie between two steps: a control shows it, and moves on from there.
  const { step: _, ...unstepped } = shape.output;
  const problem = await knobProblem(unstepped, knob.default);
  if (problem === null) return;
  report.error("manifest.invalid_knob_default", [...path, "default"], {
    message: `The default does not fit: ${problem}`,
  });
}

function checkTarget(knob: Data, path: DocumentPath, { data, report }: { data: Data; report: DocumentReport }): void {
  const { binds_to: target } = knob;
  if (typeof target !== "string") return;
  const fields = mapOf(mapOf(data, "config_schema"), "properties");
  const secrets = mapOf(mapOf(data, "system_config_schema"), "properties");
  const field = target.startsWith("config.") ? target.slice("config.".length) : "";
  const at = [...path, "binds_to"];
  if (target.startsWith("system_config") || Object.hasOwn(secrets, field)) {
    const message = `${shown(target)} is operator-local config`;
    return report.error("manifest.knob_binds_to_system_config", at, { message });
  }
  if (!Object.hasOwn(fields, field)) {
    const message = `${shown(target)} is no field of config_schema`;
    return report.error("manifest.unknown_knob_target", at, { message });
  }
  const mismatch = schemaMismatch(knob, fields[field]);
  if (mismatch !== null) report.warn("manifest.knob_schema_mismatch", at, { message: mismatch });
}

/** Returns how a knob and the schema of its field disagree, or null. */
function schemaMismatch({ type, values, default: start }: Data, schema: unknown): string | null {
  const fitting = typeof type === "string" && Object.hasOwn(SCHEMA_TYPES, type) ? SCHEMA_TYPES[type]! : null;
  if (!fitting || !isMap(schema)) return null;
  const { type: declared, enum: choices } = schema;
  const types: unknown[] = Array.isArray(declared) ? declared : [declared];
  if (declared !== undefined && !types.some((one) => fitting.includes(one as string))) {
    return `A ${type} knob writes ${fitting[0]}, its field takes ${types.join(" or ")}`;
  }
  if (declared !== undefined && start === null && !types.includes("null")) {
    return "The knob's default is null, which its field does not take";
  }
  if (type !== "enum" || !Array.isArray(values)) return null;
  if (!Array.isArray(choices)) return "The knob has choices, its field takes any string";
  const isSame = values.every((value) => choices.includes(value)) && choices.every((choice) => values.includes(choice));
  return isSame ? null : `The knob's choices are ${shown(values)}, its field's are ${shown(choices)}`;
}
