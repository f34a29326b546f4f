/**
 * Short keys for long texts: the text itself is not kept.
 *
 * @module
 */
import { canonicalText } from "../../../core/values/canonical_text.ts";

/** Returns 16 hex digits that differ where texts do. For keys, not for secrets. */
export function textKey(text: string): string {
  let [low, high] = [0x811c9dc5, 0x9e3779b1];
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    low = Math.imul(low ^ unit, 0x01000193);
    high = Math.imul(high ^ unit ^ (low >>> 13), 0x85ebca6b);
  }
  return [low ^ (high >>> 15), high ^ (low >>> 16)].map((half) => (half >>> 0).toString(16).padStart(8, "0")).join("");
}

/** Returns the key of any JSON, whatever the order of its keys. */
export function valueKey(value: unknown): string {
  return textKey(typeof value === "string" ? value : canonicalText(value));
}
