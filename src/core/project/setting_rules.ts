/**
 * Rules of the settings in one table of `config.toml`. A setting that is misspelt would not hold, so every table
 * refuses keys without a rule.
 *
 * @module
 */
import { type Fields, FLAG, LIST, typeName } from "../documents/fields.ts";
import { defined } from "../values/plain_data.ts";

/** A type of setting, by which commands read a value from their words. */
export type SettingKind = "text" | "number" | "flag" | "list";

/** Why a value cannot be used. */
export interface SettingProblem {
  readonly message: string;
  readonly hint?: string;
}

/** The type of one setting, and the check of its value. */
export interface SettingRule {
  readonly kind: SettingKind;
  /** Returns why a value cannot be used, or null. It is asked about each text of a list, and about a flag's boolean. */
  problem(value: unknown): SettingProblem | null;
}

/** The rules of a table, by the keys of its settings. */
export type SettingRules<Key extends string = string> = Readonly<Record<Key, SettingRule>>;

/** Returns the settings of a table that follow their rules; the others are reported. */
export function readSettings(table: Fields, rules: SettingRules): Record<string, unknown> {
  table.expectKeys(Object.keys(rules));
  const settings: Record<string, unknown> = {};
  for (const [name, rule] of Object.entries(rules)) {
    const value = table.has(name) ? valueOf(table, name, rule) : undefined;
    if (value !== undefined) settings[name] = value;
  }
  return settings;
}

function valueOf(table: Fields, name: string, { kind, problem }: SettingRule): unknown {
  if (kind === "list") {
    return table.get(name, LIST)?.filter((text, index) => {
      const why = typeof text === "string" ? problem(text) : { message: `Expected a text, got ${typeName(text)}` };
      if (why !== null) table.report.error("config.invalid_value", [...table.at(name), index], why);
      return why === null;
    });
  }
  const value = kind === "flag" ? table.get(name, FLAG) : table.data[name];
  const why = value === undefined ? null : problem(value);
  if (why === null) return value;
  table.error("invalid_value", name, why);
  return undefined;
}

/** A rule that takes every value of its kind. */
export function any(kind: "flag" | "list"): SettingRule {
  return { kind, problem: () => null };
}

/** A rule with one message for every value that does not fit. */
export function rule(
  kind: SettingKind,
  fits: (value: unknown) => boolean,
  message: string,
  hint?: string,
): SettingRule {
  return { kind, problem: (value) => fits(value) ? null : { message, ...defined({ hint }) } };
}

/** A rule for whole numbers between two bounds. */
export function wholeNumber(least: number, most: number, message: string): SettingRule {
  const isWithin = (value: number): boolean => Number.isSafeInteger(value) && value >= least && value <= most;
  return rule("number", (value) => isWithin(value as number), message);
}
