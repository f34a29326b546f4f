/**
 * Reads the text of a file that a person wrote.
 *
 * @module
 */
import { ERRORS, HostError, messageOf } from "../errors/host_error.ts";
import type { Files } from "../ports/ports.ts";
import type { DocumentReport } from "./document_report.ts";

/**
 * Returns the text of the report's file, or null when there is none. No more than one byte above the size of its kind
 * is read.
 *
 * @throws {HostError} `<room>.unreadable`, or `<room>.invalid` when it is too large or no UTF-8.
 */
export async function readDocumentText(report: DocumentReport, files: Files): Promise<string | null> {
  const { maxBytes } = report.kind;
  const bytes = await readHead(report, files);
  if (bytes === null) return null;
  // A file that is cut may end inside a character: its size comes first.
  if (bytes.length > maxBytes) report.errorAt(report.code("too_large"));
  report.throwErrors();
  const text = utf8Text(bytes);
  if (text === null) report.errorAt(report.code("not_utf8"));
  report.throwErrors();
  return text;
}

/** Returns bytes as text, or null when they are no UTF-8. A byte order mark stays, so that an edited file keeps it. */
export function utf8Text(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

/**
 * Like {@link readDocumentText}, for a file that must be there.
 *
 * @throws {HostError} `<room>.missing` with `hint`, when there is none.
 */
export async function requireDocumentText(report: DocumentReport, files: Files, hint: string): Promise<string> {
  const { file, kind: { title } } = report;
  const text = await readDocumentText(report, files);
  if (text !== null) return text;
  throw new HostError(report.code("missing"), `No ${title.toLowerCase()} at "${file}"`, { data: { file }, hint });
}

async function readHead(report: DocumentReport, files: Files): Promise<Uint8Array | null> {
  const { file, kind: { maxBytes } } = report;
  const code = report.code("unreadable");
  const hint = ERRORS[code].fix;
  let kind: string | undefined;
  try {
    kind = (await files.target(file))?.kind;
    if (kind === "file") return await files.readHead(file, maxBytes + 1);
  } catch (thrown) {
    throw new HostError(code, `Cannot read "${file}": ${messageOf(thrown)}`, { cause: thrown, data: { file }, hint });
  }
  if (kind === undefined) return null;
  throw new HostError(code, `"${file}" is no file`, { data: { file, kind }, hint });
}
