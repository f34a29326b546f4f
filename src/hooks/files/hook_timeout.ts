/**
 * How long a hook of a file may take. Files give seconds; here it is milliseconds, and absurd values are named.
 *
 * @module
 */
import type { Fields } from "../../core/documents/fields.ts";
import { shown } from "../../core/values/shown_value.ts";
import type { HookDialect } from "./types.ts";

/** Timeout of a hook without one, by the documents of its dialect. */
export const DEFAULT_TIMEOUT_MS: Readonly<Record<Exclude<HookDialect, "mcp">, number>> = {
  copilot: 30_000,
  agent: 30_000,
  claude: 60_000,
  plugin: 60_000,
};

/** Upper bound for every hook: an agent that waits longer looks dead. */
const MAX_TIMEOUT_MS = 600_000;
const MAX_SECONDS = MAX_TIMEOUT_MS / 1000;

/** Returns the timeout of an entry whose seconds stand under one of `keys`. */
export function readTimeout(
  entry: Fields,
  { keys, defaultMs }: { readonly keys: readonly string[]; readonly defaultMs: number },
): number {
  const key = keys.find((name) => entry.has(name));
  if (key === undefined) return defaultMs;
  const seconds = entry.data[key];
  const warn = (message: string, hint: string): void =>
    entry.report.warn("hook.timeout_absurd", entry.at(key), { message, hint });
  if (typeof seconds !== "number" || seconds <= 0) {
    entry.error("timeout_invalid", key, { message: `A timeout is not a number of seconds above 0: ${shown(seconds)}` });
    return defaultMs;
  }
  if (seconds > MAX_SECONDS) {
    const meant = seconds >= 1000 && Number.isInteger(seconds / 100)
      ? `; ${seconds} ms would be ${seconds / 1000}`
      : "";
    warn(
      `${seconds} seconds is longer than any hook gets: ${MAX_SECONDS} are used`,
      `Write seconds, at most ${MAX_SECONDS}${meant}`,
    );
    return MAX_TIMEOUT_MS;
  }
  if (seconds < 0.1) {
    warn(`${seconds} seconds is less than a shell takes to start`, "Write seconds: 1 is the least that makes sense");
  }
  return Math.max(1, seconds * 1000);
}
