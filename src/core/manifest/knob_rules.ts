/**
 * What a knob says of itself and of the config field it binds to.
 *
 * @module
 */
import { isMap, mapOf } from "../values/plain_data.ts";
import { shown } from "../values/shown_value.ts";
import type { DocumentPath, ManifestReport } from "./manifest_report.ts";

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
export function checkKnobs(data: Data, report: ManifestReport): void {
  const targets = new Set<unknown>();
  for (const [name, knob] of Object.entries(mapOf(data, "knobs"))) {
    if (!isMap(knob)) continue;
    const path = ["knobs", name];
    checkBounds(knob, path, report);
    checkChoices(knob, path, report);
    checkText(knob, path, report);
    checkPathDefault(knob, path, report);
    checkTarget(knob, path, { data, report });
    if (typeof knob.binds_to === "string" && targets.has(knob.binds_to)) {
      const message = `Two knobs bind to ${shown(knob.binds_to)}`;
      report.warn("manifest.duplicate_knob_target", [...path, "binds_to"], { message });
    }
    targets.add(knob.binds_to);
  }
}

function checkBounds({ type, min, max, step, default: start }: Data, path: DocumentPath, report: ManifestReport): void {
  if (type !== "range" && type !== "int_range") return;
  if (typeof min !== "number" || typeof max !== "number") return;
  if (min >= max) {
    return report.error("manifest.invalid_knob_bounds", [...path, "max"], {
      message: `min ${min} is not below max ${max}`,
    });
  }
  if (typeof step === "number" && (step <= 0 || step > max - min)) {
    const message = `step ${step} is not between 0 and ${max - min}`;
    report.error("manifest.invalid_knob_bounds", [...path, "step"], { message });
  }
  if (typeof start === "number" && (start < min || start > max)) {
    const message = `default ${start} is not between ${min} and ${max}`;
    report.error("manifest.invalid_knob_default", [...path, "default"], { message });
  }
}

function checkChoices(
  { type, values, labels, default: start }: Data,
  path: DocumentPath,
  report: ManifestReport,
): void {
  if (type !== "enum" || !Array.isArray(values)) return;
  values.forEach((value, index) => {
    if (values.indexOf(value) === index) return;
    report.error("manifest.invalid_knob_values", [...path, "values", index], {
      message: `${shown(value)} stands twice`,
    });
  });
  if (typeof start === "string" && !values.includes(start)) {
    const message = `default ${shown(start)} is not one of the values`;
    report.error("manifest.invalid_knob_default", [...path, "default"], { message });
  }
  for (const label of isMap(labels) ? Object.keys(labels) : []) {
    if (values.includes(label)) continue;
    const message = `${shown(label)} is not one of the values`;
    report.error("manifest.invalid_knob_labels", [...path, "labels", label], { message, part: "key" });
  }
}

function checkText(knob: Data, path: DocumentPath, report: ManifestReport): void {
  const { type, max_length: maxLength, default: start } = knob;
  if (type !== "text" && type !== "multiline") return;
  if (typeof start !== "string") return;
  const refuse = (message: string) => report.error("manifest.invalid_knob_default", [...path, "default"], { message });
  if (typeof maxLength === "number" && start.length > maxLength) refuse(`default is longer than ${maxLength}`);
  if (type === "text" && /[\r\n]/.test(start)) refuse("default has more than one line");
}

function checkPathDefault({ type, prefixes, default: start }: Data, path: DocumentPath, report: ManifestReport): void {
  if (type !== "path" || !Array.isArray(prefixes)) return;
  if (new Set(prefixes).size !== prefixes.length) report.error("manifest.invalid_knob_prefixes", [...path, "prefixes"]);
  if (typeof start !== "string") return;
  const prefix = prefixes.find((prefix) => typeof prefix === "string" && start.startsWith(`${prefix}/`));
  if (prefix !== undefined && !start.split("/").includes("..")) return;
  const message = `default ${shown(start)} is no path under ${prefixes.map((prefix) => `${prefix}/`).join(" or ")}`;
  report.error("manifest.invalid_knob_default", [...path, "default"], { message });
}

function checkTarget(knob: Data, path: DocumentPath, { data, report }: { data: Data; report: ManifestReport }): void {
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
