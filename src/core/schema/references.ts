/**
 * References inside one schema: `#`, `#/$defs/name`, `#anchor`. Nothing outside the schema is ever reached for.
 *
 * @module
 */
import { isMap } from "../values/plain_data.ts";
import type { DocumentPath } from "../documents/places.ts";
import { subschemas } from "./keywords.ts";

/** A schema inside a schema. */
export interface IndexedSchema {
  /** Of any shape: an author may write anything in the place of a schema. */
  readonly schema: unknown;
  readonly path: DocumentPath;
}

/** Every schema inside a schema, the whole one first. */
export interface SchemaIndex {
  /** By the path, as `JSON.stringify` of its steps as texts. */
  readonly byPlace: ReadonlyMap<string, IndexedSchema>;
  readonly byAnchor: ReadonlyMap<string, unknown>;
}

/** Finds every schema inside `root`. The walk is as long as the schema is large: cap it before. */
export function indexSchema(root: unknown): SchemaIndex {
  const byPlace = new Map<string, IndexedSchema>();
  const byAnchor = new Map<string, unknown>();
  const visit = (schema: unknown, path: DocumentPath): void => {
    byPlace.set(JSON.stringify(path.map(String)), { schema, path });
    if (!isMap(schema)) return;
    if (typeof schema.$anchor === "string" && !byAnchor.has(schema.$anchor)) byAnchor.set(schema.$anchor, schema);
    for (const sub of subschemas(schema)) visit(sub.schema, [...path, ...sub.path]);
  };
  visit(root, []);
  return { byPlace, byAnchor };
}

/** Returns the schema a reference leads to, or undefined when there is none in this schema. */
export function resolveReference(reference: string, { byPlace, byAnchor }: SchemaIndex): unknown {
  if (!reference.startsWith("#")) return undefined;
  const fragment = decoded(reference.slice(1));
  if (fragment === null) return undefined;
  if (fragment !== "" && !fragment.startsWith("/")) return byAnchor.get(fragment);
  const steps = fragment.split("/").slice(1).map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
  return byPlace.get(JSON.stringify(steps))?.schema;
}

function decoded(fragment: string): string | null {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return null;
  }
}
