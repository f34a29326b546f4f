/**
 * The part of JSON Schema 2020-12 that means the same in every language, and what else stands in a schema.
 *
 * @module
 */

/** Keywords for people; they change nothing about a type. */
export const ANNOTATIONS: readonly string[] = [
  "title",
  "description",
  "examples",
  "deprecated",
  "readOnly",
  "writeOnly",
  "$comment",
];

/** Keywords at the root of a file alone. */
export const ROOT_KEYWORDS: readonly string[] = ["$schema", "$defs"];

/** Keywords that constrain a value, by its type. */
export const TYPE_KEYWORDS: Readonly<Record<string, readonly string[]>> = {
  null: [],
  boolean: [],
  string: ["minLength", "maxLength", "format"],
  integer: ["minimum", "maximum", "format"],
  number: ["minimum", "maximum", "format"],
  array: ["items", "minItems", "maxItems"],
  object: ["properties", "required", "additionalProperties"],
};

/** Every keyword that types are made of. */
export const TYPE_MAKING: readonly string[] = [
  "$ref",
  "anyOf",
  "const",
  "enum",
  "type",
  ...new Set(Object.values(TYPE_KEYWORDS).flat()),
];

/** Hints for keywords that have a better one. */
export const INSTEAD: Readonly<Record<string, string>> = {
  oneOf: "Use anyOf",
  allOf: "Write the fields out, or refer to one schema",
  definitions: "Use $defs",
  default: "Write it beside the type of a field, in properties",
  $id: "Leave it out: a file is named by its path",
  pattern: "Say it in the description: languages differ in what a pattern means",
  exclusiveMinimum: "Use minimum",
  exclusiveMaximum: "Use maximum",
};

/** The only dialect there is. */
export const DIALECT = "https://json-schema.org/draft/2020-12/schema";
