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
}

/** Returns what a program gets to know of a failure. */
export function errorJson({ code, message, rpc, hint, data }: HostError): Record<string, unknown> {
  // The number is what a plugin chose, or what stands for its silence; elsewhere it says nothing.
  const isWire = code.startsWith("plugin.") || code.startsWith("protocol.");
  return {
    code,
    message,
    ...(isWire ? { rpc } : {}),
    ...(hint === undefined ? {} : { hint }),
    ...(data === undefined ? {} : { data }),
  };
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
