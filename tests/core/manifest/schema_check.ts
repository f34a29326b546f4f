/** A check of the few JSON Schema keywords that the published manifest schema uses. Any other keyword throws. */
import { formatPath } from "../../../src/core/documents/document_report.ts";

export interface Schema {
  readonly $schema?: string;
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly propertyNames?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly if?: Schema;
  readonly then?: Schema;
  readonly else?: Schema;
}

type Path = readonly (string | number)[];
const NOTES = ["$schema", "$id", "title", "description", "default", "properties", "required", "then", "else"];

/** Returns the paths at which `value` does not follow `schema`. */
export function violations(schema: Schema, value: unknown, path: Path = []): string[] {
  const fails = (bad: boolean) => bad ? [formatPath(path)] : [];
  const found: string[] = [];
  for (const key of Object.keys(schema)) {
    if (NOTES.includes(key)) continue;
    const check = CHECKS[key];
    if (!check) throw new TypeError(`Keyword "${key}" is not known to this check`);
    const result = check(schema, value, path);
    found.push(...(typeof result === "boolean" ? fails(!result) : result));
  }
  if (!isMap(value)) return found;
  const missing = (schema.required ?? []).filter((key) => !Object.hasOwn(value, key));
  found.push(...missing.map((key) => formatPath([...path, key])));
  for (const [key, below] of Object.entries(schema.properties ?? {})) {
    if (Object.hasOwn(value, key)) found.push(...violations(below, value[key], [...path, key]));
  }
  return found;
}

const CHECKS: Readonly<Record<string, (schema: Schema, value: unknown, path: Path) => boolean | string[]>> = {
  type: ({ type }, value) => type === typeOf(value) || type === "number" && typeOf(value) === "integer",
  const: (schema, value) => schema.const === value,
  enum: (schema, value) => schema.enum!.includes(value),
  pattern: ({ pattern }, value) => typeof value !== "string" || new RegExp(pattern!, "u").test(value),
  minimum: ({ minimum }, value) => typeof value !== "number" || value >= minimum!,
  maximum: ({ maximum }, value) => typeof value !== "number" || value <= maximum!,
  minLength: ({ minLength }, value) => typeof value !== "string" || [...value].length >= minLength!,
  maxLength: ({ maxLength }, value) => typeof value !== "string" || [...value].length <= maxLength!,
  minItems: ({ minItems }, value) => !Array.isArray(value) || value.length >= minItems!,
  maxItems: ({ maxItems }, value) => !Array.isArray(value) || value.length <= maxItems!,
  items: ({ items }, value, path) =>
    Array.isArray(value) ? value.flatMap((item, index) => violations(items!, item, [...path, index])) : true,
  anyOf: ({ anyOf }, value, path) => anyOf!.some((schema) => violations(schema, value, path).length === 0),
  oneOf: ({ oneOf }, value, path) => oneOf!.filter((one) => violations(one, value, path).length === 0).length === 1,
  if: ({ if: condition, then, else: otherwise }, value, path) =>
    violations((violations(condition!, value, path).length === 0 ? then : otherwise)!, value, path),
  propertyNames: ({ propertyNames }, value, path) =>
    isMap(value) ? Object.keys(value).flatMap((key) => violations(propertyNames!, key, [...path, key])) : true,
  additionalProperties: ({ additionalProperties, properties = {} }, value, path) => {
    const others = isMap(value) ? Object.keys(value).filter((key) => !Object.hasOwn(properties, key)) : [];
    if (additionalProperties === true) return true;
    if (additionalProperties === false) return others.map((key) => formatPath([...path, key]));
    const map = value as Record<string, unknown>;
    return others.flatMap((key) => violations(additionalProperties!, map[key], [...path, key]));
  },
};

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function typeOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return Number.isInteger(value) ? "integer" : typeof value;
}
