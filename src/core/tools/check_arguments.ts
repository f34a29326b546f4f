/**
 * Checks the arguments of a tool before the plugin sees them.
 *
 * @module
 */
import { HostError } from "../errors/host_error.ts";
import { argumentsSchema } from "../mcp/arguments_schema.ts";
import { compileSchema } from "../schema/compile_schema.ts";
import type { SchemaIssue } from "../schema/issue_text.ts";
import { quickCheck } from "../schema/quick_check.ts";
import { isMap } from "../values/plain_data.ts";
import type { AgentTool } from "./tool_registry.ts";

/** Fields of params that are the host's own. */
const RESERVED: readonly string[] = ["_context", "_config"];

type CheckedTool = Pick<AgentTool, "name" | "parametersSchema" | "definition">;

/** Whether the arguments surely fit. False says nothing: {@link checkArguments} does, and waits for a library first. */
export function surelyFit({ parametersSchema }: CheckedTool, args: unknown): boolean {
  const fits = quickCheck(parametersSchema);
  return fits !== null && isMap(args) && !Object.hasOwn(args, "_context") && !Object.hasOwn(args, "_config") &&
    fits(args);
}

/**
 * Checks the arguments of one call.
 *
 * @throws {HostError} `tool.arguments_invalid` (-32602), with every place in `data.issues`.
 */
export async function checkArguments(
  { name, parametersSchema, definition }: CheckedTool,
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
