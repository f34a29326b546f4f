/**
 * Hooks that are no commands: requests, tools of MCP servers, questions to a model.
 *
 * @module
 */
import { type Fields, FLAG, LIST, MAP, SOME_TEXT } from "../../core/documents/fields.ts";
import { defined, isMap } from "../../core/values/plain_data.ts";
import { shown } from "../../core/values/shown_value.ts";
import type { HookAction } from "./types.ts";

/** Reads the action of an entry; null once the report has the reason why it cannot be read. */
export function readAction(entry: Fields, type: string): HookAction | null {
  if (type === "http") return readRequest(entry);
  if (type === "mcp_tool") return readTool(entry);
  const prompt = entry.require("prompt", SOME_TEXT, { hint: 'Write "prompt": "… $ARGUMENTS"' });
  const model = entry.get("model", SOME_TEXT);
  const continueOnBlock = type === "agent" || (entry.get("continueOnBlock", FLAG) ?? false);
  if (prompt === undefined) return null;
  return { type: type === "agent" ? "agent" : "prompt", prompt, continueOnBlock, ...defined({ model }) };
}

function readRequest(entry: Fields): HookAction | null {
  const url = entry.require("url", SOME_TEXT, { hint: 'Write "url": "https://…"' });
  const headers = entry.fields("headers").data;
  const allowed = entry.get("allowedEnvVars", LIST) ?? [];
  if (url === undefined) return null;
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    entry.error("wrong_type", "url", { message: `${shown(url)} is no address of a web server` });
    return null;
  }
  const texts = Object.entries(headers).filter((pair): pair is [string, string] => typeof pair[1] === "string");
  return {
    type: "http",
    url,
    headers: Object.fromEntries(texts),
    allowedEnvVars: allowed.filter((name): name is string => typeof name === "string"),
  };
}

function readTool(entry: Fields): HookAction | null {
  const server = entry.require("server", SOME_TEXT);
  const tool = entry.require("tool", SOME_TEXT);
  const input = entry.get("input", MAP) ?? {};
  if (server === undefined || tool === undefined || !isMap(input)) return null;
  return { type: "mcp_tool", server, tool, input };
}
