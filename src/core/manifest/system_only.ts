/**
 * `system_only: true` on a field of config_schema: the older spelling of a field in system_config_schema.
 *
 * @module
 */
import type { DocumentReport } from "../documents/document_report.ts";
import { isMap, mapOf } from "../values/plain_data.ts";
import { shown } from "../values/shown_value.ts";

type Data = Record<string, unknown>;

/** Returns the manifest with such fields in system_config_schema, and a warning for each. */
export function moveSystemOnly(data: Data, report: DocumentReport): Data {
  const schema = mapOf(data, "config_schema");
  const fields = mapOf(schema, "properties");
  // A field that stands in both schemas is not moved: the rule against shared fields reports it.
  const taken = mapOf(mapOf(data, "system_config_schema"), "properties");
  const moved = Object.keys(fields).filter((name) => {
    return isMap(fields[name]) && fields[name].system_only === true && !Object.hasOwn(taken, name);
  });
  if (moved.length === 0) return data;
  for (const name of moved) {
    report.warn("manifest.system_only", ["config_schema", "properties", name], {
      message: `Field ${shown(name)} is moved to system_config_schema`,
      part: "key",
    });
  }
  // A system_config_schema that is no map is reported by the shape check, and takes no fields.
  const hasSystem = Object.hasOwn(data, "system_config_schema");
  if (hasSystem && !isMap(data.system_config_schema)) return data;
  const system: Data = hasSystem
    ? mapOf(data, "system_config_schema")
    : { type: "object", additionalProperties: false };
  const isMoved = (name: unknown): boolean => moved.includes(name as string);
  const required = listOf(schema.required);
  return {
    ...data,
    config_schema: {
      ...schema,
      properties: pick(fields, (name) => !isMoved(name)),
      ...(required && { required: required.filter((name) => !isMoved(name)) }),
    },
    system_config_schema: {
      ...system,
      properties: { ...mapOf(system, "properties"), ...pick(fields, isMoved) },
      required: [...listOf(system.required) ?? [], ...(required ?? []).filter(isMoved)],
    },
  };
}

function pick(fields: Data, isWanted: (name: string) => boolean): Data {
  return Object.fromEntries(
    Object.entries(fields).filter(([name]) => isWanted(name)).map(([name, field]) => {
      if (!isMap(field) || !Object.hasOwn(field, "system_only")) return [name, field];
      const { system_only: _, ...rest } = field;
      return [name, rest];
    }),
  );
}

function listOf(value: unknown): unknown[] | null {
  return Array.isArray(value) ? value : null;
}
