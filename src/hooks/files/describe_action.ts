/**
 * A hook that is no command, in plain words.
 *
 * @module
 */
import type { HookAction } from "./types.ts";

/** Returns what an action does, as a phrase. */
export function describeAction(action: HookAction): string {
  if (action.type === "http") return `POST ${action.url}`;
  if (action.type === "mcp_tool") return `MCP tool ${action.server}.${action.tool}`;
  return `${action.type === "agent" ? "agent" : "model"}: ${action.prompt}`;
}
