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

/** Keywords that hold schemas, by how they hold them. */
const HOLDING: readonly Holding[] = [
  { holds: "one", isSameValue: true, keywords: ["not", "if", "then", "else"] },
  { holds: "one", isSameValue: false, keywords: ["items", "contains", "additionalProperties", "propertyNames"] },
  { holds: "one", isSameValue: false, keywords: ["unevaluatedItems", "unevaluatedProperties"] },
  { holds: "list", isSameValue: true, keywords: ["allOf", "anyOf", "oneOf"] },
  { holds: "list", isSameValue: false, keywords: ["prefixItems"] },
  { holds: "map", isSameValue: false, keywords: ["properties", "patternProperties", "$defs", "definitions"] },
  { holds: "map", isSameValue: true, keywords: ["dependentSchemas", "dependencies"] },
];

interface Holding extends Pick<Subschema, "isSameValue"> {
  readonly holds: "one" | "list" | "map";
  readonly keywords: readonly string[];
}

/** A type that the values of some keywords must have. */
export interface KeywordType {
  readonly name: string;
  readonly fits: (value: unknown) => boolean;
  readonly keywords: readonly string[];
}

const isNumber = (value: unknown): value is number => typeof value === "number";

/** Keywords whose type a check relies on. */
export const KEYWORD_TYPES: readonly KeywordType[] = [
  { name: "a map", fits: isMap, keywords: holders("map") },
  { name: "a list of schemas", fits: (value) => Array.isArray(value) && value.length > 0, keywords: holders("list") },
  { name: "a number", fits: isNumber, keywords: ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"] },
  { name: "a text", fits: (value) => typeof value === "string", keywords: ["pattern"] },
  { name: "true or false", fits: (value) => typeof value === "boolean", keywords: ["uniqueItems"] },
  { name: "a number above 0", fits: (value) => isNumber(value) && value > 0, keywords: ["multipleOf"] },
  {
    name: "a whole number from 0 up",
    fits: (value) => isNumber(value) && Number.isSafeInteger(value) && value >= 0,
    keywords: ["Length", "Items", "Contains", "Properties"].flatMap((what) => [`min${what}`, `max${what}`]),
  },
];

/** Every keyword that takes part in a check; any other is for people, or has no meaning. */
export const KEYWORDS: ReadonlySet<string> = new Set([
  ...["$ref", "$anchor", "type", "enum", "const", "required", "dependentRequired"],
  ...[...HOLDING, ...KEYWORD_TYPES].flatMap(({ keywords }) => keywords),
]);

/** Keywords whose value is a list or a map of schemas or names. */
export const HOLDERS: ReadonlySet<string> = new Set([...holders("list"), ...holders("map"), "dependentRequired"]);

/** Returns the schemas directly inside `schema`. */
export function subschemas(schema: Readonly<Record<string, unknown>>): Subschema[] {
  return HOLDING.flatMap(({ holds, isSameValue, keywords }) =>
    keywords.filter((keyword) => Object.hasOwn(schema, keyword)).flatMap((keyword): Subschema[] => {
      const value = schema[keyword];
      if (holds === "one") return [{ schema: value, path: [keyword], isSameValue }];
      if (holds === "list" ? !Array.isArray(value) : !isMap(value)) return [];
      // The older keyword `dependencies` also takes lists of names.
      const parts = Object.entries(value as object)
        .filter(([, part]) => keyword !== "dependencies" || !Array.isArray(part));
      return parts.map(([step, part]) => {
        return { schema: part, path: [keyword, holds === "list" ? Number(step) : step], isSameValue };
      });
    })
  );
}

function holders(holds: Holding["holds"]): string[] {
  return HOLDING.filter((one) => one.holds === holds).flatMap(({ keywords }) => keywords);
}
