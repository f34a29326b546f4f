/**
 * The type of a JSON Schema as it stands in a manifest or an MCP tool.
 *
 * @module
 */

/** A JSON Schema (2020-12), as data. */
export type JsonSchema = Readonly<Record<string, unknown>>;
