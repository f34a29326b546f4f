/**
 * What an MCP server logs over the wire, as a line beside those of its stderr.
 *
 * @module
 */
import { isMap } from "../values/plain_data.ts";

const MAX_LENGTH = 4096;

/** Returns the line of a `notifications/message`. */
export function logLine(params: unknown): string {
  const { level, logger, data } = isMap(params) ? params : {};
  const text = typeof data === "string" ? data : JSON.stringify(data) ?? "";
  const from = typeof logger === "string" && logger !== "" ? `${logger}: ` : "";
  const line = `[${typeof level === "string" ? level : "info"}] ${from}${text}`.replace(/[\r\n]+/g, " ");
  return line.length > MAX_LENGTH ? `${line.slice(0, MAX_LENGTH)} …` : line;
}
