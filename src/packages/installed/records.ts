/**
 * The record of an installed plugin in `local.toml`: written, changed, removed.
 *
 * @module
 */
import { RECORD_KEYS } from "../../core/manifest/record_keys.ts";
import type { Files, Ids } from "../../core/ports/ports.ts";
import { LOCAL_FILE, type LocalConfig, readLocalConfig } from "../../core/project/local_config.ts";
import { editTomlTable, type TomlValue } from "../../core/documents/edit_toml.ts";
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
  const { file, before, text } = await changedFile(home, plugin, change);
  if (text !== (before ?? "")) await replaceText(file, { before, text, code: "local.edit_refused" }, change);
  return await readLocalConfig(home, change.files);
}

/** Throws as {@link writeRecord} would, and writes nothing. */
export async function checkRecord(home: string, plugin: string, change: RecordChange): Promise<void> {
  await changedFile(home, plugin, change);
}

interface ChangedFile {
  readonly file: string;
  readonly before: string | null;
  readonly text: string;
}

async function changedFile(home: string, plugin: string, { fields, files }: RecordChange): Promise<ChangedFile> {
  // This throws for a file with mistakes, which is then left alone.
  await readLocalConfig(home, files);
  const path = `${home}/${LOCAL_FILE}`;
  const exists = await files.target(path) !== null;
  // Where local.toml is a link, its target is changed and the link stays.
  const file = exists ? await files.realPath(path) : path;
  const before = exists ? await files.readText(file) : null;
  const change = fields ? { set: fields } : { unset: RECORD_KEYS };
  const edit = { file: LOCAL_FILE, table: ["plugins", plugin], ...change } as const;
  return { file, before, text: await editTomlTable(before ?? "", edit) };
}
