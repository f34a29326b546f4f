/**
 * The settings of `config.toml`, by the names that commands use: `limits.memory_mb`, `log_level`.
 *
 * @module
 */
import { HostError } from "../errors/host_error.ts";
import { didYouMean } from "../values/nearest_word.ts";
import { isMap } from "../values/plain_data.ts";
import { shown } from "../values/shown_value.ts";
import { AUDIT_RULES } from "./audit_settings.ts";
import { HOOK_RULES } from "./hook_settings.ts";
import { HTTP_RULES } from "./http_settings.ts";
import { LIMIT_RULES } from "./operator_config.ts";
import type { SettingKind, SettingRules } from "./setting_rules.ts";
import { START_RULES } from "./start_settings.ts";
import { APPROVAL_RULES } from "./tool_rules.ts";

/** A setting, and where it stands in the file. */
export interface Setting {
  readonly key: string;
  /** Keys that lead to its table; none at the top of the file. */
  readonly table: readonly string[];
  /** Its key within the table. */
  readonly name: string;
  readonly kind: SettingKind;
}

/** Every setting by its type of value; a part in `<…>` is the operator's to name. */
export const CONFIG_SETTINGS: Readonly<Record<string, SettingKind>> = {
  log_level: "text",
  ...under("limits", LIMIT_RULES),
  ...under("plugin_limits.<plugin>", LIMIT_RULES),
  "runtimes.<name>": "text",
  ...under("hooks", HOOK_RULES),
  ...under("http", HTTP_RULES),
  ...under("audit", AUDIT_RULES),
  ...under("plugins", START_RULES),
  ...under("approvals", APPROVAL_RULES),
};

/**
 * Finds a setting by its name.
 *
 * @throws {HostError} `config.unknown_key`, with the nearest name there is.
 */
export function settingOf(key: string): Setting {
  const found = findSetting(key);
  if (found) return found;
  const names = Object.keys(CONFIG_SETTINGS);
  const [, plugin = "<plugin>"] = /^plugin_limits\.([^.]+)\./.exec(key) ?? [];
  const hint = didYouMean(patternOf(key), names, `Settings: ${names.join(", ")}`).replace("<plugin>", plugin);
  throw new HostError("config.unknown_key", `config.toml has no setting ${shown(key)}`, { data: { key }, hint });
}

function findSetting(key: string): Setting | null {
  const [, runtime] = /^runtimes\.([^<>]+)$/.exec(key) ?? [];
  if (runtime !== undefined) return { key, table: ["runtimes"], name: runtime, kind: "text" };
  const known = patternOf(key);
  if (key.includes("<") || !Object.hasOwn(CONFIG_SETTINGS, known)) return null;
  const steps = key.split(".");
  return { key, table: steps.slice(0, -1), name: steps.at(-1)!, kind: CONFIG_SETTINGS[known]! };
}

/** Returns the key of {@link CONFIG_SETTINGS} that a setting would have: the name of a plugin becomes `<plugin>`. */
function patternOf(key: string): string {
  return key.replace(/^(plugin_limits\.)[a-z][a-z0-9-]*(?=\.)/, "$1<plugin>");
}

/** Returns the settings in a file's data, by name, in the order of the file. Unknown keys are left out. */
export function settingsIn(data: Readonly<Record<string, unknown>>): Map<string, unknown> {
  return new Map(leavesOf([], data).filter(([key]) => findSetting(key) !== null));
}

function leavesOf(path: readonly string[], value: unknown): [string, unknown][] {
  if (!isMap(value)) return [[path.join("."), value]];
  return Object.entries(value).flatMap(([key, inner]) => leavesOf([...path, key], inner));
}

function under(table: string, rules: SettingRules): Record<string, SettingKind> {
  return Object.fromEntries(Object.entries(rules).map(([name, { kind }]) => [`${table}.${name}`, kind]));
}
