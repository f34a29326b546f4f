/**
 * Parts of a check that differ for an MCP server.
 *
 * @module
 */
import type { AuditData } from "../../core/audit/events.ts";
import type { HostError } from "../../core/errors/host_error.ts";
import { ANY_OBJECT, argumentsSchema } from "../../core/mcp/arguments_schema.ts";
import type { PluginInfo } from "../../core/supervisor/types.ts";
import type { CheckId, CheckRecorder } from "./report.ts";

/** Number of tools that a detail names. */
const SHOWN = 20;

/** Returns the details of rules that an MCP server keeps in a way of its own. */
export function mcpDetails({ manifest: { name, version }, mcp }: PluginInfo): Partial<Record<CheckId, string>> {
  return {
    "initialize.name": mcp ? `${name}; the server calls itself ${JSON.stringify(mcp.name)}` : name,
    "initialize.version": mcp ? `${version}; the server's is ${JSON.stringify(mcp.version)}` : version,
    "initialize.api": mcp ? `MCP ${mcp.protocol}` : "MCP",
    "initialize.capabilities": "Claims none: the manifest alone says what it gets",
    "config.update": "Takes no config",
  };
}

/** Returns the rule that a failed start of an MCP server breaks, or null where it is no failure of MCP. */
export function mcpRuleOf({ code, message }: HostError): CheckId | null {
  if (code === "mcp.version_unsupported") return "initialize.api";
  if (code === "mcp.malformed" && message.includes("initialize")) return "initialize";
  return code.startsWith("mcp.") ? "methods" : null;
}

/** Returns the tools of an MCP server whose schema the host cannot check arguments with. */
export async function uncheckedTools({ mcp, tools }: PluginInfo): Promise<string[]> {
  if (!mcp) return [];
  const schemas = await Promise.all(tools.map(({ parameters_schema }) => argumentsSchema(parameters_schema)));
  return tools.filter((_, index) => schemas[index] === ANY_OBJECT).map(({ name }) => name);
}

/** Records the tools that the server lists, and warns of those that agents do not get as they are. */
export function recordTools(
  recorder: CheckRecorder,
  { tools, plugin }: PluginInfo,
  { left_out, unchecked }: {
    readonly left_out: AuditData["plugin.tools_listed"]["left_out"];
    readonly unchecked: readonly string[];
  },
): void {
  const named = tools.slice(0, SHOWN).map(({ name }) => `${plugin}.${name}`).join(", ");
  const more = tools.length > SHOWN ? ` and ${tools.length - SHOWN} more` : "";
  const warnings = left_out.map(({ tool, reason }) => `Tool ${JSON.stringify(tool)} is left out: ${reason}`);
  if (tools.length === 0) warnings.push("The server offers no tools, and nothing else of it is used");
  if (unchecked.length > 0) {
    warnings.push(`The host cannot check arguments with the schema of ${unchecked.join(", ")}; the server must`);
  }
  recorder.pass("methods", tools.length === 0 ? "No tools" : `Tools: ${named}${more}`, { warnings });
}
