/**
 * Checks the arguments of a tool before the plugin sees them.
 *
 * @module
 */
import { HostError } from "../errors/host_error.ts";
import { argumentsSchema } from "../mcp/arguments_schema.ts";
import { compileSchema } from "../schema/compile_schema.ts";
import type { SchemaIssue } from "../schema/issue_text.ts";
import { isMap } from "../values/plain_data.ts";
import type { AgentTool } from "./tool_registry.ts";

/** Fields of params that are the host's own. */
const RESERVED: readonly string[] = ["_context", "_config"];

/**
 * Checks the arguments of one call.
 *
 * @throws {HostError} `tool.arguments_invalid` (-32602), with every place in `data.issues`.
 */
export async function checkArguments(
  { name, parametersSchema, definition }: Pick<AgentTool, "name" | "parametersSchema" | "definition">,
  args: unknown,
): Promise<void> {
  // An MCP server's schema is not a checked one, as a manifest's is.
  const schema = definition ? await argumentsSchema(parametersSchema) : parametersSchema;
  const issues = isMap(args) ? await issuesOf(args, schema) : [{ path: "", message: "Expected an object" }];
  const [first] = issues;
  if (!first) return;
  const where = first.path === "" ? "" : `${first.path}: `;
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more)` : "";
  throw new HostError("tool.arguments_invalid", `Cannot call "${name}": ${where}${first.message}${more}`, {
    data: { tool: name, path: first.path, issues },
    hint: "Follow the tool's parameters_schema",
  });
}

async function issuesOf(args: Record<string, unknown>, schema: AgentTool["parametersSchema"]): Promise<SchemaIssue[]> {
  const reserved = RESERVED.filter((key) => Object.hasOwn(args, key));
  if (reserved.length > 0) return reserved.map((path) => ({ path, message: "Is set by the host alone" }));
  return (await compileSchema(schema)).issues(args);
}
