/**
 * Types back to JSON Schema, one file's worth: named types become references.
 *
 * @module
 */
import type { JsonSchema } from "../../core/schema/json_schema.ts";
import type { NamedType, SpecType } from "../types.ts";

/** Returns the schema of a type; `prefix` leads to the named ones, such as `#/$defs/`. */
export function typeSchema(type: SpecType, prefix: string): JsonSchema {
  switch (type.type) {
    case "any":
      return {};
    case "string": {
      const { values, ...rest } = type;
      return values ? { ...rest, enum: values } : rest;
    }
    case "list": {
      const { type: _, items, ...bounds } = type;
      return { type: "array", items: typeSchema(items, prefix), ...bounds };
    }
    case "map":
      if (type.values.type === "any") return { type: "object" };
      return { type: "object", additionalProperties: typeSchema(type.values, prefix) };
    case "union":
      return { anyOf: type.options.map((option) => typeSchema(option, prefix)) };
    case "named":
      return { $ref: `${prefix}${type.name}` };
    default:
      return { ...type };
  }
}

/** Returns the schema of a named type. */
export function namedSchema({ description, shape }: NamedType, prefix: string): JsonSchema {
  const about = description === "" ? {} : { description };
  if (shape.type !== "record") return { ...about, ...typeSchema(shape, prefix) };
  const required = shape.fields.filter(({ isRequired }) => isRequired).map(({ name }) => name);
  const properties = shape.fields.map((field) => {
    const inner = typeSchema(field.type, prefix);
    return [field.name, {
      ...(field.description !== "" && { description: field.description }),
      ...inner,
      ...(field.default !== undefined && { default: field.default }),
    }];
  });
  return {
    ...about,
    type: "object",
    properties: Object.fromEntries(properties),
    ...(required.length > 0 && { required }),
    ...(!shape.isOpen && { additionalProperties: false }),
  };
}
