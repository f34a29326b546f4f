/**
 * Where a JSON Schema holds other schemas (2020-12, with the older `definitions` and `dependencies`).
 *
 * @module
 */
import { isMap } from "../values/plain_data.ts";
import type { DocumentPath } from "../documents/places.ts";

/** A schema inside another one. */
export interface Subschema {
  /** Of any shape: an author may write anything in the place of a schema. */
  readonly schema: unknown;
  /** Keys and indexes that lead to it. */
  readonly path: DocumentPath;
  /** Whether it is about the same value as the schema it is in, and not about a part of it. */
  readonly isSameValue: boolean;
}

/** `[keyword, about the same value]`, by how the keyword holds schemas. */
const ONE: readonly [string, boolean][] = [
  ["not", true],
  ["if", true],
  ["then", true],
  ["else", true],
  ["items", false],
  ["contains", false],
  ["additionalProperties", false],
  ["propertyNames", false],
  ["unevaluatedItems", false],
  ["unevaluatedProperties", false],
];
const LIST: readonly [string, boolean][] = [["allOf", true], ["anyOf", true], ["oneOf", true], ["prefixItems", false]];
const MAP: readonly [string, boolean][] = [
  ["properties", false],
  ["patternProperties", false],
  ["dependentSchemas", true],
  ["dependencies", true],
  ["$defs", false],
  ["definitions", false],
];

/** Keywords that constrain a value and hold no schema. */
const PLAIN: readonly string[] = [
  "$ref",
  "$anchor",
  "type",
  "enum",
  "const",
  "multipleOf",
  "maximum",
  "exclusiveMaximum",
  "minimum",
  "exclusiveMinimum",
  "maxLength",
  "minLength",
  "pattern",
  "maxItems",
  "minItems",
  "uniqueItems",
  "maxContains",
  "minContains",
  "maxProperties",
  "minProperties",
  "required",
  "dependentRequired",
];

/** Every keyword that takes part in a check; any other is for people, or has no meaning. */
export const KEYWORDS: ReadonlySet<string> = new Set([...PLAIN, ...[...ONE, ...LIST, ...MAP].map(([name]) => name)]);

/** Keywords whose value is a list or a map of schemas or names. */
export const HOLDERS: ReadonlySet<string> = new Set([...[...LIST, ...MAP].map(([name]) => name), "dependentRequired"]);

/** Returns the schemas directly inside `schema`. */
export function subschemas(schema: Readonly<Record<string, unknown>>): Subschema[] {
  const found: Subschema[] = [];
  const has = (keyword: string): boolean => Object.hasOwn(schema, keyword);
  for (const [keyword, isSameValue] of ONE) {
    if (has(keyword)) found.push({ schema: schema[keyword], path: [keyword], isSameValue });
  }
  for (const [keyword, isSameValue] of LIST) {
    const list = has(keyword) ? schema[keyword] : null;
    if (!Array.isArray(list)) continue;
    list.forEach((item, index) => found.push({ schema: item, path: [keyword, index], isSameValue }));
  }
  for (const [keyword, isSameValue] of MAP) {
    const map = has(keyword) ? schema[keyword] : null;
    if (!isMap(map)) continue;
    for (const [name, item] of Object.entries(map)) {
      // The older keyword also takes lists of names.
      if (keyword === "dependencies" && Array.isArray(item)) continue;
      found.push({ schema: item, path: [keyword, name], isSameValue });
    }
  }
  return found;
}
