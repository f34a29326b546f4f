/**
 * How a failed command says why.
 *
 * @module
 */
import type { HostError } from "../core/errors/host_error.ts";
import type { DocumentIssue } from "../core/documents/document_report.ts";
import { printable, type Terminal } from "./terminal.ts";

/** Prints a failure: for a person on standard error, for a program as JSON on standard output. */
export function printError(error: HostError, terminal: Terminal, { json }: { readonly json: boolean }): void {
  if (json) return terminal.out.line(JSON.stringify({ error: errorJson(error) }, null, 2));
  const { line, paint } = terminal.err;
  line(`${paint.red(`error[${error.code}]`)}: ${printable(error.message)}`);
  const details = manifestLines(error);
  for (const detail of details) line(`  ${printable(detail)}`);
  if (details.length > 0) return;
  if (error.hint !== undefined) line(`  hint: ${printable(error.hint)}`);
  // Without a hint of ours the error is the plugin's own, and so is what it adds.
  else if (isWire(error) && error.data !== undefined) line(`  data: ${printable(JSON.stringify(error.data))}`);
}

/** Returns what a program gets to know of a failure. */
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

/** Returns the lines that tell every issue of a file and what to do; none for any other failure. */
export function manifestLines({ code, data }: { readonly code?: string; readonly data?: unknown }): string[] {
  const issues = (data as { issues?: readonly DocumentIssue[] } | null | undefined)?.issues;
  // A plugin's error may hold anything.
  if (!/^(?:manifest|project|local|config|hooks|hookspec)\.invalid$/.test(code ?? "") || !Array.isArray(issues)) {
    return [];
  }
  return [...issues.map(issueLine), `hint: Correct ${issues.length === 1 ? "this place" : "each of these places"}`];
}

/** One issue as one line: where, which rule, what, and what to do. */
function issueLine({ code, file, line, column, path, message, hint }: DocumentIssue): string {
  const where = `${file}:${line}:${column} [${code}]`;
  return `${where} ${path === "" ? "" : `${path}: `}${message}${hint === undefined ? "" : ` (${hint})`}`;
}
