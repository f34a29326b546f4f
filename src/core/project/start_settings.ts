/**
 * `start` and `idle_stop_sec`: of one plugin in project.yaml, of all in `[plugins]` of config.toml.
 *
 * @module
 */
import type { Fields } from "../documents/fields.ts";
import { defined } from "../values/plain_data.ts";
import { shown } from "../values/shown_value.ts";
import { rule, type SettingRules } from "./setting_rules.ts";
import type { StartMode, StartSettings } from "./types.ts";

const MODES: readonly StartMode[] = ["eager", "on_demand"];
const DEFAULT_IDLE_SEC = 300;
/** Longest rest: what a timer takes. */
const MAX_IDLE_SEC = 2_000_000;

export const START_KEYS: readonly (keyof StartSettings)[] = ["start", "idle_stop_sec"];

/** The rules of `[plugins]` in config.toml. */
export const START_RULES: SettingRules<keyof StartSettings> = {
  start: rule("text", (value) => MODES.includes(value as StartMode), "It is neither eager nor on_demand"),
  idle_stop_sec: rule("number", isIdleTime, `It is no number of seconds from 1 to ${MAX_IDLE_SEC}`),
};

/** Reads these settings of one plugin in project.yaml. Mistakes go to the report of the file. */
export function startSettings(fields: Fields): StartSettings {
  const start = fields.choice("start", MODES);
  const idle_stop_sec = fields.data.idle_stop_sec ?? undefined;
  if (idle_stop_sec !== undefined && !isIdleTime(idle_stop_sec)) {
    const message = `${shown(idle_stop_sec)} is no number of seconds from 1 to ${MAX_IDLE_SEC}`;
    fields.error("invalid_idle_stop", "idle_stop_sec", { message });
    return defined({ start });
  }
  return defined({ start, idle_stop_sec }) as StartSettings;
}

/** Returns the settings alone; undefined where nothing is set. */
export function startsOf({ start, idle_stop_sec }: StartSettings): StartSettings | undefined {
  return start === undefined && idle_stop_sec === undefined ? undefined : defined({ start, idle_stop_sec });
}

function isIdleTime(value: unknown): boolean {
  return typeof value === "number" && value >= 1 && value <= MAX_IDLE_SEC;
}

/** Returns how long a plugin may be idle before its process ends; null for one that starts with the host and runs on. */
export function onDemandOf(own: StartSettings = {}, all: StartSettings = {}): { readonly idleStopMs: number } | null {
  if ((own.start ?? all.start) !== "on_demand") return null;
  return { idleStopMs: (own.idle_stop_sec ?? all.idle_stop_sec ?? DEFAULT_IDLE_SEC) * 1000 };
}
