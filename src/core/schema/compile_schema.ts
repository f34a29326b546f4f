/**
 * Checks values against the JSON Schemas of plugins. Both come from people the host does not trust: nothing is
 * evaluated, nothing is fetched, and the work is bounded.
 *
 * @module
 */
import { HostError } from "../errors.ts";
import { isMap } from "../manifest/plain_data.ts";
import type { JsonSchema } from "../manifest/manifest.ts";
import { type BoundedDraft, boundedDraft, BudgetSpent } from "./bounded_draft.ts";
import { withDefaults } from "./defaults.ts";
import { issueOf, type SchemaIssue } from "./issue_text.ts";
import { KEYWORDS, subschemas } from "./keywords.ts";
import { patternReader } from "./linear_pattern.ts";
import { indexSchema } from "./references.ts";

/** A schema ready to check values. */
export interface CompiledSchema {
  /** Returns all that is wrong with `value`, and never its content; none when it fits. */
  issues(value: unknown): SchemaIssue[];
  /** Returns `value` with the defaults of the schema in the fields that are not set. */
  withDefaults(value: unknown): unknown;
}

/** Issues that are listed at most. */
const MAX_ISSUES = 100;
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

async function compile(schema: JsonSchema | boolean): Promise<CompiledSchema> {
  const { compile, draft, withBudget } = await (engine ??= loadEngine());
  const index = indexSchema(schema);
  let node: ReturnType<typeof compile>;
  try {
    node = withBudget(() => compile(checkable(schema), { drafts: [draft], formatAssertion: true }));
  } catch (thrown) {
    throw new HostError("manifest.invalid_schema", "A schema cannot be used", { cause: thrown });
  }
  return {
    issues(value) {
      if (!isShallow(value, MAX_VALUE_DEPTH)) return [{ path: "", message: "Is nested too deeply" }];
      try {
        const { errors } = withBudget(() => node.validate(value));
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
  const [{ compileSchema, draft2020 }, patterns] = await Promise.all([
    import("json-schema-library"),
    patternReader(),
  ]);
  return { ...boundedDraft(draft2020, patterns), compile: compileSchema };
}

/**
 * Returns the schema with nothing in it but what takes part in a check: the library has keywords of its own, which a
 * plugin must not reach. Names and ids are gone, so that every reference is within the schema.
 */
function checkable(schema: unknown): JsonSchema | boolean {
  if (!isMap(schema)) return schema as boolean;
  const copy: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(schema)) if (KEYWORDS.has(keyword)) copy[keyword] = value;
  for (const { schema: inner, path: [keyword, name] } of subschemas(schema)) {
    if (name === undefined) copy[keyword!] = checkable(inner);
    else {
      const holder = copy[keyword!] === schema[keyword!] ? emptyLike(schema[keyword!]) : copy[keyword!];
      (holder as Record<string, unknown>)[name] = checkable(inner);
      copy[keyword!] = holder;
    }
  }
  return copy;
}

/** Returns a list for a list; for a map, one with what is no schema in it. */
function emptyLike(holder: unknown): unknown {
  if (Array.isArray(holder)) return [];
  return Object.fromEntries(Object.entries(holder as object).filter(([, value]) => Array.isArray(value)));
}

/** Whether a value has at most `depth` levels. */
function isShallow(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  return depth > 0 && Object.values(value).every((part) => isShallow(part, depth - 1));
}

function distinct(issues: readonly SchemaIssue[]): SchemaIssue[] {
  return [...new Map(issues.map((issue) => [`${issue.path}\n${issue.message}`, issue])).values()];
}
