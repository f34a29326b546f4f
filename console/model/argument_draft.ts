/**
 * Edited arguments: the draft in the editor, and the value it stands for.
 *
 * @module
 */
import { isMap } from "../../src/core/values/plain_data.ts";
import { jsonOf, printableLines } from "./shown_values.ts";

type Args = Readonly<Record<string, unknown>>;

/** Returns arguments as JSON to edit, every character of which can be seen. */
export function draftOfArguments(args: Args): string {
  return printableLines(jsonOf(args));
}

/** A draft read: what to send, or why it cannot be. Null arguments: they are those of the request. */
export type ReadDraft =
  | { readonly args: Args | null; readonly problem: null }
  | { readonly args: null; readonly problem: string };

/** Reads a draft; arguments that say the same as those of the request are not sent. */
export function readDraft(draft: string, asked: Args): ReadDraft {
  let value: unknown;
  try {
    value = JSON.parse(draft);
  } catch (error) {
    return { args: null, problem: `This is not JSON: ${(error as Error).message}` };
  }
  if (!isMap(value)) return { args: null, problem: "Arguments are an object: { … }" };
  return { args: JSON.stringify(value) === JSON.stringify(asked) ? null : value, problem: null };
}
