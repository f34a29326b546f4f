/**
 * A value that a JSON Schema allows: the plainest one, to call a tool with.
 *
 * @module
 */

type Schema = Readonly<Record<string, unknown>>;

const FORMATS: Readonly<Record<string, string>> = {
  "date": "2030-01-31",
  "date-time": "2030-01-31T12:00:00Z",
  "time": "12:00:00Z",
  "email": "ada@example.org",
  "uri": "https://example.org/",
  "uuid": "00000000-0000-4000-8000-000000000000",
};
/** Levels of a value; deeper ones become null. */
const MAX_DEPTH = 20;

/** Returns a value for `schema`. It fits common schemas; whoever uses it checks it against the schema. */
export function sampleValue(schema: unknown, depth: number = 0): unknown {
  if (typeof schema !== "object" || schema === null || depth > MAX_DEPTH) return null;
  const given = schema as Schema;
  if ("const" in given) return given.const;
  for (const list of [given.examples, given.enum]) if (Array.isArray(list) && list.length > 0) return list[0];
  if (given.default !== undefined) return given.default;
  for (const list of [given.oneOf, given.anyOf]) if (Array.isArray(list)) return sampleValue(list[0], depth + 1);
  switch (Array.isArray(given.type) ? given.type[0] : given.type ?? (given.properties ? "object" : undefined)) {
    case "object":
      return sampleObject(given, depth);
    case "array":
      return Array.from({ length: Number(given.minItems ?? 0) }, () => sampleValue(given.items, depth + 1));
    case "string":
      return sampleText(given);
    case "integer":
    case "number":
      return sampleNumber(given);
    case "boolean":
      return true;
    default:
      return null;
  }
}

function sampleObject({ properties, required }: Schema, depth: number): Record<string, unknown> {
  const fields = (properties ?? {}) as Schema;
  const names = Array.isArray(required) ? required as string[] : [];
  return Object.fromEntries(names.map((name) => [name, sampleValue(fields[name], depth + 1)]));
}

function sampleText({ format, minLength, maxLength }: Schema): string {
  const text = FORMATS[String(format)] ?? "sample";
  return text.padEnd(Number(minLength ?? 0), "x").slice(0, Number(maxLength ?? Infinity));
}

function sampleNumber({ minimum, exclusiveMinimum, maximum, exclusiveMaximum }: Schema): number {
  if (typeof minimum === "number") return Math.ceil(minimum);
  if (typeof exclusiveMinimum === "number") return Math.floor(exclusiveMinimum) + 1;
  if (typeof maximum === "number") return Math.min(1, Math.floor(maximum));
  return typeof exclusiveMaximum === "number" ? Math.min(1, Math.ceil(exclusiveMaximum) - 1) : 1;
}
