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
  const { file, before, text } = await changedFile(home, plugin, change);
  if (text !== (before ?? "")) await replaceText(file, { before, text, code: "local.edit_refused" }, change);
  return await readLocalConfig(home, change.files);
}

/** Throws what {@link writeRecord} would, and writes nothing. */
export async function checkRecord(home: string, plugin: string, change: RecordChange): Promise<void> {
  await changedFile(home, plugin, change);
}

interface ChangedFile {
  readonly file: string;
  readonly before: string | null;
  readonly text: string;
}

async function changedFile(home: string, plugin: string, { fields, files }: RecordChange): Promise<ChangedFile> {
  // A file that is half written is told of and left alone.
  await readLocalConfig(home, files);
  const path = `${home}/${LOCAL_FILE}`;
  const exists = await files.target(path) !== null;
  // What a link leads to is changed, and the link stays.
  const file = exists ? await files.realPath(path) : path;
  const before = exists ? await files.readText(file) : null;
  const change = fields ? { set: fields } : { unset: RECORD_KEYS };
  const edit = { file: LOCAL_FILE, table: ["plugins", plugin], ...change } as const;
  return { file, before, text: await editTomlTable(before ?? "", edit) };
}
