/**
 * Finds the schema that a path or a reference names: a file of the hookspec, or a definition in one. Nothing outside
 * the hookspec is ever reached for.
 *
 * @module
 */
import type { HostErrorCode } from "../core/errors/host_error.ts";
import { isMap } from "../core/values/plain_data.ts";
import { followPath } from "../core/values/relative_path.ts";
import { shown } from "../core/values/shown_value.ts";
import type { DocumentPath } from "../core/documents/places.ts";
import { pascalCase } from "./names.ts";
import type { SpecDocument } from "./spec_document.ts";

/** A schema, and its place among the files. */
export interface FoundSchema {
  readonly schema: unknown;
  readonly document: SpecDocument;
  readonly path: DocumentPath;
  readonly name: string;
}

/** Why a reference leads to no schema. */
export interface LostSchema {
  readonly code: HostErrorCode;
  readonly message: string;
}

const DEFINITION = /^\/\$defs\/([^/~%]+)$/;

/**
 * Finds what `reference` in the file `from` leads to: `file.json`, `file.json#/$defs/name`, `#/$defs/name`.
 */
export function resolveSchema(
  reference: string,
  from: SpecDocument,
  documents: ReadonlyMap<string, SpecDocument>,
): FoundSchema | LostSchema {
  const [path = "", fragment = "", ...rest] = reference.split("#");
  const file = path === "" ? from.path : relativePath(path, from.path);
  if (file === null) return { code: "hookspec.schema_outside", message: `${shown(reference)} is outside the hookspec` };
  const document = documents.get(file);
  if (!document || !file.endsWith(".json")) {
    return { code: "hookspec.schema_missing", message: `No schema ${shown(path)}: there is no ${shown(file)}` };
  }
  const stem = file.split("/").at(-1)!.replace(/\.json$/, "");
  if (fragment === "" && rest.length === 0) {
    return { schema: document.data, document, path: [], name: pascalCase(stem) };
  }
  const name = DEFINITION.exec(fragment)?.[1];
  const { $defs } = isMap(document.data) ? document.data : {};
  if (name === undefined || rest.length > 0 || !isMap($defs) || !Object.hasOwn($defs, name)) {
    return { code: "hookspec.reference_dangling", message: `${shown(reference)} names no schema in $defs` };
  }
  return { schema: $defs[name], document, path: ["$defs", name], name: pascalCase(name) };
}

/** Returns `path`, as written in the file `from`, from the hookspec's folder; null when it leads out of that. */
function relativePath(path: string, from: string): string | null {
  if (/^[a-z][a-z0-9+.-]*:/i.test(path) || path.startsWith("/") || path.includes("\\")) return null;
  return followPath(from.split("/").slice(0, -1), path)?.join("/") ?? null;
}
