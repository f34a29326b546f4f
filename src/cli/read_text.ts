/**
 * Reads files that a command was given.
 *
 * @module
 */
import { readFile } from "node:fs/promises";
import { HostError, messageOf } from "../core/errors/host_error.ts";

const WHY: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  EISDIR: "it is a folder",
  EACCES: "you may not read it",
};

/** Reads a file as UTF-8. Rejects with `host.file_unreadable`. */
export async function readText(file: string): Promise<string> {
  const bytes = await readFile(file).catch((cause) => {
    throw unreadable(file, WHY[(cause as { code?: string }).code ?? ""] ?? messageOf(cause), cause);
  });
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw unreadable(file, "it is not UTF-8 text", cause);
  }
}

function unreadable(path: string, why: string, cause: unknown): HostError {
  return new HostError("host.file_unreadable", `Cannot read "${path}": ${why}`, {
    data: { path },
    hint: "Check the path and its permissions",
    cause,
  });
}
