/**
 * Reads a file a person wrote, up to a size.
 *
 * @module
 */
import { ERRORS, HostError, type HostErrorCode, messageOf } from "../errors/host_error.ts";
import type { Files } from "../ports/ports.ts";
import type { DocumentReport } from "./document_report.ts";

/**
 * Returns the text of `file`, or null when there is none. No more than one byte above `maxBytes` is read.
 *
 * @throws {HostError} `<room>.unreadable`, or `<room>.invalid` when it is too large or no UTF-8.
 */
export async function readDocumentText(
  file: string,
  files: Files,
  { report, maxBytes }: { readonly report: DocumentReport; readonly maxBytes: number },
): Promise<string | null> {
  const bytes = await readBounded(file, files, { code: report.code("unreadable"), maxBytes });
  if (bytes === null) return null;
  // A file that is cut may end inside a character: its size comes first.
  if (bytes.length > maxBytes) report.errorAt(report.code("too_large"), { line: 1, column: 1 });
  report.throwErrors();
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    report.errorAt(report.code("not_utf8"), { line: 1, column: 1 });
    report.throwErrors();
    return null;
  }
}

async function readBounded(
  file: string,
  files: Files,
  { code, maxBytes }: { readonly code: HostErrorCode; readonly maxBytes: number },
): Promise<Uint8Array | null> {
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
