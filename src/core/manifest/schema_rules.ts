/**
 * The JSON Schemas a manifest brings. Their author is not trusted, and the host runs them.
 *
 * @module
 */
import type { DocumentReport } from "../documents/document_report.ts";
import type { DocumentPath } from "../documents/places.ts";
import { isMap } from "../values/plain_data.ts";
import { itemsOf } from "./listed_items.ts";

/** Checks every schema. The library behind the check loads only when there is one. */
export async function checkSchemas(data: Record<string, unknown>, report: DocumentReport): Promise<void> {
  for (const [schema, path] of schemasIn(data)) {
    if (!isMap(schema)) continue;
    const { schemaProblems } = await import("../schema/schema_problems.ts");
    for (const { path: below, message, hint } of await schemaProblems(schema)) {
      report.error("manifest.invalid_schema", [...path, ...below], { message, ...(hint !== undefined && { hint }) });
    }
  }
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
