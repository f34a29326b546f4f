/**
 * `[http]` of `config.toml`: how `kaged serve` listens.
 *
 * @module
 */
import { didYouMean } from "../values/nearest_word.ts";
import { shown } from "../values/shown_value.ts";
import type { DocumentReport } from "../documents/document_report.ts";

/** How `kaged serve` listens. Absent fields were not written. */
export interface HttpSettings {
  /** Port; 0 takes any that is free. */
  readonly port?: number;
  /** Address to listen at. */
  readonly host?: string;
  /** Names under which it may be asked, beside addresses and `localhost`. */
  readonly allowed_hosts?: readonly string[];
  /** Calls of plugins' methods that are taken in a second. */
  readonly calls_per_second?: number;
}

/** What each setting holds. */
export const HTTP_SETTING_KINDS: Readonly<Record<keyof HttpSettings, "number" | "text" | "list">> = {
  port: "number",
  host: "text",
  allowed_hosts: "list",
  calls_per_second: "number",
};

/** What each setting of the HTTP API must be, and how to say that it is not. */
const SETTINGS: Readonly<Record<keyof HttpSettings, readonly [(value: unknown) => boolean, string]>> = {
  port: [(value) => isWhole(value, 0, 65_535), "The port is not a whole number from 0 to 65535"],
  host: [isHostName, "The host is no address and no name"],
  allowed_hosts: [(value) => Array.isArray(value) && value.every(isHostName), "It is no list of names without ports"],
  calls_per_second: [(value) => isWhole(value, 1, 1_000_000), "It is not a whole number from 1 to 1000000"],
};

/** Reads the table. A setting that is misspelt would not guard: unknown ones are refused. */
export function readHttpSettings(table: Readonly<Record<string, unknown>>, report: DocumentReport): HttpSettings {
  const names = Object.keys(SETTINGS);
  return Object.fromEntries(
    Object.entries(table).filter(([name, value]) => {
      const at = ["http", name];
      const [fits, message] = Object.hasOwn(SETTINGS, name) ? SETTINGS[name as keyof HttpSettings] : [];
      if (!fits) {
        const hint = didYouMean(name, names, `Settings: ${names.join(", ")}`);
        report.error("config.unknown_key", at, { message: `Unknown setting ${shown(name)}`, hint, part: "key" });
      } else if (!fits(value)) report.error("config.invalid_value", at, { message: message! });
      else return true;
      return false;
    }),
  );
}

function isWhole(value: unknown, least: number, most: number): boolean {
  return Number.isSafeInteger(value) && value as number >= least && value as number <= most;
}

function isHostName(value: unknown): boolean {
  return typeof value === "string" && /^[A-Za-z0-9_.:-]{1,253}$/.test(value);
}
