/**
 * Checks values against the JSON Schemas of plugins. Both come from people the host does not trust: nothing is
 * evaluated, nothing is fetched, and the work is bounded.
 *
 * @module
 */
import { HostError } from "../errors/host_error.ts";
import type { JsonSchema } from "./json_schema.ts";
import { isMap } from "../values/plain_data.ts";
import type { DocumentPath } from "../documents/places.ts";
import { type BoundedDraft, boundedDraft, BudgetSpent } from "./bounded_draft.ts";
import { withDefaults } from "./defaults.ts";
import { issueOf, type SchemaIssue } from "./issue_text.ts";
import { HOLDERS, KEYWORDS, subschemas } from "./keywords.ts";
import { patternReader } from "./linear_pattern.ts";
import { indexSchema } from "./references.ts";

/** A schema ready to check values. */
export interface CompiledSchema {
  /** Returns every mistake in `value`, never with its content; none when it fits. */
  issues(value: unknown): SchemaIssue[];
  /** Returns `value` with the defaults of the schema in the fields that are not set. */
  withDefaults(value: unknown): unknown;
}

/** Issues that are listed at most. */
const MAX_ISSUES = 100;
/** Steps any check may take, and how many more for each part of the value: a list may be long, a schema not slow. */
const STEPS = 50_000;
const STEPS_PER_PART = 32;
/** Levels a value may have: the library goes some calls deeper for each. */
const MAX_VALUE_DEPTH = 100;

interface Engine extends BoundedDraft {
  readonly compile: typeof import("json-schema-library").compileSchema;
}

let engine: Promise<Engine> | null = null;
const compiled = new WeakMap<object, Promise<CompiledSchema>>();

/**
 * Makes a schema ready. The library loads at the first call, and one schema is compiled once.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * const schema = { type: "object", properties: { tags: { type: "array", items: { type: "string" } } } };
 * const { issues } = await compileSchema(schema);
 * assert.deepEqual(issues({ tags: [7] }), [{ path: "tags[0]", message: "Expected string, got number" }]);
 * ```
 * @throws {HostError} `manifest.invalid_schema` for a schema that cannot be used: check it with `schemaProblems` first.
 */
export function compileSchema(schema: JsonSchema | boolean): Promise<CompiledSchema> {
  if (typeof schema === "boolean") return compile(schema);
  const known = compiled.get(schema);
  if (known) return known;
  const made = compile(schema);
  compiled.set(schema, made);
  return made;
}

/** Returns the library's findings about the keywords of a schema that passed our own checks. */
export async function libraryProblems(
  schema: JsonSchema | boolean,
): Promise<{ readonly path: DocumentPath; readonly message: string }[]> {
  const { schemaErrors = [] } = nodeOf(schema, await (engine ??= loadEngine()));
  return schemaErrors.map(({ data }) => {
    const steps = String(data.pointer).split("/").slice(1).map((step) => /^\d+$/.test(step) ? Number(step) : step);
    const [reason = ""] = String(data.message ?? "").split(" - re");
    return { path: steps, message: reason === "" ? "A keyword is not what it should be" : reason };
  });
}

function nodeOf(schema: JsonSchema | boolean, { compile, draft, withBudget }: Engine): ReturnType<Engine["compile"]> {
  try {
    return withBudget(STEPS, () => compile(checkable(schema), { drafts: [draft], formatAssertion: false }));
  } catch (thrown) {
    throw new HostError("manifest.invalid_schema", "A schema cannot be used", { cause: thrown });
  }
}

async function compile(schema: JsonSchema | boolean): Promise<CompiledSchema> {
  const loaded = await (engine ??= loadEngine());
  const { withBudget } = loaded;
  const index = indexSchema(schema);
  const node = nodeOf(schema, loaded);
  return {
    issues(value) {
      const parts = partsOf(value, MAX_VALUE_DEPTH);
      if (parts === Infinity) return [{ path: "", message: "Is nested too deeply" }];
      try {
        const { errors } = withBudget(STEPS + parts * STEPS_PER_PART, () => node.validate(value));
        return distinct(errors.map((error) => issueOf(error, value))).slice(0, MAX_ISSUES);
      } catch (thrown) {
        if (thrown instanceof BudgetSpent) return [{ path: "", message: "Takes too long to check" }];
        throw thrown;
      }
    },
    withDefaults: (value) => withDefaults(value, schema, index),
  };
}

async function loadEngine(): Promise<Engine> {
  const [library, patterns] = await Promise.all([import("json-schema-library"), patternReader()]);
  return { ...boundedDraft(library, patterns), compile: library.compileSchema };
}

/**
 * Returns the schema with nothing in it but what takes part in a check: the library has keywords of its own, which a
 * plugin must not reach. Names and ids are gone, so that every reference is within the schema, and no map has a
 * prototype, so that a field may be called `constructor`.
 */
function checkable(schema: unknown): JsonSchema | boolean {
  if (!isMap(schema)) return schema as boolean;
  const copy: Record<string, unknown> = Object.create(null);
  for (const [keyword, value] of Object.entries(schema)) {
    if (KEYWORDS.has(keyword)) {
      copy[keyword] = HOLDERS.has(keyword) ? held(value) : value;
    }
  }
  for (const { schema: inner, path } of subschemas(schema)) {
    const [keyword, name] = path as [string, (string | number)?];
    if (name === undefined) copy[keyword] = checkable(inner);
    else (copy[keyword] as Record<string, unknown>)[name] = checkable(inner);
  }
  return withoutProto(copy);
}

/** Moves a property called `__proto__` to a pattern of that name: the library would make it the prototype of its map. */
function withoutProto(copy: Record<string, unknown>): JsonSchema {
  const { properties, patternProperties } = copy;
  if (!isMap(properties) || !Object.hasOwn(properties, "__proto__")) return copy;
  const { ["__proto__"]: schema, ...rest } = properties;
  const patterns: Record<string, unknown> = Object.assign(Object.create(null), patternProperties);
  const before = patterns["^__proto__$"];
  patterns["^__proto__$"] = before === undefined ? schema : { allOf: [before, schema] };
  copy.properties = Object.assign(Object.create(null), rest);
  copy.patternProperties = patterns;
  return copy;
}

/** Returns a copy of a list or a map. */
function held(value: unknown): unknown {
  if (Array.isArray(value)) return [...value];
  return isMap(value) ? Object.assign(Object.create(null), value) : value;
}

/** Returns how many parts a value has; infinitely many when it has more than `depth` levels. */
function partsOf(value: unknown, depth: number): number {
  if (typeof value === "string") return 1 + value.length / 1024; // A long text takes long to match.
  if (typeof value !== "object" || value === null) return 1;
  if (depth === 0) return Infinity;
  let parts = 1;
  for (const part of Object.values(value)) parts += partsOf(part, depth - 1);
  return parts;
}

function distinct(issues: readonly SchemaIssue[]): SchemaIssue[] {
  return [...new Map(issues.map((issue) => [`${issue.path}\n${issue.message}`, issue])).values()];
}
