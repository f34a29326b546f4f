/**
 * The JSON Schemas and patterns a manifest brings. They come from somebody nobody trusts, and the host runs them.
 *
 * @module
 */
import { isMap, mapOf } from "../values/plain_data.ts";
import { itemsOf } from "./listed_items.ts";
import type { DocumentPath, ManifestReport } from "./manifest_report.ts";

type Data = Readonly<Record<string, unknown>>;

/** Checks every schema and every pattern. What reads them loads only when there is one. */
export async function checkSchemas(data: Data, report: ManifestReport): Promise<void> {
  const schemas: [unknown, DocumentPath][] = ["config_schema", "system_config_schema"].map((key) => [data[key], [key]]);
  for (const [tool, path] of itemsOf({ ...data }, "tools")) {
    if (isMap(tool)) schemas.push([tool.parameters_schema, [...path, "parameters_schema"]]);
  }
  for (const [schema, path] of schemas) if (isMap(schema)) await checkSchema(schema, path, report);
  for (const [name, knob] of Object.entries(mapOf({ ...data }, "knobs"))) {
    if (!isMap(knob) || knob.type !== "text" || typeof knob.pattern !== "string") continue;
    await checkPattern(knob, ["knobs", name], report);
  }
}

async function checkSchema(schema: Data, path: DocumentPath, report: ManifestReport): Promise<void> {
  const { schemaProblems } = await import("../schema/schema_problems.ts");
  for (const { path: below, message, hint } of await schemaProblems(schema)) {
    report.error("manifest.invalid_schema", [...path, ...below], { message, ...(hint !== undefined && { hint }) });
  }
}

async function checkPattern(knob: Data, path: DocumentPath, report: ManifestReport): Promise<void> {
  const { patternReader } = await import("../schema/linear_pattern.ts");
  const { pattern, default: start } = knob;
  const read = (await patternReader()).read(String(pattern));
  if ("problem" in read) {
    return report.error("manifest.invalid_knob_pattern", [...path, "pattern"], { message: read.problem });
  }
  if (typeof start === "string" && !read.test(start)) {
    const message = "default does not match the knob's pattern";
    report.error("manifest.invalid_knob_default", [...path, "default"], { message });
  }
}
