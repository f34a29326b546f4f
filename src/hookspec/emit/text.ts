/**
 * Text that every emitter writes.
 *
 * @module
 */
import type { HookSpec, KindSpec, SpecField, SpecType } from "../types.ts";

/** Part of the first lines of every generated file, by which leftovers are found. */
export const GENERATED_MARK = "enerated by `kaged hookspec emit` from ";

/** The line that heads every generated file. */
export function generatedHead({ file }: KindSpec): string {
  return `G${GENERATED_MARK}${file}; do not edit.`;
}

/** Breaks one line of words into lines of at most `width` characters; a longer word stays whole. */
export function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** Whether a hook's input has no fields: then its method has no parameter. */
export function takesNothing({ input }: HookSpec, { types }: KindSpec): boolean {
  const shape = types.find(({ name }) => name === input)!.shape;
  return shape.type === "record" && shape.fields.length === 0;
}

/** Names of plain types that JSON Schema and some languages share. */
export const JSON_TYPES = { null: "null", boolean: "boolean", string: "string", integer: "integer", number: "number" };

/** How one language writes types. */
export interface TypeWriter {
  /** Types that are not made of others. */
  readonly plain: Readonly<Record<"any" | "null" | "boolean" | "string" | "integer" | "number", string>>;
  /** A text that is one of `values`. Default: as any other text. */
  choice?(values: readonly string[]): string;
  list(item: SpecType): string;
  map(value: SpecType): string;
  union(options: readonly SpecType[]): string;
  /** Default: the name itself. */
  named?(name: string): string;
}

/** Returns a type as a language writes it. */
export function writeType(spec: SpecType, writer: TypeWriter): string {
  switch (spec.type) {
    case "list":
      return writer.list(spec.items);
    case "map":
      return writer.map(spec.values);
    case "union":
      return writer.union(spec.options);
    case "named":
      return writer.named?.(spec.name) ?? spec.name;
    case "string":
      return (spec.values && writer.choice?.(spec.values)) ?? writer.plain.string;
    default:
      return writer.plain[spec.type];
  }
}

/** Returns what a field's comment says behind its description: format, bounds, default; empty when there are none. */
export function notesInWords(field: Pick<SpecField, "type" | "default">, { bounds }: { bounds: boolean }): string {
  const { type, default: absent } = field;
  const formats = formatsIn(type);
  const notes = [
    bounds ? boundsInWords(type) : "",
    formats.length === 0 ? "" : `format ${formats.join(" or ")}`,
    absent === undefined ? "" : `default ${JSON.stringify(absent)}`,
  ].filter((note) => note !== "");
  return notes.length === 0 ? "" : ` (${notes.join("; ")})`;
}

/** Returns the formats of a value and of its parts, each once. */
export function formatsIn(type: SpecType): string[] {
  switch (type.type) {
    case "string":
    case "integer":
    case "number":
      return type.format === undefined ? [] : [type.format];
    case "list":
      return formatsIn(type.items);
    case "map":
      return formatsIn(type.values);
    case "union":
      return [...new Set(type.options.flatMap(formatsIn))];
    default:
      return [];
  }
}

/** Returns the bounds of a value in words: `at least 0`, `1 to 5 characters`; empty when there are none. */
export function boundsInWords(type: SpecType): string {
  switch (type.type) {
    case "integer":
    case "number":
      return rangeInWords(type.minimum, type.maximum, "");
    case "string":
      return rangeInWords(type.minLength, type.maxLength, " characters");
    case "list":
      return rangeInWords(type.minItems, type.maxItems, " items");
    default:
      return "";
  }
}

function rangeInWords(least: number | undefined, most: number | undefined, unit: string): string {
  if (least !== undefined && most !== undefined) return `${least} to ${most}${unit}`;
  if (least !== undefined) return `at least ${least}${unit}`;
  return most === undefined ? "" : `at most ${most}${unit}`;
}
