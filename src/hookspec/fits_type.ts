/**
 * Checks that a value, such as a default in a schema, is of a type of a hookspec.
 *
 * @module
 */
import { isMap } from "../core/values/plain_data.ts";
import type { NamedType, RecordShape, SpecType } from "./types.ts";

/** Whether a value is of a type. A name that `types` lacks was refused elsewhere: any value fits it. */
export function fitsType(
  value: unknown,
  type: RecordShape | SpecType,
  types: ReadonlyMap<string, NamedType>,
): boolean {
  const fits = (inner: unknown, shape: RecordShape | SpecType): boolean => fitsType(inner, shape, types);
  switch (type.type) {
    case "any":
      return true;
    case "null":
      return value === null;
    case "boolean":
      return typeof value === "boolean";
    case "string":
      if (typeof value !== "string" || !value.isWellFormed()) return false;
      return type.values ? type.values.includes(value) : isWithin([...value].length, type.minLength, type.maxLength);
    case "integer":
    case "number":
      if (typeof value !== "number" || (type.type === "integer" && !Number.isInteger(value))) return false;
      return isWithin(value, type.minimum, type.maximum);
    case "list":
      if (!Array.isArray(value) || !isWithin(value.length, type.minItems, type.maxItems)) return false;
      return value.every((item) => fits(item, type.items));
    case "map":
      return isMap(value) && Object.values(value).every((item) => fits(item, type.values));
    case "union":
      return type.options.some((option) => fits(value, option));
    case "named": {
      const named = types.get(type.name);
      return !named || fits(value, named.shape);
    }
    case "record":
      return isMap(value) && fitsRecord(value, type, types);
  }
}

function fitsRecord(
  value: Readonly<Record<string, unknown>>,
  { fields, isOpen }: RecordShape,
  types: ReadonlyMap<string, NamedType>,
): boolean {
  const known = new Set(fields.map(({ name }) => name));
  if (!isOpen && Object.keys(value).some((key) => !known.has(key))) return false;
  return fields.every(({ name, isRequired, type }) => {
    return Object.hasOwn(value, name) ? fitsType(value[name], type, types) : !isRequired;
  });
}

function isWithin(value: number, least = -Infinity, most = Infinity): boolean {
  return value >= least && value <= most;
}
