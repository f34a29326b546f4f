/**
 * The part of an error's message that stays the same when the same thing fails again.
 *
 * @module
 */
import { redactText } from "./redact.ts";

const MAX_READ_CHARS = 4_000;
const MAX_CHARS = 240;

/** Parts that differ from one time to the next, and their marks. Order counts: an earlier pattern takes the digits of a later one. */
const CHANGING: readonly [RegExp, string][] = [
  // deno-lint-ignore no-control-regex
  [/\x1b\[[0-9;]*[A-Za-z]/g, ""],
  [/\b\d{4}-\d\d-\d\d[t ]\d\d:\d\d(:\d\d)?(\.\d{1,9})?(z|[+-]\d\d:?\d\d)?/gi, "<time>"],
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, "<id>"],
  [/\bhttps?:\/\/[^\s"'<>]{1,500}/gi, "<url>"],
  [/(?<![\w.])(~|\.{1,2})?(\/[\w.@+-]{1,255}){2,64}/g, "<path>"],
  [/\b[a-z]:\\[^\s"'<>|]{1,500}/gi, "<path>"],
  [/\b(0x)?(?=[0-9a-f]{0,40}\d)[0-9a-f]{8,64}\b/gi, "<hex>"],
  [/\d+/g, "<n>"],
  [/\s+/g, " "],
];

/**
 * Returns an error's message with marks for times, ids, addresses, paths, numbers and secrets.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * assert.equal(errorSignature("ENOENT: /tmp/a1/x.json, line 40"), "enoent: <path>, line <n>");
 * ```
 */
export function errorSignature(message: string): string {
  let text = redactText(message.slice(0, MAX_READ_CHARS)).text;
  for (const [pattern, mark] of CHANGING) text = text.replace(pattern, mark);
  return text.trim().toLowerCase().slice(0, MAX_CHARS);
}
