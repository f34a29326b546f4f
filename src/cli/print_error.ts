/**
 * Prints why a command failed.
 *
 * @module
 */
import type { HostError } from "../core/errors/host_error.ts";
import type { DocumentIssue } from "../core/documents/document_report.ts";
import { isMap } from "../core/values/plain_data.ts";
import type { Printer, Terminal } from "./terminal.ts";

/** Prints a failure: for a person on standard error, for a program as JSON on standard output. */
export function printError(error: HostError, terminal: Terminal, { json }: { readonly json: boolean }): void {
  if (json) return terminal.out.json({ error: errorJson(error) });
  const { line, paint } = terminal.err;
  line(`${paint.red(`error[${error.code}]`)}: ${error.message}`);
  const details = manifestLines(error);
  for (const detail of details) line(`  ${detail}`);
  if (details.length > 0) return;
  terminal.err.hint(error.hint);
  // Without a hint of ours the error is the plugin's own, and so is its data.
  if (error.hint === undefined && isWire(error) && error.data !== undefined) {
    printData(error.data, terminal.err);
  }
}

/** Prints the data of a plugin's error as JSON; a text of several lines in it, such as a stack, is quoted below. */
function printData(data: unknown, { line, quote }: Printer): void {
  const isLong = (value: unknown): value is string => typeof value === "string" && value.trimEnd().includes("\n");
  if (!isMap(data)) return isLong(data) ? quote(data) : line(`  data: ${JSON.stringify(data)}`);
  const [long, short] = [true, false].map((is) => Object.entries(data).filter(([, value]) => isLong(value) === is));
  if (short!.length > 0 || long!.length === 0) line(`  data: ${JSON.stringify(Object.fromEntries(short!))}`);
  for (const [name, text] of long!) {
    line(`  ${name}:`);
    quote(text as string);
  }
}

/** Returns a failure as a program gets it. */
export function errorJson(error: HostError): Record<string, unknown> {
  const { code, message, rpc, hint, data } = error;
  return {
    code,
    message,
    ...(isWire(error) ? { rpc } : {}),
    ...(hint === undefined ? {} : { hint }),
    ...(data === undefined ? {} : { data }),
  };
}

/** Whether a plugin's answer, or the lack of one, is what failed: elsewhere the number on the wire says nothing. */
function isWire({ code }: HostError): boolean {
  return code.startsWith("plugin.") || code.startsWith("protocol.");
}

/** Returns one line for each issue of a file, and a hint; none for any other failure. */
export function manifestLines({ code, data }: { readonly code?: string; readonly data?: unknown }): string[] {
  const issues = (data as { issues?: readonly DocumentIssue[] } | null | undefined)?.issues;
  // A plugin chooses the data of its own errors.
  if (
    !/^(?:manifest|project|local|config|mcp_config|hook|hookspec)\.invalid$/.test(code ?? "") || !Array.isArray(issues)
  ) {
    return [];
  }
  return [...issues.map(issueLine), `hint: Correct ${issues.length === 1 ? "this place" : "each of these places"}`];
}

/** Returns an issue as one line: place, code, message and hint. */
function issueLine({ code, file, line, column, path, message, hint }: DocumentIssue): string {
  const where = `${file}:${line}:${column} [${code}]`;
  return `${where} ${path === "" ? "" : `${path}: `}${message}${hint === undefined ? "" : ` (${hint})`}`;
}
