/**
 * Items of lists and JSON Schemas in a manifest, each with the path that leads to it.
 *
 * @module
 */
import type { DocumentPath } from "../documents/places.ts";
import { isMap } from "../values/plain_data.ts";

/** Returns the items of the list under `key` with their paths; none when there is no list. */
export function itemsOf(data: Record<string, unknown>, key: string): [unknown, DocumentPath][] {
  const value = Object.hasOwn(data, key) ? data[key] : undefined;
  return Array.isArray(value) ? value.map((item, index) => [item, [key, index]]) : [];
}

/** Returns the strings of the list under `key` with their paths. */
export function stringsOf(data: Record<string, unknown>, key: string): [string, DocumentPath][] {
  return itemsOf(data, key).filter((item): item is [string, DocumentPath] => typeof item[0] === "string");
}

/** Returns the values in the places of schemas, of any shape, with their paths. */
export function schemasIn(data: Record<string, unknown>): [unknown, DocumentPath][] {
  return [
    ...["config_schema", "system_config_schema"].map((key): [unknown, DocumentPath] => [data[key], [key]]),
    ...itemsOf(data, "tools").flatMap(([tool, path]): [unknown, DocumentPath][] =>
      isMap(tool) ? [[tool.parameters_schema, [...path, "parameters_schema"]]] : []
    ),
  ];
}
