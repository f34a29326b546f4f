/**
 * `[audit]` of `config.toml`: how long the audit trails of this home are kept.
 *
 * @module
 */
import { type SettingRules, wholeNumber } from "./setting_rules.ts";

/** How long a trail is kept. */
export interface Retention {
  /** Sealed files whose newest event is older are deleted. Default 400. */
  readonly retention_days?: number;
  /** With less space left on the disk, the oldest sealed file is deleted. Default 64. */
  readonly min_free_mb?: number;
}

/** The rules of the settings in `[audit]`. */
export const AUDIT_RULES: SettingRules<keyof Retention> = {
  retention_days: wholeNumber(1, 36_500, "It is not a whole number of days from 1 to 36500"),
  min_free_mb: wholeNumber(0, 1_000_000, "It is not a whole number of megabytes from 0 to 1000000"),
};
