/**
 * Arguments before and after handlers changed them, field by field.
 *
 * @module
 */
import { type DiffLine, lineDiff } from "../../src/core/values/line_diff.ts";
import { jsonOf, nameOf, textOf } from "./shown_values.ts";

/** A field that was added, removed or changed. */
export interface FieldChange {
  readonly key: string;
  /** The name, printable and cut. */
  readonly label: string;
  readonly how: "added" | "removed" | "changed";
  readonly lines: readonly DiffLine[];
}

type Args = Readonly<Record<string, unknown>>;

/** Returns the fields that differ: those of `after` in their order, then those that are gone. */
export function argumentChanges(before: Args, after: Args): FieldChange[] {
  const gone = Object.keys(before).filter((key) => !Object.hasOwn(after, key));
  return [...Object.keys(after), ...gone].flatMap((key) => {
    const [hadIt, hasIt] = [Object.hasOwn(before, key), Object.hasOwn(after, key)];
    // A text beside anything else is quoted, so that nobody takes it for a number.
    const isMixed = hadIt && hasIt && (typeof before[key] === "string") !== (typeof after[key] === "string");
    const [old, fresh] = [before[key], after[key]].map(isMixed ? jsonOf : textOf) as [string, string];
    if (hadIt && hasIt && old === fresh) return [];
    const how = !hadIt ? "added" : !hasIt ? "removed" : "changed";
    return [{ key, label: nameOf(key), how, lines: lineDiff(hadIt ? old : "", hasIt ? fresh : "") }];
  });
}
