/**
 * Places in the text of hooks that the event fills in.
 *
 * @module
 */
import { isMap } from "../../../core/values/plain_data.ts";

type Data = Readonly<Record<string, unknown>>;

/**
 * Returns the arguments of a tool with `${path}` replaced by fields of the event; the name of one that it does not have.
 * A text that is one such place alone takes the field as it is.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * const event = { tool_input: { path: "a", lines: 3 } };
 * const input = { file: "in ${tool_input.path}", lines: "${tool_input.lines}" };
 * assert.deepEqual(filledInput(input, event), { input: { file: "in a", lines: 3 } });
 * assert.deepEqual(filledInput({ x: "${none}" }, event), { missing: "none" });
 * ```
 */
export function filledInput(input: Data, event: Data): { readonly input: Data } | { readonly missing: string } {
  let missing: string | null = null;
  const field = (path: string): unknown => {
    let value: unknown = event;
    for (const key of path.split(".")) value = isMap(value) && Object.hasOwn(value, key) ? value[key] : undefined;
    if (value === undefined) missing ??= path;
    return value;
  };
  const filled = (value: unknown): unknown => {
    if (typeof value === "string") {
      const [, only] = /^\$\{([\w.]+)\}$/.exec(value) ?? [];
      if (only !== undefined) return field(only);
      return value.replace(/\$\{([\w.]+)\}/g, (_, path: string) => asText(field(path)));
    }
    if (Array.isArray(value)) return value.map(filled);
    return isMap(value) ? Object.fromEntries(Object.entries(value).map(([key, one]) => [key, filled(one)])) : value;
  };
  const whole = filled(input) as Data;
  return missing === null ? { input: whole } : { missing };
}

const asText = (value: unknown): string => typeof value === "string" ? value : JSON.stringify(value) ?? "";

/** Returns a question with the event in place of `$ARGUMENTS`, or behind it; `\$` is a dollar. */
export function filledPrompt(prompt: string, event: string): string {
  let isFilled = false;
  const filled = prompt.replace(/\\\$|\$ARGUMENTS/g, (found) => {
    if (found === "\\$") return "$";
    isFilled = true;
    return event.trim();
  });
  return isFilled ? filled : `${filled}\n\n${event.trim()}`;
}
