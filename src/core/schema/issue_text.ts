/**
 * Words the findings of a check: the place, and the schema's rule there. Never the value itself, which may be a
 * secret.
 *
 * @module
 */
import type { JsonError } from "json-schema-library";
import { mapOf } from "../values/plain_data.ts";
import { shown } from "../values/shown_value.ts";
import { formatPath } from "../documents/document_report.ts";
import type { DocumentPath } from "../documents/places.ts";

/** One mistake that a check found in a value. */
export interface SchemaIssue {
  /** Such as `tags[0]`. Empty for the whole value. */
  readonly path: string;
  /** The rule that the value breaks. */
  readonly message: string;
}

/** Returns a finding of the library about `value` in our words. */
export function issueOf({ code, data }: JsonError, value: unknown): SchemaIssue {
  const path = stepsOf(String(data.pointer), value);
  const schema = mapOf(data, "schema");
  if (code === "required-property-error" || code === "missing-dependency-error") {
    const key = String(data.key ?? data.missingProperty);
    return { path: formatPath([...path, key]), message: `Field ${shown(key)} is missing` };
  }
  if (code === "no-additional-properties-error" || code === "unevaluated-property-error") {
    const known = Object.keys(mapOf(schema, "properties"));
    const rest = known.length > 0 && known.length <= 20 ? `; fields here: ${known.join(", ")}` : "";
    return { path: formatPath(path), message: `Unknown field${rest}` };
  }
  return { path: formatPath(path), message: textOf(String(code), schema, data) };
}

function textOf(code: string, schema: Record<string, unknown>, data: JsonError["data"]): string {
  const texts: Record<string, () => string> = {
    "type-error": () => `Expected ${listed(schema.type, "another type")}, got ${received(data)}`,
    "enum-error": () => `Is not one of ${shown(schema.enum)}`,
    "const-error": () => `Is not ${shown(schema.const)}`,
    "pattern-error": () => `Does not match the pattern ${shown(schema.pattern)}`,
    "minimum-error": () => `Is below ${shown(schema.minimum)}`,
    "exclusive-minimum-error": () => `Is not above ${shown(schema.exclusiveMinimum)}`,
    "maximum-error": () => `Is above ${shown(schema.maximum)}`,
    "exclusive-maximum-error": () => `Is not below ${shown(schema.exclusiveMaximum)}`,
    "multiple-of-error": () => `Is no multiple of ${shown(schema.multipleOf)}`,
    "min-length-error": () => schema.minLength === 1 ? "Is empty" : `Is shorter than ${shown(schema.minLength)}`,
    "max-length-error": () => `Is longer than ${shown(schema.maxLength)}`,
    "min-items-error": () => schema.minItems === 1 ? "Has no items" : `Has fewer than ${shown(schema.minItems)} items`,
    "max-items-error": () => `Has more than ${shown(schema.maxItems)} items`,
    "unique-items-error": () => "Stands twice in its list",
    "min-properties-error": () => `Has fewer than ${shown(schema.minProperties)} fields`,
    "max-properties-error": () => `Has more than ${shown(schema.maxProperties)} fields`,
    "invalid-property-name-error": () => "Has a field whose name is not allowed",
    "unevaluated-items-error": () => "Is an item too many",
    "any-of-error": () => "Fits none of the alternatives",
    "one-of-error": () => "Fits none of the alternatives",
    "multiple-one-of-error": () => "Fits more than one of the alternatives",
    "not-error": () => "Is what the schema forbids",
    "invalid-data-error": () => "May not be set",
    "contains-error": () => "Lacks items the schema asks for",
    "contains-any-error": () => "Lacks items the schema asks for",
    "contains-min-error": () => "Lacks items the schema asks for",
    "contains-max-error": () => "Has too many items of one kind",
    "ref-error": () => "Cannot be checked: the schema refers to nothing",
  };
  return texts[code]?.() ?? "Does not fit the schema";
}

function listed(type: unknown, otherwise: string): string {
  const names = Array.isArray(type) ? type : [type];
  return names.every((name) => typeof name === "string") ? names.join(" or ") : otherwise;
}

function received({ value }: JsonError["data"]): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

/**
 * Returns the steps of a pointer. The library joins keys as they are, so a key may hold the slash that joins them: the
 * value itself says which keys there are.
 */
function stepsOf(pointer: string, value: unknown): DocumentPath {
  const steps: (string | number)[] = [];
  let [rest, here] = [pointer.replace(/^#?\/?/, ""), value];
  while (rest !== "") {
    const step = Array.isArray(here) ? rest.split("/", 1)[0]! : longestKey(here, rest) ?? rest.split("/", 1)[0]!;
    steps.push(Array.isArray(here) && /^\d+$/.test(step) ? Number(step) : step);
    here = typeof here === "object" && here !== null && Object.hasOwn(here, step)
      ? (here as Record<string, unknown>)[step]
      : undefined;
    rest = rest.slice(step.length + 1);
  }
  return steps;
}

function longestKey(map: unknown, rest: string): string | null {
  if (typeof map !== "object" || map === null) return null;
  const fitting = Object.keys(map).filter((key) => key !== "" && `${rest}/`.startsWith(`${key}/`));
  return fitting.sort((a, b) => b.length - a.length)[0] ?? null;
}
