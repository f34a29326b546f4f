/**
 * How an agent says its window is compacted.
 *
 * @module
 */
import { didYouMean } from "../values/nearest_word.ts";
import { shown } from "../values/shown_value.ts";
import type { DocumentPath, DocumentReport } from "../documents/document_report.ts";
import type { CompactionSettings } from "./types.ts";
import { expectKeys, expectMap, typeName } from "./values.ts";

/** What an agent gets that says nothing of compaction. */
export const DEFAULT_COMPACTION: CompactionSettings = {
  strategy: "drop",
  delegate: null,
  target_tokens: null,
  target_messages: null,
  keep_last: 4,
};

const STRATEGIES: readonly string[] = ["drop", "summarize"];
const KEYS: readonly string[] = Object.keys(DEFAULT_COMPACTION);

/** Reads the `compaction:` block of an agent. What is wrong goes to `report`. */
export function checkCompaction(
  agent: Readonly<Record<string, unknown>>,
  at: DocumentPath,
  report: DocumentReport,
): CompactionSettings {
  const path = [...at, "compaction"];
  if (!Object.hasOwn(agent, "compaction") || agent.compaction === null) return DEFAULT_COMPACTION;
  const block = expectMap(agent.compaction, path, report);
  if (!block) return DEFAULT_COMPACTION;
  expectKeys(block, KEYS, path, report);
  const { strategy = "drop" } = block;
  if (typeof strategy !== "string" || !STRATEGIES.includes(strategy)) {
    const hint = didYouMean(String(strategy), STRATEGIES, `Strategies: ${STRATEGIES.join(", ")}`);
    report.error("project.invalid_value", [...path, "strategy"], {
      message: `${shown(strategy)} is no strategy`,
      hint,
    });
  }
  const count = (key: string, least: number): number | null => {
    const value = block[key] ?? null;
    if (value === null || Number.isSafeInteger(value) && value as number >= least) return value as number | null;
    report.error("project.invalid_value", [...path, key], {
      message: `${key} is not a whole number of at least ${least}`,
      hint: `Write a number of at least ${least}`,
    });
    return null;
  };
  return {
    strategy: strategy as CompactionSettings["strategy"],
    delegate: checkDelegate(block.delegate, [...path, "delegate"], report),
    target_tokens: count("target_tokens", 1),
    target_messages: count("target_messages", 1),
    keep_last: count("keep_last", 0) ?? DEFAULT_COMPACTION.keep_last,
  };
}

function checkDelegate(delegate: unknown, path: DocumentPath, report: DocumentReport): string | null {
  if (delegate === undefined || delegate === null) return null;
  const hint = "Write delegate: { plugin: <key> }";
  if (typeof delegate === "string") {
    report.error("project.wrong_type", path, { message: "Expected a map, got a text", hint });
    return null;
  }
  const map = expectMap(delegate, path, report);
  if (!map) return null;
  expectKeys(map, ["plugin"], path, report);
  if (typeof map.plugin === "string" && map.plugin !== "") return map.plugin;
  const message = `Expected the key of a plugin, got ${typeName(map.plugin)}`;
  report.error("project.wrong_type", [...path, "plugin"], { message, hint });
  return null;
}
