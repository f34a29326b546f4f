/**
 * Reads `config.toml`: how the host runs on this machine.
 *
 * @module
 */
import type { OperatorRules } from "../rules/rules.ts";
import type { DocumentKind } from "../documents/document_report.ts";
import { Fields } from "../documents/fields.ts";
import { openToml, parseToml, type TomlDocument } from "../documents/read_toml.ts";
import type { Files } from "../ports/ports.ts";
import { AUDIT_RULES, type Retention } from "./audit_settings.ts";
import { DEFAULT_HOOK_SETTINGS, HOOK_RULES, type HookSettings, UNSANDBOXED_RULES } from "./hook_settings.ts";
import { HTTP_RULES, type HttpSettings } from "./http_settings.ts";
import { type NetRule, readNetRules } from "./net_rules.ts";
import { readOperatorRules } from "./tool_rules.ts";
import { readSettings, rule, type SettingRules, wholeNumber } from "./setting_rules.ts";
import { START_RULES } from "./start_settings.ts";
import type { Issue, StartSettings } from "./types.ts";

const CONFIG_FILE = "config.toml";
const KIND: DocumentKind = { room: "config", title: CONFIG_FILE, maxBytes: 1024 * 1024 };

/** Upper bounds for one plugin. */
export interface OperatorLimits {
  readonly memory_mb?: number;
  /** Share of the processors, against other groups. */
  readonly cpu_shares?: number;
  /** Processes and threads together. */
  readonly pids?: number;
  readonly storage_mb?: number;
  /** Calls that may time out in a row, with none answered in between, before the plugin is started again. */
  readonly timeouts?: number;
  /** How much of its output is read, against others that send too much as well. */
  readonly weight?: number;
}

const limit = wholeNumber(1, Number.MAX_SAFE_INTEGER, "A limit is not a whole number above 0");

/** The rules of `[limits]` and of each `[plugin_limits.<name>]`. */
export const LIMIT_RULES: SettingRules<keyof OperatorLimits> = {
  memory_mb: limit,
  cpu_shares: limit,
  pids: limit,
  storage_mb: limit,
  timeouts: limit,
  weight: wholeNumber(1, 100, "A weight is not a whole number from 1 to 100"),
};

/** Returns the part of the limits that a cage enforces: the storage and the supervisor enforce the others. */
export function cageLimitsOf(
  { storage_mb: _storage, timeouts: _timeouts, weight: _weight, ...limits }: OperatorLimits,
): Omit<OperatorLimits, "storage_mb" | "timeouts" | "weight"> {
  return limits;
}

/** How the host runs on this machine. */
export interface OperatorConfig extends OperatorRules {
  /** The file, whether it exists or not. */
  readonly file: string;
  /** Interpreters by name: `[runtimes]`. */
  readonly runtimes: Readonly<Record<string, string>>;
  /** For every plugin: `[limits]`. */
  readonly limits: OperatorLimits;
  /** For one plugin: `[plugin_limits.<name>]`. */
  readonly pluginLimits: Readonly<Record<string, OperatorLimits>>;
  /** Rights of hook files: `[hooks]`. */
  readonly hooks: HookSettings;
  /** Settings of the HTTP API: `[http]`. */
  readonly http: HttpSettings;
  /** How long audit trails are kept: `[audit]`. */
  readonly audit: Retention;
  /** When plugins have processes, where their declarations do not say: `[plugins]`. */
  readonly plugins: StartSettings;
  /** Limits on the requests of plugins: `[[net_rules]]`. */
  readonly netRules: readonly NetRule[];
  /** Least level that plugins are asked to log. Default `info`. */
  readonly logLevel: (typeof LOG_LEVELS)[number];
  /** Keys that are allowed and look like slips. */
  readonly warnings: readonly Issue[];
}

/** Levels of log lines, the most talkative first. */
const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;
const KEYS: readonly string[] = [
  "runtimes",
  "limits",
  "plugin_limits",
  "hooks",
  "http",
  "audit",
  "plugins",
  "log_level",
  "net_rules",
  "tool_rules",
  "approvals",
];

const RUNTIME_RULE = rule(
  "text",
  (path) => typeof path === "string" && path.startsWith("/"),
  "The path is not absolute",
  'Write deno = "/usr/local/bin/deno"',
);

/**
 * Reads `config.toml` in the operator's folder. A file that is not there says nothing.
 *
 * @throws {HostError} `config.unreadable`, or `config.invalid` with every issue in `data.issues`.
 */
export async function readOperatorConfig(home: string, files: Files): Promise<OperatorConfig> {
  return operatorConfigOf(await openOperatorFile(home, files));
}

/** Opens `config.toml` in the operator's folder for an editor. Throws as {@link readOperatorConfig} does. */
export function openOperatorFile(home: string, files: Files): ReturnType<typeof openToml> {
  return openToml(`${home}/${CONFIG_FILE}`, KIND, files);
}

/**
 * Reads the text of a `config.toml`; `file` names it in issues.
 *
 * @throws {HostError} `config.invalid`, with every issue in `data.issues`.
 */
export async function parseOperatorConfig(text: string, { file }: { readonly file: string }): Promise<OperatorConfig> {
  return operatorConfigOf(await parseToml(text, file, KIND));
}

/** Returns the config in a document. Throws `config.invalid`. */
export function operatorConfigOf({ data, report }: TomlDocument): OperatorConfig {
  const root = new Fields(data, [], report);
  root.expectKeys(KEYS, "warn");
  const runtimes = root.fields("runtimes");
  const pluginLimits = root.fields("plugin_limits");
  const named = <T>(table: Fields, read: (name: string) => T): Record<string, T> =>
    Object.fromEntries(Object.keys(table.data).map((name) => [name, read(name)]));
  const { unsandboxed: _, ...hooks } = readSettings(root.fields("hooks"), { ...HOOK_RULES, ...UNSANDBOXED_RULES });
  const config = {
    file: report.file,
    runtimes: readSettings(runtimes, named(runtimes, () => RUNTIME_RULE)) as Record<string, string>,
    limits: readSettings(root.fields("limits"), LIMIT_RULES),
    pluginLimits: named(pluginLimits, (name) => readSettings(pluginLimits.fields(name), LIMIT_RULES)),
    hooks: { ...DEFAULT_HOOK_SETTINGS, ...hooks },
    http: readSettings(root.fields("http"), HTTP_RULES),
    audit: readSettings(root.fields("audit"), AUDIT_RULES),
    plugins: readSettings(root.fields("plugins"), START_RULES) as StartSettings,
    netRules: readNetRules(root),
    ...readOperatorRules(root),
    logLevel: root.choice("log_level", LOG_LEVELS) ?? "info",
  };
  report.throwErrors();
  return { ...config, warnings: report.warnings };
}
