/**
 * JSON Schemas of a hookspec to types. A schema must mean the same in every language, so a keyword that some
 * language cannot carry is refused and never dropped.
 *
 * @module
 */
import type { HostErrorCode } from "../core/errors/host_error.ts";
import { isMap } from "../core/values/plain_data.ts";
import { shown } from "../core/values/shown_value.ts";
import type { DocumentPath } from "../core/documents/places.ts";
import { FIELD_NAME, isReservedField, isReservedType, pascalCase } from "./names.ts";
import { ANNOTATIONS, DIALECT, INSTEAD, ROOT_KEYWORDS, TYPE_KEYWORDS, TYPE_MAKING } from "./schema_keywords.ts";
import { fitsType } from "./fits_type.ts";
import { type FoundSchema, resolveSchema } from "./schema_path.ts";
import { oneLine, type SpecDocument } from "./spec_document.ts";
import type { NamedType, RecordShape, SpecField, SpecType } from "./types.ts";

type Schema = Readonly<Record<string, unknown>>;
type Bounds = Readonly<Record<string, number>>;

type Spot = Pick<FoundSchema, "document" | "path">;

const ANY: SpecType = { type: "any" };

/** Makes the types of one kind. */
export class SchemaReader {
  readonly #documents: ReadonlyMap<string, SpecDocument>;
  readonly #kind: string;
  readonly #types = new Map<string, NamedType>();
  /** Names of types by the place of their schema, and places by name. */
  readonly #names = new Map<string, string>();
  readonly #places = new Map<string, string>();
  readonly #open = new Set<string>();

  /** Reads schemas among `documents` for a kind. */
  constructor(documents: ReadonlyMap<string, SpecDocument>, kind: string) {
    this.#documents = documents;
    this.#kind = kind;
  }

  /** Every type so far; each stands after those it is made of. */
  get types(): readonly NamedType[] {
    return [...this.#types.values()];
  }

  /** Returns the name of the type that `reference`, written at `path` of `from`, leads to; null once that is reported. */
  fromFile(reference: string, from: SpecDocument, path: DocumentPath): string | null {
    const found = resolveSchema(reference, from, this.#documents);
    if ("code" in found) {
      from.report.error(found.code, path, { message: found.message });
      return null;
    }
    return this.#named(found.schema, found, found.name);
  }

  /** Returns the name of the type that a schema makes, and makes it unless that was done before. */
  #named(schema: unknown, spot: Spot, name: string): string | null {
    const place = `${spot.document.path}#${JSON.stringify(spot.path)}`;
    const known = this.#names.get(place);
    if (known !== undefined) return known;
    if (!spot.document.report.isClean && spot.document.data === null) return null;
    if (this.#open.has(place)) return fault(spot, "hookspec.recursive_schema", `"${name}" holds itself`);
    if (isReservedType(name, this.#kind)) {
      return fault(spot, "hookspec.reserved_name", `No type may be called "${name}"`);
    }
    if (this.#places.has(name)) {
      return fault(spot, "hookspec.name_taken", `"${name}" is the type of ${this.#places.get(name)} already`);
    }
    this.#places.set(name, spot.document.path);
    this.#open.add(place);
    const shape = this.#shape(schema, spot, name);
    this.#open.delete(place);
    const description = isMap(schema) ? descriptionOf(schema, spot) : "";
    this.#types.set(name, { name, description, shape });
    this.#names.set(place, name);
    return name;
  }

  #shape(schema: unknown, spot: Spot, name: string): RecordShape | SpecType {
    if (schema === true) return ANY;
    if (!isMap(schema)) return fault(spot, "hookspec.invalid_schema", "This is no schema") ?? ANY;
    if (!checkKeywords(schema, spot)) return ANY;
    if (schema.type === "object" && Object.hasOwn(schema, "properties")) return this.#record(schema, spot, name);
    if (Object.hasOwn(schema, "$ref")) return this.#reference(schema.$ref, below(spot, "$ref"));
    if (Object.hasOwn(schema, "anyOf")) return this.#union(schema.anyOf, below(spot, "anyOf"), name);
    if (Object.hasOwn(schema, "const") || Object.hasOwn(schema, "enum")) return choice(schema, spot);
    if (!Object.hasOwn(schema, "type")) return ANY;
    const types = Array.isArray(schema.type) ? schema.type : [schema.type];
    return joined(types.map((type) => this.#typed(String(type), schema, spot, name)));
  }

  /** Like {@link SchemaReader.#shape}, for a schema within another: a record gets a name. */
  #type(schema: unknown, spot: Spot, name: string): SpecType {
    const isRecord = isMap(schema) && schema.type === "object" && Object.hasOwn(schema, "properties");
    if (!isRecord) return this.#shape(schema, spot, name) as SpecType;
    const named = this.#named(schema, spot, name);
    return named === null ? ANY : { type: "named", name: named };
  }

  #reference(reference: unknown, spot: Spot): SpecType {
    if (typeof reference !== "string") return fault(spot, "hookspec.invalid_schema", "$ref is not a text") ?? ANY;
    const name = this.fromFile(reference, spot.document, spot.path);
    return name === null ? ANY : { type: "named", name };
  }

  #union(options: unknown, spot: Spot, name: string): SpecType {
    if (!Array.isArray(options) || options.length === 0) {
      return fault(spot, "hookspec.invalid_schema", "anyOf is not a list of schemas") ?? ANY;
    }
    return joined(options.map((option, index) => this.#type(option, below(spot, index), `${name}Option${index + 1}`)));
  }

  #typed(type: string, schema: Schema, spot: Spot, name: string): SpecType {
    switch (type) {
      case "string":
        return { type, ...bounds(schema, spot, "minLength", "maxLength"), ...formatOf(schema, spot) };
      case "integer":
      case "number":
        return { type, ...bounds(schema, spot, "minimum", "maximum"), ...formatOf(schema, spot) };
      case "array": {
        const items = Object.hasOwn(schema, "items") ? schema.items : true;
        const item = this.#type(items, below(spot, "items"), `${name}Item`);
        return { type: "list", items: item, ...bounds(schema, spot, "minItems", "maxItems") };
      }
      case "object": {
        if (Object.hasOwn(schema, "properties")) {
          const message = "An object with fields stands among several types";
          return fault(below(spot, "type"), "hookspec.invalid_schema", message, "Use anyOf") ?? ANY;
        }
        const values = Object.hasOwn(schema, "additionalProperties") ? schema.additionalProperties : true;
        return { type: "map", values: this.#type(values, below(spot, "additionalProperties"), `${name}Value`) };
      }
      default:
        return { type: type as "null" | "boolean" };
    }
  }

  #record(schema: Schema, spot: Spot, name: string): RecordShape {
    const { properties, required = [], additionalProperties = true } = schema;
    if (!isMap(properties)) fault(below(spot, "properties"), "hookspec.invalid_schema", "properties is not a map");
    const isList = Array.isArray(required) &&
      required.every((field) => isMap(properties) && Object.hasOwn(properties, field));
    if (!isList) fault(below(spot, "required"), "hookspec.invalid_schema", "required names what is not in properties");
    if (typeof additionalProperties !== "boolean") {
      const at = below(spot, "additionalProperties");
      fault(at, "hookspec.invalid_schema", "Beside properties, additionalProperties is true or false");
    }
    const fields: SpecField[] = [];
    const taken = new Set<string>();
    for (const [field, value] of Object.entries(isMap(properties) ? properties : {})) {
      const { default: absent, ...rest } = isMap(value) ? value : {};
      const inner = isMap(value) ? rest : value;
      const at = below(below(spot, "properties"), field);
      if (!FIELD_NAME.test(field)) {
        fault(at, "hookspec.invalid_name", `Field ${shown(field)} is no name in every language`);
      } else if (isReservedField(field)) fault(at, "hookspec.reserved_name", `No field may be called "${field}"`);
      else if (taken.has(pascalCase(field))) {
        fault(at, "hookspec.name_taken", `Two fields are "${pascalCase(field)}" in Go`);
      }
      taken.add(pascalCase(field));
      const type = this.#type(inner, at, name + pascalCase(field));
      if (absent !== undefined && !fitsType(absent, type, this.#types)) {
        fault(below(at, "default"), "hookspec.invalid_schema", `Default ${shown(absent)} is not of the field's type`);
      }
      fields.push({
        name: field,
        description: isMap(inner) ? descriptionOf(inner, at) : "",
        isRequired: isList && (required as string[]).includes(field),
        type,
        ...(absent !== undefined && { default: absent }),
      });
    }
    return { type: "record", fields, isOpen: additionalProperties !== false };
  }
}

function below({ document, path }: Spot, step: string | number): Spot {
  return { document, path: [...path, step] };
}

/** Reports what is wrong; returns null, for want of a type. */
function fault({ document, path }: Spot, code: HostErrorCode, message: string, hint?: string): null {
  document.report.error(code, path, { message, hint });
  return null;
}

/** Whether every keyword of a schema can be carried into every language, and is where it means something. */
function checkKeywords(schema: Schema, spot: Spot): boolean {
  const isRoot = spot.path.length === 0;
  let isFine = true;
  const refuse = (code: HostErrorCode, keyword: string, message: string, hint?: string): void => {
    fault(below(spot, keyword), code, message, hint);
    isFine = false;
  };
  const form = ["$ref", "anyOf", "const", "enum"].find((keyword) => Object.hasOwn(schema, keyword));
  const types = Object.hasOwn(schema, "type") ? [schema.type].flat() : [];
  for (const type of types) {
    if (typeof type === "string" && Object.hasOwn(TYPE_KEYWORDS, type)) continue;
    const hint = `Types: ${Object.keys(TYPE_KEYWORDS).join(", ")}`;
    refuse("hookspec.invalid_schema", "type", `${shown(type)} is no type`, hint);
  }
  if (Array.isArray(schema.type) && (types.length === 0 || new Set(types).size < types.length)) {
    refuse("hookspec.invalid_schema", "type", "type is not a list of types that differ");
  }
  const allowed = form ? [form, ...(form === "const" || form === "enum" ? ["type", "format"] : [])] : [
    "type",
    ...types.flatMap((type) => Object.hasOwn(TYPE_KEYWORDS, String(type)) ? TYPE_KEYWORDS[String(type)]! : []),
  ];
  for (const keyword of Object.keys(schema)) {
    if (ANNOTATIONS.includes(keyword) || allowed.includes(keyword)) continue;
    if (isRoot && ROOT_KEYWORDS.includes(keyword)) continue;
    if (TYPE_MAKING.includes(keyword)) {
      const message = form ? `Beside ${form}, ${keyword} may not stand` : `${keyword} says nothing of this type`;
      refuse("hookspec.invalid_schema", keyword, message, form ? undefined : "Name the type it is about in type");
    } else refuse("hookspec.unsupported_keyword", keyword, `Keyword ${shown(keyword)} is not taken`, INSTEAD[keyword]);
  }
  if (isRoot && Object.hasOwn(schema, "$schema") && schema.$schema !== DIALECT) {
    refuse("hookspec.invalid_schema", "$schema", `Dialect ${shown(schema.$schema)} is not known`, `Write "${DIALECT}"`);
  }
  return isFine;
}

function choice(schema: Schema, spot: Spot): SpecType {
  const values = Object.hasOwn(schema, "enum") ? schema.enum : [schema.const];
  const isTexts = Array.isArray(values) && values.length > 0 && values.every(isWellFormedText);
  if (isTexts && new Set(values).size === values.length && (schema.type ?? "string") === "string") {
    return { type: "string", values: values as string[], ...formatOf(schema, spot) };
  }
  const message = "A choice is a list of texts that differ";
  return fault(spot, "hookspec.invalid_schema", message, 'For "or null", use anyOf') ?? ANY;
}

/** Half a character is no text in Go. */
const isWellFormedText = (value: unknown): boolean => typeof value === "string" && value.isWellFormed();

/** Returns the least and the most that a schema allows, as far as it sets them. */
function bounds(schema: Schema, spot: Spot, least: string, most: string): Bounds {
  const found: Record<string, number> = {};
  for (const keyword of [least, most]) {
    if (!Object.hasOwn(schema, keyword)) continue;
    const value = schema[keyword];
    const isCount = !keyword.endsWith("imum");
    if (typeof value === "number" && (!isCount || Number.isSafeInteger(value) && value >= 0)) found[keyword] = value;
    else {
      const wanted = isCount ? "a whole number from 0 up" : "a number";
      fault(below(spot, keyword), "hookspec.invalid_schema", `${keyword} is not ${wanted}`);
    }
  }
  if (found[least]! > found[most]!) {
    const message = `${least} ${found[least]} is more than ${most} ${found[most]}: no value fits`;
    fault(below(spot, least), "hookspec.invalid_schema", message, `Write a ${least} of at most ${found[most]}`);
  }
  return found;
}

function formatOf(schema: Schema, spot: Spot): { readonly format?: string } {
  if (!Object.hasOwn(schema, "format")) return {};
  const { format } = schema;
  if (typeof format === "string" && format !== "") return { format: oneLine(format) };
  fault(below(spot, "format"), "hookspec.invalid_schema", "format is not a text");
  return {};
}

function descriptionOf(schema: Schema, spot: Spot): string {
  const { description = "" } = schema;
  if (typeof description === "string") return oneLine(description);
  fault(below(spot, "description"), "hookspec.invalid_schema", "description is not a text");
  return "";
}

/** One of several types; unions within are opened. */
function joined(options: readonly SpecType[]): SpecType {
  const flat = options.flatMap((option) => option.type === "union" ? option.options : [option]);
  return flat.length === 1 ? flat[0]! : { type: "union", options: flat };
}
