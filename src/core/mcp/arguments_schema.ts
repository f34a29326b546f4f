/**
 * The schema that arguments of an MCP tool are checked against.
 *
 * @module
 */
import type { JsonSchema } from "../schema/json_schema.ts";

/** Stands in for a tool's own schema where the host cannot use that. */
export const ANY_OBJECT: JsonSchema = { type: "object" };

const known = new WeakMap<JsonSchema, Promise<JsonSchema>>();

/**
 * Returns the schema to check a tool's arguments with: its own, or {@link ANY_OBJECT}. Servers bring schemas of older
 * drafts, and with patterns the host does not run; they check their arguments themselves, so such a tool is offered all
 * the same. Found out at the first call: a thousand schemas at once would hold the host up.
 */
export function argumentsSchema(inputSchema: JsonSchema): Promise<JsonSchema> {
  const found = known.get(inputSchema);
  if (found) return found;
  const made = checkable(inputSchema);
  known.set(inputSchema, made);
  return made;
}

async function checkable(inputSchema: JsonSchema): Promise<JsonSchema> {
  const { $schema: _, ...schema } = inputSchema;
  const { schemaProblems } = await import("../schema/schema_problems.ts");
  return (await schemaProblems(schema)).length === 0 ? schema : ANY_OBJECT;
}
