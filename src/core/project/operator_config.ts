/**
 * Reads `config.toml`: how the host runs on this machine.
 *
 * @module
 */
import type { Files } from "../ports/ports.ts";
import { didYouMean } from "../values/nearest_word.ts";
import { isMap } from "../values/plain_data.ts";
import { shown } from "../values/shown_value.ts";
import { type DocumentPath, DocumentReport } from "../documents/document_report.ts";
import { readDocumentText } from "../documents/read_text.ts";
import { type HookSettings, readHookSettings } from "./hook_settings.ts";
import { type HttpSettings, readHttpSettings } from "./http_settings.ts";
import { MAX_TOML_BYTES } from "./local_config.ts";
import { readTomlTree } from "../documents/toml_tree.ts";
import type { Issue } from "./types.ts";
import { typeName } from "./values.ts";

/** Name of the file. */
export const CONFIG_FILE = "config.toml";

/** What a plugin may use at most. */
export interface OperatorLimits {
  /** Memory. */
  readonly memory_mb?: number;
  /** Share of the processors, against other groups. */
  readonly cpu_shares?: number;
  /** Processes and threads. */
  readonly pids?: number;
  /** Size of its tables. */
  readonly storage_mb?: number;
}

/** Names of the limits. */
export const LIMIT_NAMES: readonly string[] = ["memory_mb", "cpu_shares", "pids", "storage_mb"];

/** How the host runs on this machine. */
export interface OperatorConfig {
  /** The file, whether it exists or not. */
  readonly file: string;
  /** Interpreters by name: `[runtimes]`. */
  readonly runtimes: Readonly<Record<string, string>>;
  /** For every plugin: `[limits]`. */
  readonly limits: OperatorLimits;
  /** For one plugin: `[plugin_limits.<name>]`. */
  readonly pluginLimits: Readonly<Record<string, OperatorLimits>>;
  /** What hooks of files may do: `[hooks]`. */
  readonly hooks: HookSettings;
  /** Settings of the HTTP API: `[http]`. */
  readonly http: HttpSettings;
  /** What plugins are told to log. */
  readonly logLevel: LogLevel;
  /** What is allowed and yet looks like a slip. */
  readonly warnings: readonly Issue[];
}

/** How much is logged. */
export type LogLevel = "debug" | "info" | "warn" | "error";

const LOG_LEVELS: readonly string[] = ["debug", "info", "warn", "error"];
const KEYS: readonly string[] = ["runtimes", "limits", "plugin_limits", "hooks", "http", "log_level"];

/**
 * Reads `config.toml` in the operator's folder. A file that is not there says nothing.
 *
 * @throws {HostError} `config.unreadable`, or `config.invalid` with every issue in `data.issues`.
 */
export async function readOperatorConfig(home: string, files: Files): Promise<OperatorConfig> {
  const file = `${home}/${CONFIG_FILE}`;
  const text = await readDocumentText(file, files, { report: reportOn(file), maxBytes: MAX_TOML_BYTES });
  return await parseOperatorConfig(text ?? "", { file });
}

/**
 * Reads the text of a `config.toml`; `file` names it in issues.
 *
 * @throws {HostError} `config.invalid`, with every issue in `data.issues`.
 */
export async function parseOperatorConfig(text: string, { file }: { readonly file: string }): Promise<OperatorConfig> {
  const report = reportOn(file);
  const data = text === "" ? {} : await readTomlTree(text, report);
  report.throwErrors();
  const root = data ?? {};
  for (const key of Object.keys(root)) {
    if (KEYS.includes(key)) continue;
    const hint = didYouMean(key, KEYS, `Keys here: ${KEYS.join(", ")}`);
    report.warn("config.unknown_key", [key], { message: `Unknown key ${shown(key)}`, hint, part: "key" });
  }
  const table = (key: string): Record<string, unknown> =>
    tableAt(Object.hasOwn(root, key) ? root[key] : {}, [key], report);
  const config = {
    file,
    runtimes: runtimesOf(table("runtimes"), report),
    limits: limitsOf(table("limits"), ["limits"], report),
    pluginLimits: Object.fromEntries(
      Object.entries(table("plugin_limits")).map(([name, value]) => {
        const path = ["plugin_limits", name];
        return [name, limitsOf(tableAt(value, path, report), path, report)];
      }),
    ),
    hooks: readHookSettings(table("hooks"), report),
    http: readHttpSettings(table("http"), report),
    logLevel: logLevelOf(root, report),
  };
  report.throwErrors();
  return { ...config, warnings: report.warnings };
}

function runtimesOf(table: Record<string, unknown>, report: DocumentReport): Record<string, string> {
  return Object.fromEntries(
    Object.entries(table).flatMap(([name, path]): [string, string][] => {
      if (typeof path === "string" && path.startsWith("/")) return [[name, path]];
      const message = typeof path === "string" ? "The path is not absolute" : `Expected a path, got ${typeName(path)}`;
      report.error("config.invalid_value", ["runtimes", name], { message, hint: 'Write deno = "/usr/local/bin/deno"' });
      return [];
    }),
  );
}

/** A limit that is misspelt would not hold: unknown ones are refused. */
function limitsOf(table: Record<string, unknown>, path: DocumentPath, report: DocumentReport): OperatorLimits {
  return Object.fromEntries(
    Object.entries(table).flatMap(([name, value]) => {
      const at = [...path, name];
      if (!LIMIT_NAMES.includes(name)) {
        const hint = didYouMean(name, LIMIT_NAMES, `Limits: ${LIMIT_NAMES.join(", ")}`);
        report.error("config.unknown_key", at, { message: `Unknown limit ${shown(name)}`, hint, part: "key" });
      } else if (Number.isSafeInteger(value) && value as number > 0) return [[name, value]];
      else report.error("config.invalid_value", at, { message: "A limit is not a whole number above 0" });
      return [];
    }),
  );
}

function logLevelOf(root: Record<string, unknown>, report: DocumentReport): LogLevel {
  const level = Object.hasOwn(root, "log_level") ? root.log_level : "info";
  if (typeof level === "string" && LOG_LEVELS.includes(level)) return level as LogLevel;
  const hint = didYouMean(String(level), LOG_LEVELS, `Levels: ${LOG_LEVELS.join(", ")}`);
  report.error("config.invalid_value", ["log_level"], { message: `${shown(level)} is no log level`, hint });
  return "info";
}

function tableAt(value: unknown, path: DocumentPath, report: DocumentReport): Record<string, unknown> {
  if (isMap(value)) return value;
  report.error("config.wrong_type", path, { message: `Expected a table, got ${typeName(value)}` });
  return {};
}

function reportOn(file: string): DocumentReport {
  return new DocumentReport(file, { room: "config", title: CONFIG_FILE });
}
