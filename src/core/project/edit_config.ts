/**
 * Settings in `config.toml`: read, set, removed. Comments and order stay, and what would be no good is not written.
 *
 * @module
 */
import { HostError } from "../errors/host_error.ts";
import type { Files, Runtime } from "../ports/ports.ts";
import { type Setting, settingsIn } from "./config_settings.ts";
import { MAX_TOML_BYTES } from "./local_config.ts";
import { CONFIG_FILE, parseOperatorConfig } from "./operator_config.ts";
import { readTomlTree } from "../documents/toml_tree.ts";
import type { Issue } from "./types.ts";
import { DocumentReport, formatPath } from "../documents/document_report.ts";
import { readDocumentText } from "../documents/read_text.ts";
import { editTomlTable, type TomlValue } from "../documents/edit_toml.ts";
import { withHomeLock } from "../files/home_lock.ts";
import { replaceText } from "../files/replace_text.ts";

/** What the file says. */
export interface ConfigFile {
  /** Where it is, whether it exists or not. */
  readonly file: string;
  /** What it sets, by name, in its own order. */
  readonly settings: ReadonlyMap<string, unknown>;
  /** What is allowed and yet looks like a slip. */
  readonly warnings: readonly Issue[];
}

/**
 * Reads what `config.toml` sets.
 *
 * @throws {HostError} `config.unreadable`, or `config.invalid` with every issue in `data.issues`.
 */
export async function readConfigFile(home: string, files: Files): Promise<ConfigFile> {
  const file = `${home}/${CONFIG_FILE}`;
  const { text, data } = await readToml(file, files);
  const { warnings } = await parseOperatorConfig(text ?? "", { file });
  return { file, settings: settingsIn(data), warnings };
}

/** Reads the file as TOML, whatever it says; throws with the place of what is none. */
async function readToml(file: string, files: Files): Promise<{ text: string | null; data: Record<string, unknown> }> {
  const report = new DocumentReport(file, { room: "config", title: CONFIG_FILE });
  const text = await readDocumentText(file, files, { report, maxBytes: MAX_TOML_BYTES });
  const data = text === null || text.trim() === "" ? {} : await readTomlTree(text, report);
  report.throwErrors();
  return { text, data: data ?? {} };
}

/**
 * Sets a setting, or removes it (null), under the lock of the home. Returns whether that changed the file.
 *
 * @throws {HostError} the code of what is wrong with the value; `config.invalid` when something else in the file is;
 * `config.edit_refused` when it cannot be changed in that one place; `install.busy`.
 */
export async function writeSetting(
  home: string,
  setting: Setting,
  value: TomlValue | null,
  runtime: Runtime,
): Promise<boolean> {
  const { files, ids } = runtime;
  return await withHomeLock(home, runtime, async () => {
    const path = `${home}/${CONFIG_FILE}`;
    const { text: before } = await readToml(path, files);
    const { table, name } = setting;
    const change = value === null ? { unset: [name] } : { set: { [name]: value } };
    const text = await editTomlTable(before ?? "", { file: CONFIG_FILE, table, keepsComments: true, ...change });
    await checkWhole(text, setting, path);
    if (text === (before ?? "")) return false;
    // What a link leads to is changed, and the link stays.
    const file = before === null ? path : await files.realPath(path);
    await replaceText(file, { before, text, code: "config.edit_refused" }, { files, ids });
    return true;
  });
}

/** Reads the text as the next host will. */
async function checkWhole(text: string, { key, table, name }: Setting, file: string): Promise<void> {
  try {
    await parseOperatorConfig(text, { file });
  } catch (error) {
    const { issues = [] } = (error as { data?: { issues?: readonly Issue[] } }).data ?? {};
    const path = formatPath([...table, name]);
    const own = issues.find((issue) => issue.path.startsWith(path));
    if (!own) throw error;
    const { code, message, hint } = own;
    throw new HostError(code, `Cannot set ${key}: ${message}`, {
      data: { key },
      ...(hint !== undefined && { hint }),
      cause: error,
    });
  }
}
