/**
 * An entry of the timeline in a few words.
 *
 * @module
 */
import { printable } from "../../src/core/values/printable.ts";
import type { TimelineEntry } from "./state.ts";

/** The colour class of an entry. */
export type Weight = "bad" | "warn" | "good" | "plain";

const BAD =
  /crashed|failed|plugin\.refused|violation|overreach|mismatch|killed|tampered|initialize_timeout|upgrade_undone/;
const WARN =
  /timeout|denied|refused|rejected|noise|flood|health_fail|stuck|unavailable|collision|illegal|disabled|exited|consent_requested|approval\.(?:requested|expired)/;
const GOOD = /initialized|installed|enabled|upgraded|knob_write|consent_granted/;
/** Facts that other columns of the row show. */
const ELSEWHERE = new Set(["agent_path", "session_id", "request_id"]);
const MAX_WORDS = 160;

/** Returns the audit event's type, or the notification's method. */
export function typeOf({ kind, data }: TimelineEntry): string {
  if (kind === "gap") return "gap";
  return kind === "audit" ? String(data.type) : String(data.method);
}

/** Returns how much an entry matters to the operator. */
export function weightOf(entry: TimelineEntry): Weight {
  if (entry.kind !== "audit") return entry.kind === "gap" ? "warn" : "plain";
  const type = typeOf(entry);
  if (BAD.test(type)) return "bad";
  if (type === "plugin.method_returned" && factsOf(entry).success === false) return "warn";
  return WARN.test(type) ? "warn" : GOOD.test(type) ? "good" : "plain";
}

/** Returns the agent that an entry is about, or null. */
export function agentOf(entry: TimelineEntry): string | null {
  const { agent_path: path } = factsOf(entry);
  if (typeof path === "string" && path !== "") return path;
  const { instance } = entry.data;
  return typeof instance === "string" ? instance.split("/")[1] ?? null : null;
}

/** Returns the facts of an entry in one line, cut to 160 characters. */
export function wordsOf(entry: TimelineEntry): string {
  if (entry.kind === "gap") return "Entries are missing here: the host no longer had them";
  const words = Object.entries(factsOf(entry))
    .filter(([name, value]) => !ELSEWHERE.has(name) && value !== null && value !== undefined)
    .map(([name, value]) => `${name.replaceAll("_", " ")} ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(" · ");
  return printable(words.length > MAX_WORDS ? `${words.slice(0, MAX_WORDS)}…` : words);
}

function factsOf({ kind, data }: TimelineEntry): Record<string, unknown> {
  const facts = kind === "audit" ? data.data : data.params;
  return typeof facts === "object" && facts !== null && !Array.isArray(facts)
    ? facts as Record<string, unknown>
    : facts === undefined || facts === null
    ? {}
    : { params: facts };
}
