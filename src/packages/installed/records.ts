/**
 * The record of an installed plugin in `local.toml`: written, changed, removed.
 *
 * @module
 */
import { RECORD_KEYS } from "../../core/manifest/manifest.ts";
import type { Files, Ids } from "../../core/ports/ports.ts";
import { type LocalConfig, localConfigOf, openLocalFile } from "../../core/project/local_config.ts";
import { editTomlTable, type TomlValue } from "../../core/documents/edit_toml.ts";
import type { TomlDocument } from "../../core/documents/read_toml.ts";
import { replaceText } from "../../core/files/replace_text.ts";

/** Fields of a record to set. */
export type RecordFields = Readonly<Record<string, TomlValue>>;

/** Ports that changing the file needs. */
export interface RecordPorts {
  readonly files: Files;
  readonly ids: Ids;
}

export interface RecordChange extends RecordPorts {
  /** Fields to set; null removes the record. */
  readonly fields: RecordFields | null;
}

/**
 * Sets fields of a plugin's record, or removes it; secrets in the same table stay. Hold the lock of the home. Returns the
 * file's content after the change.
 *
 * @throws {HostError} `local.*` when the file cannot be read, or not changed in that one place.
 */
export async function writeRecord(home: string, plugin: string, change: RecordChange): Promise<LocalConfig> {
  const { file, before, after } = await changedFile(home, plugin, change);
  const { text } = after;
  if (text !== (before ?? "")) await replaceText(file, { before, text, code: "local.edit_refused" }, change);
  return localConfigOf(after);
}

/** Throws as {@link writeRecord} would, and writes nothing. */
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
