/**
 * Settings in `config.toml`: read, set, removed. Comments and order stay, and a file that would be invalid is not
 * written.
 *
 * @module
 */
import { formatPath } from "../documents/document_report.ts";
import { editTomlTable, type TomlValue } from "../documents/edit_toml.ts";
import { HostError } from "../errors/host_error.ts";
import { withHomeLock } from "../files/file_lock.ts";
import { replaceText } from "../files/replace_text.ts";
import type { Files, Runtime } from "../ports/ports.ts";
import { defined } from "../values/plain_data.ts";
import { type Setting, settingsIn } from "./config_settings.ts";
import { homeRuleWarnings } from "./net_rule_warnings.ts";
import { openOperatorFile, type OperatorConfig, operatorConfigOf } from "./operator_config.ts";
import type { Issue } from "./types.ts";

/** The settings of `config.toml` as they are in the file. */
export interface ConfigFile extends Pick<OperatorConfig, "file" | "warnings"> {
  /** By name, in the order of the file. */
  readonly settings: ReadonlyMap<string, unknown>;
}

/**
 * Reads the settings of `config.toml`.
 *
 * @throws {HostError} `config.unreadable`, or `config.invalid` with every issue in `data.issues`.
 */
export async function readConfigFile(home: string, files: Files): Promise<ConfigFile> {
  const document = await openOperatorFile(home, files);
  const config = operatorConfigOf(document);
  // What is wrong with local.toml is none of this file's.
  const idle = await homeRuleWarnings(home, config, files).catch(() => []);
  return { file: config.file, settings: settingsIn(document.data), warnings: [...config.warnings, ...idle] };
}

/**
 * Sets a setting, or removes it (null), under the lock of the home. Returns whether that changed the file.
 *
 * @throws {HostError} the code of the rule that the value breaks; `config.invalid` when something else in the file is
 * wrong; `config.edit_refused` when it cannot be changed in that one place; `install.busy`.
 */
export async function writeSetting(
  home: string,
  setting: Setting,
  value: TomlValue | null,
  runtime: Runtime,
): Promise<boolean> {
  const { files, ids } = runtime;
  return await withHomeLock(home, runtime, async () => {
    const before = await openOperatorFile(home, files);
    const { table, name } = setting;
    const change = value === null ? { unset: [name] } : { set: { [name]: value } };
    const after = await editTomlTable(before, { table, keepsComments: true, ...change });
    checkSetting(setting, () => operatorConfigOf(after));
    if (after.text === before.text) return false;
    const { exists, report: { file: path } } = before;
    // The file behind a link is changed, and the link stays.
    const file = exists ? await files.realPath(path) : path;
    const texts = { before: exists ? before.text : null, text: after.text };
    await replaceText(file, { ...texts, code: "config.edit_refused" }, { files, ids });
    return true;
  });
}

/** Runs the check of the whole file, and words its error as one about the setting when that is at fault. */
function checkSetting({ key, table, name }: Setting, check: () => void): void {
  try {
    check();
  } catch (error) {
    const { issues = [] } = (error as { data?: { issues?: readonly Issue[] } }).data ?? {};
    const path = formatPath([...table, name]);
    const own = issues.find((issue) => issue.path.startsWith(path));
    if (!own) throw error;
    const { code, message, hint } = own;
    throw new HostError(code, `Cannot set ${key}: ${message}`, { data: { key }, cause: error, ...defined({ hint }) });
  }
}
