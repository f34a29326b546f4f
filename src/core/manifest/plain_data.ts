/**
 * Reads parts of data that may have any shape.
 *
 * @module
 */
import type { DocumentPath } from "./manifest_report.ts";

/** Whether `value` is a map. */
export function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns the map under `key`, or an empty one. */
export function mapOf(data: Record<string, unknown>, key: string): Record<string, unknown> {
  const value = Object.hasOwn(data, key) ? data[key] : undefined;
  return isMap(value) ? value : {};
}

/** Returns the items of the list under `key` with their paths; none when there is no list. */
export function itemsOf(data: Record<string, unknown>, key: string): [unknown, DocumentPath][] {
  const value = Object.hasOwn(data, key) ? data[key] : undefined;
  return Array.isArray(value) ? value.map((item, index) => [item, [key, index]]) : [];
}

/** Returns the strings of the list under `key` with their paths. */
export function stringsOf(data: Record<string, unknown>, key: string): [string, DocumentPath][] {
  return itemsOf(data, key).filter((item): item is [string, DocumentPath] => typeof item[0] === "string");
}
