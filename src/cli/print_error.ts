/**
 * How a failed command says why.
 *
 * @module
 */
import type { HostError } from "../core/errors.ts";
import type { ManifestIssue } from "../core/manifest/manifest.ts";
import { printable, type Terminal } from "./terminal.ts";

/** Prints a failure: for a person on standard error, for a program as JSON on standard output. */
export function printError(error: HostError, terminal: Terminal, { json }: { readonly json: boolean }): void {
  if (json) return terminal.out.line(JSON.stringify({ error: errorJson(error) }, null, 2));
  const { line, paint } = terminal.err;
  line(`${paint.red(`error[${error.code}]`)}: ${printable(error.message)}`);
  for (const issue of issuesOf(error)) line(`  ${printable(issueLine(issue))}`);
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

/** Returns the issues of a manifest error; none for any other. */
export function issuesOf(error: HostError): readonly ManifestIssue[] {
  const issues = (error.data as { issues?: readonly ManifestIssue[] } | undefined)?.issues;
  return error.code === "manifest.invalid" && Array.isArray(issues) ? issues : [];
}

/** Returns one issue as one line: where, what, and what to do. */
export function issueLine({ file, line, column, path, message, hint }: ManifestIssue): string {
  const where = `${file}:${line}:${column}`;
  return `${where} ${path === "" ? "" : `${path}: `}${message}${hint === undefined ? "" : ` (${hint})`}`;
}
