/**
 * Arguments of a call as a person reads them: every character can be seen, and long texts are folded.
 *
 * @module
 */
import { isMap } from "../../src/core/values/plain_data.ts";
import { printable } from "../../src/core/values/printable.ts";
import { count, counted } from "./words.ts";

/** Longer texts are folded behind their beginning. */
const MAX_CHARS = 600;
const MAX_LINES = 12;
/** Deeper values are written in one line: indenting them would take more room than they do. */
const MAX_DEPTH = 40;
const MAX_NAME = 120;

/** One argument. */
export interface ShownField {
  /** Its own name, to find it again. */
  readonly key: string;
  /** Its name, printable and cut. */
  readonly label: string;
  /** Its type and size: `text, 1,200 characters`. */
  readonly form: string;
  /** A text as it is, anything else as JSON. */
  readonly text: string;
}

/** Returns the arguments, in their order. */
export function fieldsOf(args: Readonly<Record<string, unknown>>): ShownField[] {
  return Object.entries(args).map(([key, value]) => {
    const text = textOf(value);
    return { key, label: nameOf(key), form: formOf(value), text };
  });
}

/** Returns a name that others chose, on one line. */
export function nameOf(name: string): string {
  return printable(name.length > MAX_NAME ? `${name.slice(0, MAX_NAME)}…` : name) || '""';
}

/** Returns the first argument on one line, to tell calls of one tool apart. */
export function previewOf(args: Readonly<Record<string, unknown>>): string {
  const [first] = Object.entries(args);
  if (!first) return "no arguments";
  const value = typeof first[1] === "string" ? first[1] : written(first[1]);
  return nameOf(`${first[0]}: ${value.slice(0, MAX_NAME)}`);
}

/** Returns a text as it is, and anything else as JSON on lines of its own. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : jsonOf(value);
}

/** Returns JSON for people to read and to edit. */
export function jsonOf(value: unknown): string {
  return written(value, isDeep(value, MAX_DEPTH) ? 0 : 2);
}

function written(value: unknown, indent: number = 0): string {
  try {
    return JSON.stringify(value, null, indent);
  } catch {
    return "(nested too deeply to be shown)";
  }
}

/** Returns text whose every character can be seen, on as many lines. JSON keeps its meaning. */
export function printableLines(text: string): string {
  return text.split("\n").map(printable).join("\n");
}

/** Returns the beginning of a long text, and a short one whole. */
export function folded(text: string): string {
  let end = Math.min(text.length, MAX_CHARS);
  for (let lines = 0, at = text.indexOf("\n"); at !== -1 && at < end; at = text.indexOf("\n", at + 1)) {
    if (++lines === MAX_LINES) end = at;
  }
  return text.slice(0, end).replace(/[\uD800-\uDBFF]$/, "");
}

function formOf(value: unknown): string {
  if (typeof value === "string") return value === "" ? "empty text" : `text, ${counted(value.length, "character")}`;
  if (Array.isArray(value)) return `list, ${counted(value.length, "item")}`;
  if (isMap(value)) return `object, ${counted(Object.keys(value).length, "field")}`;
  return value === null ? "null" : typeof value;
}

function isDeep(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return depth === 0 || Object.values(value).some((inner) => isDeep(inner, depth - 1));
}

/** Words of the button that unfolds a text. */
export function unfoldWords(text: string): string {
  return `Show all ${count(text.length)} characters`;
}
