/**
 * Scalars of a kind as strict types of pydantic, and values as Python writes them.
 *
 * @module
 */
import { fitsType } from "../fits_type.ts";
import type { KindSpec, NamedType, RecordShape, SpecType } from "../types.ts";

type Scalar = Extract<SpecType, { readonly type: "string" | "integer" | "number" }>;

/** A text or number with limits: its name in the module, its plain type, and the type that checks it. */
interface LimitedType {
  readonly name: string;
  readonly plain: string;
  readonly strict: string;
}

/** Returns the name of a declared text or number with limits; null for any other type. */
export function limitedName(spec: SpecType): string | null {
  return isScalar(spec) ? limitedType(spec)?.name ?? null : null;
}

function isScalar(shape: RecordShape | SpecType): shape is Scalar {
  return shape.type === "string" || shape.type === "integer" || shape.type === "number";
}

/** Returns the declarations of every text and number with limits that a kind has; empty when it has none. */
export function limitedTypes({ types }: KindSpec): string {
  const found = new Map<string, LimitedType>();
  const collect = (shape: RecordShape | SpecType): void => {
    if (shape.type === "record") shape.fields.forEach(({ type }) => collect(type));
    else if (shape.type === "list") collect(shape.items);
    else if (shape.type === "map") collect(shape.values);
    else if (shape.type === "union") shape.options.forEach(collect);
    else if (isScalar(shape)) {
      const limited = limitedType(shape);
      if (limited) found.set(limited.name, limited);
    }
  };
  types.forEach(({ shape }) => collect(shape));
  if (found.size === 0) return "";
  const all = [...found.values()];
  // A call is no type for type checkers, which see the plain types instead.
  return `
# Limits are checked by pydantic; type checkers see the plain types.
if TYPE_CHECKING:
${all.map(({ name, plain }) => `    ${name} = ${plain}\n`).join("")}else:
${all.map(({ name, strict }) => `    ${name} = ${strict}\n`).join("")}`;
}

function limitedType(spec: Scalar): LimitedType | null {
  if (spec.type === "string") {
    const { minLength, maxLength, values } = spec;
    if (values || minLength === undefined && maxLength === undefined) return null;
    const strict = strictly("constr", { min_length: minLength, max_length: maxLength });
    return { name: nameOf("Str", minLength, maxLength), plain: "str", strict };
  }
  const { minimum, maximum } = spec;
  if (minimum === undefined && maximum === undefined) return null;
  const whole = strictly("conint", { ge: wholeBound(minimum, Math.ceil), le: wholeBound(maximum, Math.floor) });
  if (spec.type === "integer") return { name: nameOf("Int", minimum, maximum), plain: "int", strict: whole };
  const strict = `Union[${whole}, ${strictly("confloat", { ge: minimum, le: maximum })}]`;
  return { name: nameOf("Num", minimum, maximum), plain: "Union[int, float]", strict };
}

/** Pydantic 2 takes only integers as limits of an integer. */
function wholeBound(bound: number | undefined, round: (value: number) => number): bigint | undefined {
  return bound === undefined ? undefined : BigInt(round(bound));
}

function strictly(maker: string, limits: Readonly<Record<string, number | bigint | undefined>>): string {
  const given = Object.entries(limits).filter(([, value]) => value !== undefined).map(([key, value]) =>
    `${key}=${value}`
  );
  return `${maker}(${["strict=True", ...given].join(", ")})`;
}

/** `_IntFrom0To9`. Types of a kind begin with a capital letter, so that none has such a name. */
function nameOf(stem: string, least: number | undefined, most: number | undefined): string {
  const word = (value: number): string =>
    String(value).replace("-", "Minus").replace(".", "Point").replace(/e[+]?/, "E").replace("-", "Minus");
  return `_${stem}${least === undefined ? "" : `From${word(least)}`}${most === undefined ? "" : `To${word(most)}`}`;
}

/** Returns the default of an optional field as an argument of `Field`: a value, or a factory of one that has parts. */
export function defaultArgument(value: unknown, type: SpecType, types: readonly NamedType[]): string {
  if (value === undefined) return "None";
  const text = valueOf(value, type, new Map(types.map((one) => [one.name, one])));
  return typeof value === "object" && value !== null ? `default_factory=lambda: ${text}` : text;
}

/** Writes a value so that records become instances of their models. */
function valueOf(
  value: unknown,
  type: RecordShape | SpecType,
  types: ReadonlyMap<string, NamedType>,
  model?: string,
): string {
  if (type.type === "named") return valueOf(value, types.get(type.name)!.shape, types, type.name);
  if (type.type === "union") {
    return valueOf(value, type.options.find((option) => fitsType(value, option, types))!, types);
  }
  if (Array.isArray(value)) {
    const items: SpecType = type.type === "list" ? type.items : { type: "any" };
    return `[${value.map((item) => valueOf(item, items, types)).join(", ")}]`;
  }
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value).map(([key, item]) => {
      const known = type.type === "record" ? type.fields.find(({ name }) => name === key)?.type : undefined;
      const inner = known ?? (type.type === "map" ? type.values : { type: "any" } as const);
      return `${JSON.stringify(key)}: ${valueOf(item, inner, types)}`;
    });
    return type.type === "record" && model ? `${model}(**{${entries.join(", ")}})` : `{${entries.join(", ")}}`;
  }
  if (typeof value === "boolean") return value ? "True" : "False";
  // A number of JSON has one value in Python as well; a text of JSON is a text of Python.
  return value === null ? "None" : JSON.stringify(value);
}
