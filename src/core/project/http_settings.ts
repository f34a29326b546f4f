/**
 * `[http]` of `config.toml`: how `kaged serve` listens.
 *
 * @module
 */
import { any, rule, type SettingRules, wholeNumber } from "./setting_rules.ts";

/** How `kaged serve` listens. Absent fields were not written. */
export interface HttpSettings {
  /** 0 takes any port that is free. */
  readonly port?: number;
  readonly host?: string;
  /** Names that requests may be addressed to, beside addresses and `localhost`. */
  readonly allowed_hosts?: readonly string[];
  /** Upper bound for calls of plugins' methods. */
  readonly calls_per_second?: number;
  /** Whether `X-Kaged-User-Id` names the operator: only behind a proxy that sets it and lets no client set it. */
  readonly trust_user_header?: boolean;
}

/** The rules of the settings in `[http]`. */
export const HTTP_RULES: SettingRules<keyof HttpSettings> = {
  port: wholeNumber(0, 65_535, "The port is not a whole number from 0 to 65535"),
  host: rule("text", isHostName, "The host is no address and no name"),
  allowed_hosts: rule("list", isHostName, "It is no name without a port"),
  calls_per_second: wholeNumber(1, 1_000_000, "It is not a whole number from 1 to 1000000"),
  trust_user_header: any("flag"),
};

function isHostName(value: unknown): boolean {
  return typeof value === "string" && /^[A-Za-z0-9_.:-]{1,253}$/.test(value);
}
