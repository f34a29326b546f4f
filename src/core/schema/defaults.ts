/**
 * Fills in the defaults of a schema.
 *
 * @module
 */
import { isMap } from "../values/plain_data.ts";
import { resolveReference, type SchemaIndex } from "./references.ts";

/** How deep defaults are looked for. */
const MAX_DEPTH = 64;

/**
 * Returns `value` with the default of every field that is not set, in maps that are there. Nothing is made up: a field
 * that is required and has no default stays missing.
 */
export function withDefaults(value: unknown, schema: unknown, index: SchemaIndex, depth = 0): unknown {
  if (!isMap(schema) || depth > MAX_DEPTH) return value;
  let filled = value;
  // Schemas about the same value come first to fill in; each sees what the others left.
  if (typeof schema.$ref === "string") {
    filled = withDefaults(filled, resolveReference(schema.$ref, index), index, depth + 1);
  }
  for (const part of Array.isArray(schema.allOf) ? schema.allOf : []) {
    filled = withDefaults(filled, part, index, depth + 1);
  }
  if (Array.isArray(filled)) {
    const { items } = schema;
    return isMap(items) ? filled.map((item) => withDefaults(item, items, index, depth + 1)) : filled;
  }
  if (!isMap(filled) || !isMap(schema.properties)) return filled;
  const map: Record<string, unknown> = { ...filled };
  for (const [name, property] of Object.entries(schema.properties)) {
    if (name === "__proto__") continue;
    if (!Object.hasOwn(map, name) && isMap(property) && Object.hasOwn(property, "default")) {
      map[name] = structuredClone(property.default);
    }
    if (Object.hasOwn(map, name)) map[name] = withDefaults(map[name], property, index, depth + 1);
  }
  return map;
}
