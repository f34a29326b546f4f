/**
 * Reads `local.toml`: what is installed, and the secrets of plugins. It is the operator's, and never committed.
 *
 * @module
 */
import { RECORD_KEYS } from "../manifest/record_keys.ts";
import type { Files } from "../ports/ports.ts";
import { isMap } from "../values/plain_data.ts";
import { shown } from "../values/shown_value.ts";
import { DocumentReport, type Place } from "../documents/document_report.ts";
import { readDocumentText } from "../documents/read_text.ts";
import { readTomlTree } from "../documents/toml_tree.ts";
import type { Issue } from "./types.ts";
import { typeName } from "./values.ts";

/** Name of the file. */
export const LOCAL_FILE = "local.toml";

/** Bytes an operator's file may have. */
export const MAX_TOML_BYTES: number = 1024 * 1024;

/** What is known of an installed plugin: `[plugins.<name>]`. */
export interface InstallRecord {
  /** The plugin's name. */
  readonly name: string;
  /** What install wrote when it installed it. */
  readonly installed?: string;
  /** Its version. */
  readonly version?: string;
  /** Hash of its folder. */
  readonly hash?: string;
  /** Whether it serves every project. */
  readonly local: boolean;
  /** Whether it may run. */
  readonly enabled: boolean;
  /** The package it came from, when it is known. */
  readonly package?: string;
  /** Where it was had: a path or an address. */
  readonly source?: string;
  /** Ids of the projects it serves when it is not `local`. */
  readonly projects: readonly string[];
}

/** Values the operator set for a plugin: `[plugins."<package>"]`, variables not filled in yet. Holds secrets. */
export interface SystemValues {
  /** The values. */
  readonly values: Readonly<Record<string, unknown>>;
  /** Where a value stands in the file. */
  placeOf(path: readonly (string | number)[]): Place;
}

/** What the operator set on this machine. */
export interface LocalConfig {
  /** The file, whether it exists or not. */
  readonly file: string;
  /** Installed plugins by name. */
  readonly records: ReadonlyMap<string, InstallRecord>;
  /** Secrets by package. */
  readonly secrets: ReadonlyMap<string, SystemValues>;
  /** Names of models by alias: `[models]`. */
  readonly models: ReadonlyMap<string, unknown>;
  /** What is allowed and yet looks like a slip. */
  readonly warnings: readonly Issue[];
}

const PLUGIN_NAME = /^[a-z][a-z0-9-]*$/;

/**
 * Reads `local.toml` in the operator's folder. A file that is not there says nothing.
 *
 * @throws {HostError} `local.unreadable`, or `local.invalid` with every issue in `data.issues`.
 */
export async function readLocalConfig(home: string, files: Files): Promise<LocalConfig> {
  const file = `${home}/${LOCAL_FILE}`;
  const text = await readDocumentText(file, files, { report: reportOn(file), maxBytes: MAX_TOML_BYTES });
  return await parseLocalConfig(text ?? "", { file });
}

/**
 * Reads the text of a `local.toml`; `file` names it in issues.
 *
 * @throws {HostError} `local.invalid`, with every issue in `data.issues`. No issue holds a value of the file.
 */
export async function parseLocalConfig(text: string, { file }: { readonly file: string }): Promise<LocalConfig> {
  const report = reportOn(file);
  const data = text === "" ? {} : await readTomlTree(text, report);
  report.throwErrors();
  const records = new Map<string, InstallRecord>();
  const secrets = new Map<string, SystemValues>();
  for (const key of Object.keys(data ?? {})) {
    if (key === "plugins" || key === "models") continue;
    const message = `Unknown key ${shown(key)}`;
    report.warn("local.unknown_key", [key], { message, hint: "Keys here: plugins, models", part: "key" });
  }
  for (const [name, table] of Object.entries(tableOf(data, "plugins", report))) {
    const path = ["plugins", name];
    if (!isMap(table)) {
      report.error("local.wrong_type", path, { message: `Expected a table, got ${typeName(table)}` });
      continue;
    }
    // A package without a scope has one table for both: its record and its secrets share no key.
    const isRecord = PLUGIN_NAME.test(name) && RECORD_KEYS.some((key) => Object.hasOwn(table, key));
    if (isRecord) records.set(name, recordOf(name, table, report));
    const values = Object.entries(table).filter(([key]) => !(isRecord && RECORD_KEYS.includes(key)));
    if (values.length === 0) continue;
    const placeOf = (below: readonly (string | number)[]): Place => report.placeOf([...path, ...below], "value");
    secrets.set(name, { values: Object.fromEntries(values), placeOf });
  }
  const models = new Map(Object.entries(tableOf(data, "models", report)));
  report.throwErrors();
  return { file, records, secrets, models, warnings: report.warnings };
}

function recordOf(name: string, table: Record<string, unknown>, report: DocumentReport): InstallRecord {
  const typed = (key: string, wanted: "a text" | "true or false" | "a list"): Record<string, unknown> => {
    if (!Object.hasOwn(table, key)) return {};
    const value = table[key];
    if (typeName(value) === wanted) return { [key]: value };
    report.error("local.wrong_type", ["plugins", name, key], { message: `Expected ${wanted}, got ${typeName(value)}` });
    return {};
  };
  const texts = ["installed", "version", "hash", "package", "source"].map((key) => typed(key, "a text"));
  const flags = ["local", "enabled"].map((key) => typed(key, "true or false"));
  const lists = typed("projects", "a list");
  const { projects = [] } = lists as { projects?: unknown[] };
  if (!projects.every((id) => typeof id === "string")) {
    report.error("local.wrong_type", ["plugins", name, "projects"], { message: "Expected ids of projects" });
  }
  return Object.assign({ name, local: false, enabled: false, projects: [] }, ...texts, ...flags, lists);
}

function tableOf(data: Record<string, unknown> | null, key: string, report: DocumentReport): Record<string, unknown> {
  const value = data && Object.hasOwn(data, key) ? data[key] : {};
  if (isMap(value)) return value;
  report.error("local.wrong_type", [key], { message: `Expected a table, got ${typeName(value)}` });
  return {};
}

function reportOn(file: string): DocumentReport {
  return new DocumentReport(file, { room: "local", title: LOCAL_FILE });
}
