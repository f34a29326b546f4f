/**
 * The form of an MCP server as it is filled in: the drafts of its fields, and the content they stand for.
 *
 * @module
 */
import { type FormField, type FormValue, typedValue } from "../../src/core/approvals/form.ts";

/** What stands in each field, by its name: a text, a tick, or the choices that are ticked. */
export type FormDraft = Readonly<Record<string, string | boolean | readonly string[]>>;

/** Returns the fields as the server wants them to begin. */
export function draftOfForm(fields: readonly FormField[]): FormDraft {
  return Object.fromEntries(fields.map(({ name, kind, initial }) => {
    if (kind === "boolean") return [name, initial === true];
    if (kind === "choices") return [name, Array.isArray(initial) ? initial : []];
    return [name, initial === null ? "" : String(initial)];
  }));
}

/** Returns the content that a draft stands for: fields that are empty are left out. */
export function contentOf(fields: readonly FormField[], draft: FormDraft): Record<string, FormValue> {
  return Object.fromEntries(fields.flatMap((field): [string, FormValue][] => {
    const value = draft[field.name];
    if (field.kind === "choices" && Array.isArray(value)) {
      return value.length > 0 || field.isRequired ? [[field.name, value]] : [];
    }
    const read = typeof value === "string" ? typedValue(field, value) : value as FormValue | undefined;
    return read === undefined ? [] : [[field.name, read]];
  }));
}
