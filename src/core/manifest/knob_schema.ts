/**
 * The shape of one knob, by its type.
 *
 * @module
 */
import * as v from "valibot";
import type { Knob } from "./manifest.ts";
import { oneLine } from "./one_line.ts";

/** Longest pattern a knob may bring. */
const MAX_PATTERN_LENGTH = 200;

const common = {
  label: v.pipe(v.string(), v.regex(oneLine(64), "manifest.invalid_knob_label")),
  description: v.exactOptional(v.pipe(v.string(), v.maxLength(280, "manifest.invalid_knob_description"))),
  binds_to: v.string(),
};
const integer = v.pipe(v.number(), v.integer("manifest.invalid_knob_bounds"));
const maxLength = v.exactOptional(v.pipe(integer, v.minValue(1, "manifest.invalid_knob_bounds")));
const choice = v.pipe(v.string(), v.nonEmpty("manifest.invalid_knob_values"));
const someOf = <S extends v.GenericSchema>(item: S, code: string) => v.pipe(v.array(item), v.nonEmpty(code));

const fieldsByType = {
  range: { min: v.number(), max: v.number(), step: v.number(), default: v.number() },
  int_range: { min: integer, max: integer, step: integer, default: integer },
  enum: {
    values: someOf(choice, "manifest.invalid_knob_values"),
    labels: v.exactOptional(v.record(v.string(), v.string())),
    default: v.string(),
  },
  boolean: { default: v.boolean() },
  text: {
    default: v.string(),
    max_length: maxLength,
    pattern: v.exactOptional(v.pipe(v.string(), v.maxLength(MAX_PATTERN_LENGTH, "manifest.invalid_knob_pattern"))),
  },
  multiline: { default: v.string(), max_length: maxLength },
  model_alias: {
    default: v.nullable(v.string()),
    filter: v.exactOptional(v.picklist(["any", "reasoning", "fast"])),
  },
  path: {
    default: v.string(),
    prefixes: someOf(
      v.picklist(["project:", "config:"], "manifest.invalid_knob_prefixes"),
      "manifest.invalid_knob_prefixes",
    ),
    must_exist: v.exactOptional(v.boolean()),
  },
};

/** The fields of a knob, which follow from its type. */
export const knobInput: v.GenericSchema<unknown, Knob> = v.variant("type", [
  v.strictObject({ type: v.literal("range"), ...common, ...fieldsByType.range }),
  v.strictObject({ type: v.literal("int_range"), ...common, ...fieldsByType.int_range }),
  v.strictObject({ type: v.literal("enum"), ...common, ...fieldsByType.enum }),
  v.strictObject({ type: v.literal("boolean"), ...common, ...fieldsByType.boolean }),
  v.strictObject({ type: v.literal("text"), ...common, ...fieldsByType.text }),
  v.strictObject({ type: v.literal("multiline"), ...common, ...fieldsByType.multiline }),
  v.strictObject({ type: v.literal("model_alias"), ...common, ...fieldsByType.model_alias }),
  v.strictObject({ type: v.literal("path"), ...common, ...fieldsByType.path }),
], "manifest.unknown_knob_type");

/** Every type of knob, for hints. */
export const KNOB_TYPES: readonly Knob["type"][] = Object.keys(fieldsByType) as Knob["type"][];

/** Returns every key a knob of this type may have, or null when the type is not known. */
export function knobKeys(type: unknown): string[] | null {
  if (typeof type !== "string" || !Object.hasOwn(fieldsByType, type)) return null;
  return ["type", ...Object.keys(common), ...Object.keys(fieldsByType[type as Knob["type"]])];
}
