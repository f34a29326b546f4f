/**
 * Checks of the usual schemas as plain code. A check says that a value surely fits, or that it cannot say: every mistake,
 * and every other schema, is left to the whole check, which names what is wrong.
 *
 * @module
 */
import { isMap } from "../values/plain_data.ts";
import type { JsonSchema } from "./json_schema.ts";
import { KEYWORDS } from "./keywords.ts";

/** Whether a value surely fits; `depth` more levels may follow. */
type Fits = (value: unknown, depth: number) => boolean;

/** Levels of a value that are looked at here; the whole check goes deeper. */
const MAX_DEPTH = 32;

const known = new WeakMap<JsonSchema, ((value: unknown) => boolean) | null>();

/** Returns the check of a schema, made once; null for a schema that has more to it. */
export function quickCheck(schema: JsonSchema): ((value: unknown) => boolean) | null {
  let check = known.get(schema);
  if (check === undefined) {
    const fits = checkOf(schema, MAX_DEPTH);
    check = fits && ((value) => fits(value, MAX_DEPTH));
    known.set(schema, check);
  }
  return check;
}

/** By type, the keywords that its check knows; each must be of the kind that the check relies on. */
const CHECKS: Readonly<
  Record<string, { readonly keywords: readonly string[]; make(schema: JsonSchema, depth: number): Fits | null }>
> = {
  string: { keywords: ["minLength", "maxLength"], make: stringCheck },
  number: { keywords: ["minimum", "maximum"], make: numberCheck },
  integer: { keywords: ["minimum", "maximum"], make: numberCheck },
  boolean: { keywords: [], make: () => (value) => typeof value === "boolean" },
  null: { keywords: [], make: () => (value) => value === null },
  array: { keywords: ["items", "minItems", "maxItems"], make: arrayCheck },
  object: { keywords: ["properties", "required", "additionalProperties"], make: objectCheck },
};

function checkOf(schema: unknown, depth: number): Fits | null {
  if (!isMap(schema) || depth === 0) return null;
  const words = Object.keys(schema).filter((word) => KEYWORDS.has(word));
  if (words.length === 0) return isShallow;
  const type = schema["type"];
  const check = typeof type === "string" && Object.hasOwn(CHECKS, type) ? CHECKS[type]! : null;
  const others = words.filter((word) => word !== "type" && word !== "enum");
  if (check === null || !others.every((word) => check.keywords.includes(word))) return null;
  const fits = check.make(schema, depth - 1);
  if (fits === null || !Object.hasOwn(schema, "enum")) return fits;
  const values: unknown = schema["enum"];
  if (!Array.isArray(values) || !values.every((value) => typeof value === "string")) return null;
  const allowed = new Set<unknown>(values);
  return (value, left) => allowed.has(value) && fits(value, left);
}

/** Returns a bound of a schema; null where it is no number. */
function bound(schema: JsonSchema, keyword: string, absent: number): number | null {
  if (!Object.hasOwn(schema, keyword)) return absent;
  const value = schema[keyword];
  return typeof value === "number" ? value : null;
}

function stringCheck(schema: JsonSchema): Fits | null {
  const [min, max] = [bound(schema, "minLength", 0), bound(schema, "maxLength", Infinity)];
  if (min === null || max === null) return null;
  // A character takes one or two units: within these bounds nobody has to count.
  return (value) => typeof value === "string" && value.length <= max && value.length >= 2 * min;
}

function numberCheck(schema: JsonSchema): Fits | null {
  const [min, max] = [bound(schema, "minimum", -Infinity), bound(schema, "maximum", Infinity)];
  if (min === null || max === null) return null;
  const isOfType = schema["type"] === "integer" ? Number.isSafeInteger : Number.isFinite;
  return (value) => isOfType(value) && (value as number) >= min && (value as number) <= max;
}

function arrayCheck(schema: JsonSchema, depth: number): Fits | null {
  const [min, max] = [bound(schema, "minItems", 0), bound(schema, "maxItems", Infinity)];
  const item = Object.hasOwn(schema, "items") ? checkOf(schema["items"], depth) : isShallow;
  if (min === null || max === null || item === null) return null;
  return (value, left) => {
    if (!Array.isArray(value) || left === 0 || value.length < min || value.length > max) return false;
    for (const part of value) if (!item(part, left - 1)) return false;
    return true;
  };
}

function objectCheck(schema: JsonSchema, depth: number): Fits | null {
  const { properties = {}, required = [], additionalProperties: isOpen = true } = schema;
  if (!isMap(properties) || !Array.isArray(required) || typeof isOpen !== "boolean") return null;
  const checks = new Map<string, Fits>();
  for (const name of Object.keys(properties)) {
    const check = name === "__proto__" ? null : checkOf(properties[name], depth);
    if (check === null) return null;
    checks.set(name, check);
  }
  const other: Fits = isOpen ? isShallow : () => false;
  return (value, left) => {
    if (!isMap(value) || left === 0) return false;
    for (const name of required) if (!Object.hasOwn(value, name)) return false;
    for (const name in value) {
      const check = checks.get(name) ?? other;
      if (!check(value[name], left - 1)) return false;
    }
    return true;
  };
}

/** Whether a value of any kind has no more than `left` levels. */
function isShallow(value: unknown, left: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  if (left === 0) return false;
  for (const name in value) if (!isShallow((value as Record<string, unknown>)[name], left - 1)) return false;
  return true;
}
