/**
 * The record of an installed plugin in `local.toml`: written, changed, removed.
 *
 * @module
 */
import { RECORD_KEYS } from "../../core/manifest/record_keys.ts";
import type { Files, Ids } from "../../core/ports/ports.ts";
import { type LocalConfig, localConfigOf, openLocalFile } from "../../core/project/local_config.ts";
import { editTomlTable, type TomlValue } from "../../core/documents/edit_toml.ts";
import type { TomlDocument } from "../../core/documents/read_toml.ts";
import { replaceText } from "../../core/files/replace_text.ts";

/** Fields of a record to set. */
export type RecordFields = Readonly<Record<string, TomlValue>>;

/** What the file is changed with. */
export interface RecordPorts {
  /** The file system. */
  readonly files: Files;
  /** Makes names. */
  readonly ids: Ids;
}

/** A change of a record; null removes it. */
export interface RecordChange extends RecordPorts {
  /** Fields to set. */
  readonly fields: RecordFields | null;
}

/**
 * Sets fields of a plugin's record, or removes it; a table it shares with secrets stays for those. Hold the lock of the
 * home. Returns what the file says now.
 *
 * @throws {HostError} `local.*` when the file cannot be read, or not changed in that one place.
 */
export async function writeRecord(home: string, plugin: string, change: RecordChange): Promise<LocalConfig> {
  const { file, before, after } = await changedFile(home, plugin, change);
  const { text } = after;
  if (text !== (before ?? "")) await replaceText(file, { before, text, code: "local.edit_refused" }, change);
  return localConfigOf(after);
}

/** Throws what {@link writeRecord} would, and writes nothing. */
export async function checkRecord(home: string, plugin: string, change: RecordChange): Promise<void> {
  await changedFile(home, plugin, change);
}

interface ChangedFile {
  readonly file: string;
  readonly before: string | null;
  readonly after: TomlDocument;
}

async function changedFile(home: string, plugin: string, { fields, files }: RecordChange): Promise<ChangedFile> {
  const document = await openLocalFile(home, files);
  // A file that is half written is left alone: its error ends the change here.
  localConfigOf(document);
  const { exists, text, report: { file: path } } = document;
  // The file behind a link is changed, and the link stays.
  const file = exists ? await files.realPath(path) : path;
  const change = fields ? { set: fields } : { unset: RECORD_KEYS };
  const after = await editTomlTable(document, { table: ["plugins", plugin], ...change });
  return { file, before: exists ? text : null, after };
}
