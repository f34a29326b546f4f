/**
 * The record of an installed plugin in `local.toml`: written, changed, removed.
 *
 * @module
 */
import { RECORD_KEYS } from "../manifest/record_keys.ts";
import type { Files, Ids } from "../ports.ts";
import { LOCAL_FILE, type LocalConfig, readLocalConfig } from "../project/local_config.ts";
import { editTomlTable, type TomlValue } from "./edit_toml.ts";
import { replaceText } from "./replace_text.ts";

/** Fields of a record to set. */
export type RecordFields = Readonly<Record<string, TomlValue>>;

/** What the file is changed with. */
export interface RecordPorts {
  /** The file system. */
  readonly files: Files;
  /** Makes names. */
  readonly ids: Ids;
}

/**
 * Sets fields of a plugin's record, or removes it with null; a table it shares with secrets stays for those. Hold the
 * lock of the home. Returns what the file says now.
 *
 * @throws {HostError} `local.*` when the file cannot be read, or not changed in that one place.
 */
export async function writeRecord(
  home: string,
  plugin: string,
  { fields, files, ids }: RecordPorts & { readonly fields: RecordFields | null },
): Promise<LocalConfig> {
  // A file that is half written is told of and left alone.
  await readLocalConfig(home, files);
  const path = `${home}/${LOCAL_FILE}`;
  const exists = await files.target(path) !== null;
  // What a link leads to is changed, and the link stays.
  const file = exists ? await files.realPath(path) : path;
  const before = exists ? await files.readText(file) : null;
  const edit = { group: "plugins", name: plugin, ...(fields ? { set: fields } : { unset: RECORD_KEYS }) };
  const text = await editTomlTable(before ?? "", edit);
  if (text !== (before ?? "")) await replaceText(file, { before, text, code: "local.edit_refused" }, { files, ids });
  return await readLocalConfig(home, files);
}
