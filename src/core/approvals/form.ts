/**
 * The form of an elicitation: what an MCP server asks a person for, as flat fields, and the check of what was filled in.
 * The schema is written by a server that nobody trusts: only the few keywords that MCP allows in it are read.
 *
 * @module
 */
import { isMap, mapOf } from "../values/plain_data.ts";
import { shown } from "../values/shown_value.ts";

type Args = Readonly<Record<string, unknown>>;

/** A value that a person can fill in. */
export type FormValue = string | number | boolean | readonly string[];

/** One field of a form. */
export interface FormField {
  /** Name of the value in the answer. */
  readonly name: string;
  /** For people; the name where the server gives none. */
  readonly title: string;
  /** For people; empty where the server gives none. */
  readonly description: string;
  readonly isRequired: boolean;
  readonly kind: "text" | "number" | "integer" | "boolean" | "choice" | "choices";
  /** Of `choice` and `choices`. */
  readonly options: readonly { readonly value: string; readonly title: string }[];
  /** As `minLength`, `minimum` or `minItems` say; null without a bound. */
  readonly least: number | null;
  /** As `maxLength`, `maximum` or `maxItems` say; null without a bound. */
  readonly most: number | null;
  /** `email`, `uri`, `date`, `date-time`, or null. */
  readonly format: string | null;
  readonly initial: FormValue | null;
}

/** Most fields of a form. */
const MAX_FIELDS = 100;
/** Longest text that a person can fill in. */
const MAX_TEXT = 64 * 1024;

/** Returns the address that a person is to open; null for a form. */
export function addressIn({ mode, url }: Args): string | null {
  return mode === "url" && typeof url === "string" ? url : null;
}

/** Returns the fields of a form; null when its schema is none that MCP allows. */
export function formFields({ requestedSchema: schema }: Args): FormField[] | null {
  if (!isMap(schema) || schema["type"] !== "object") return null;
  const required = Array.isArray(schema["required"]) ? schema["required"] : [];
  const entries = Object.entries(mapOf(schema, "properties"));
  if (entries.length > MAX_FIELDS) return null;
  const fields = entries.map(([name, property]) => fieldOf(name, property, required.includes(name)));
  return fields.some((field) => field === null) ? null : fields as FormField[];
}

/** Returns the value that a person typed into a field; undefined for an empty one, which is left out. */
export function typedValue({ kind }: Pick<FormField, "kind">, text: string): FormValue | undefined {
  if (text.trim() === "") return undefined;
  if (kind === "choices") return text.split(",").map((one) => one.trim()).filter((one) => one !== "");
  // What is no number stays as it was typed: the check names the field.
  return (kind === "number" || kind === "integer") && !Number.isNaN(Number(text)) ? Number(text) : text;
}

/** Returns what is wrong with what a person filled in, in words; null where nothing is. */
export function contentProblem(args: Args, content: Args): string | null {
  const fields = formFields(args) ?? [];
  const unknown = Object.keys(content).find((key) => !fields.some(({ name }) => name === key));
  if (unknown !== undefined) return `The form has no field ${shown(unknown)}`;
  for (const field of fields) {
    const problem = problemOf(field, Object.hasOwn(content, field.name) ? content[field.name] : undefined);
    if (problem !== null) return `${field.name}: ${problem}`;
  }
  return null;
}

function fieldOf(name: string, property: unknown, isRequired: boolean): FormField | null {
  if (!isMap(property)) return null;
  const { title, description, format } = property;
  const shape = shapeOf(property);
  if (!shape) return null;
  const text = (value: unknown, otherwise: string): string => typeof value === "string" ? value : otherwise;
  const number = (...keys: readonly string[]): number | null => {
    const value = keys.map((key) => property[key]).find((one) => typeof one === "number");
    return value as number | undefined ?? null;
  };
  const field = {
    name,
    title: text(title, name),
    description: text(description, ""),
    isRequired,
    ...shape,
    least: number("minLength", "minimum", "minItems"),
    most: number("maxLength", "maximum", "maxItems"),
    format: typeof format === "string" ? format : null,
    initial: null,
  };
  const initial = property["default"];
  return initial !== undefined && problemOf(field, initial) === null
    ? { ...field, initial: initial as FormValue }
    : field;
}

function shapeOf(property: Readonly<Record<string, unknown>>): Pick<FormField, "kind" | "options"> | null {
  const { type } = property;
  if (type === "boolean" || type === "number" || type === "integer") return { kind: type, options: [] };
  if (type === "array") {
    const options = optionsOf(mapOf(property, "items"));
    return options && { kind: "choices", options };
  }
  if (type !== "string") return null;
  const options = optionsOf(property);
  return options ? { kind: "choice", options } : { kind: "text", options: [] };
}

/** Reads choices: `enum` with `enumNames`, or `oneOf` and `anyOf` of constants with titles. */
function optionsOf(property: Readonly<Record<string, unknown>>): FormField["options"] | null {
  const { enum: values, enumNames: names } = property;
  if (Array.isArray(values)) {
    const titles = Array.isArray(names) ? names : [];
    return values.filter((value) => typeof value === "string").map((value, at) => {
      return { value, title: typeof titles[at] === "string" ? titles[at] : value };
    });
  }
  const constants = property["oneOf"] ?? property["anyOf"];
  if (!Array.isArray(constants)) return null;
  return constants.flatMap((one) => {
    const value = isMap(one) ? one["const"] : null;
    return typeof value === "string" ? [{ value, title: typeof one.title === "string" ? one.title : value }] : [];
  });
}

/** Returns what is wrong with the value of a field, in words; null where nothing is. */
function problemOf(field: Omit<FormField, "initial">, value: unknown): string | null {
  const { kind, options, isRequired } = field;
  if (value === undefined) return isRequired ? "It is required" : null;
  const isOption = (one: unknown): boolean => options.some((option) => option.value === one);
  const named = (): string => `It is none of: ${options.slice(0, 20).map((option) => option.value).join(", ")}`;
  switch (kind) {
    case "boolean":
      return typeof value === "boolean" ? null : "It is neither true nor false";
    case "choice":
      return isOption(value) ? null : named();
    case "choices":
      if (!Array.isArray(value) || new Set(value).size < value.length) return "It is no list of different choices";
      return value.every(isOption) ? outside(field, value.length, "choices") : named();
    case "text":
      if (typeof value !== "string" || value.length > MAX_TEXT) return "It is no text";
      return outside(field, [...value].length, "characters") ?? formatProblem(field.format, value);
    default: {
      const isNumber = typeof value === "number" && Number.isFinite(value);
      if (!isNumber || (kind === "integer" && !Number.isInteger(value))) {
        return kind === "integer" ? "It is no whole number" : "It is no number";
      }
      return outside(field, value, "");
    }
  }
}

function outside({ least, most }: Pick<FormField, "least" | "most">, size: number, unit: string): string | null {
  const of = (bound: number): string => unit === "" ? `${bound}` : `${bound} ${unit}`;
  if (least !== null && size < least) return `It is less than ${of(least)}`;
  return most !== null && size > most ? `It is more than ${of(most)}` : null;
}

function formatProblem(format: string | null, value: string): string | null {
  switch (format) {
    case "email":
      return /^[^\s@]+@[^\s@]+$/u.test(value) ? null : "It is no e-mail address";
    case "uri":
      return URL.canParse(value) ? null : "It is no address";
    case "date":
      return /^\d{4}-\d\d-\d\d$/u.test(value) && !Number.isNaN(Date.parse(value)) ? null : "It is no date: 2026-01-31";
    case "date-time":
      return /^\d{4}-\d\d-\d\dT/u.test(value) && !Number.isNaN(Date.parse(value)) ? null : "It is no date and time";
    default:
      return null;
  }
}
