/**
 * The plugin's config with every default filled in. The host has checked it against the manifest; what only the plugin
 * can know is checked here.
 *
 * @module
 */
import type { Config } from "../../../src/sdk/mod.ts";

/** How the plugin works for one agent. */
export interface Settings {
  /** Each agent's own memory, or the project's. */
  readonly isolation: "agent" | "project";
  /** Folder of the memory, as written: `config:/memory`. */
  readonly store: string;
  /** Tags that everything retained carries. */
  readonly tags: readonly string[];
  /** Most bytes that one recall or one injection holds. */
  readonly recallBytes: number;
  /** Most memories that a session starts with. */
  readonly maxInjected: number;
  /** Turns of the user between two looks at the transcript. */
  readonly retainEveryNTurns: number;
  /** Whether facts are kept unasked. */
  readonly retainFacts: boolean;
  /** Whether each session leaves a record. */
  readonly retainSummary: boolean;
}

const BYTES_PER_TOKEN = 4;

/** Returns the settings a config means. Throws, for a person, when a value makes no sense. */
export function settingsOf(config: Config): Settings {
  const whole = (name: string, fallback: number, [min, max]: readonly [number, number]): number => {
    const value = config[name] ?? fallback;
    if (Number.isInteger(value) && value >= min && value <= max) return value;
    throw new RangeError(`${name} is no whole number from ${min} to ${max}`);
  };
  const { isolation = "agent", store = "config:/memory", tags = [] } = config;
  if (isolation !== "agent" && isolation !== "project") throw new RangeError("isolation is neither agent nor project");
  if (typeof store !== "string" || !/^config:\/memory(\/|$)/.test(store)) {
    throw new RangeError("store is not config:/memory or a folder below it, the one place this plugin may write");
  }
  if (!Array.isArray(tags) || !tags.every((tag) => typeof tag === "string")) {
    throw new TypeError("tags is no list of texts");
  }
  return {
    isolation,
    store,
    tags: tagsOf(tags),
    recallBytes: whole("recall_budget", 1000, [50, 8000]) * BYTES_PER_TOKEN,
    maxInjected: whole("max_injected", 12, [0, 100]),
    retainEveryNTurns: whole("retain_every_n_turns", 1, [1, 20]),
    retainFacts: config.retain_facts !== false,
    retainSummary: config.retain_summary !== false,
  };
}

/** Returns tags in the one spelling they are kept in: trimmed, on one line, lower case, each once. */
export function tagsOf(tags: readonly string[]): string[] {
  const tidy = tags.map((tag) => tag.normalize("NFKC").replace(/[\s,[\]"']+/g, " ").trim().toLowerCase().slice(0, 64));
  return [...new Set(tidy.filter((tag) => tag !== ""))];
}
