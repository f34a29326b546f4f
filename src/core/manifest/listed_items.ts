/**
 * Items of lists in a manifest, each with the path that leads to it.
 *
 * @module
 */
import type { DocumentPath } from "../documents/places.ts";

/** Returns the items of the list under `key` with their paths; none when there is no list. */
export function itemsOf(data: Record<string, unknown>, key: string): [unknown, DocumentPath][] {
  const value = Object.hasOwn(data, key) ? data[key] : undefined;
  return Array.isArray(value) ? value.map((item, index) => [item, [key, index]]) : [];
}

/** Returns the strings of the list under `key` with their paths. */
export function stringsOf(data: Record<string, unknown>, key: string): [string, DocumentPath][] {
  return itemsOf(data, key).filter((item): item is [string, DocumentPath] => typeof item[0] === "string");
}
