/**
 * Checks a plugin's JSON Schema before any value is checked with it.
 *
 * @module
 */
import { defined, isMap } from "../values/plain_data.ts";
import { shown } from "../values/shown_value.ts";
import type { DocumentPath } from "../documents/places.ts";
import { libraryProblems } from "./compile_schema.ts";
import type { JsonSchema } from "./json_schema.ts";
import { KEYWORD_TYPES, subschemas } from "./keywords.ts";
import { patternReader } from "./linear_pattern.ts";
import { indexSchema, resolveReference, type SchemaIndex } from "./references.ts";

/** One mistake in a plugin's schema. */
export interface SchemaProblem {
  /** Keys and indexes that lead to it from the schema's root. */
  readonly path: DocumentPath;
  readonly message: string;
  /** The next step, when there is one to name. */
  readonly hint?: string;
}

/** The only dialect there is here. */
const DIALECT = /^https?:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/;
const MAX_BYTES = 128 * 1024;
const MAX_SCHEMAS = 2000;
const MAX_DEPTH = 32;
/** Schemas about one value that may follow from each other. */
const MAX_CHAIN = 64;

/** Keywords that change what references mean. */
const REFUSED = ["$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor", "$vocabulary"];

/**
 * Returns every problem of a schema; none when values can be checked with it.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * const [problem] = await schemaProblems({ $ref: "https://example.com/schema.json" });
 * assert.equal(problem?.message, 'Reference "https://example.com/schema.json" leads out of the schema');
 * ```
 */
export async function schemaProblems(schema: unknown): Promise<SchemaProblem[]> {
  const excess = sizeProblem(schema);
  if (excess) return [{ path: [], message: excess }];
  const index = indexSchema(schema);
  const problems = await structureProblems(index);
  if (problems.length > 0) return problems;
  const endless = chainProblem(index);
  return endless ? [endless] : await libraryProblems(schema as boolean);
}

/** Says how a schema is too large, or null. Stops counting where it is clear. */
function sizeProblem(root: unknown): string | null {
  let [schemas, excess] = [0, null as string | null];
  const visit = (value: unknown, depth: number): void => {
    if (excess !== null || typeof value !== "object" || value === null) return;
    if (++schemas > MAX_SCHEMAS * 4) excess = "The schema has too many parts";
    if (depth > MAX_DEPTH * 2) excess = "The schema is nested too deeply";
    for (const part of Object.values(value)) visit(part, depth + 1);
  };
  visit(root, 0);
  if (excess !== null) return excess;
  return JSON.stringify(root ?? null).length > MAX_BYTES ? `The schema is larger than ${MAX_BYTES} bytes` : null;
}

async function structureProblems(index: SchemaIndex): Promise<SchemaProblem[]> {
  const { byPlace } = index;
  if (byPlace.size > MAX_SCHEMAS) return [{ path: [], message: "The schema has too many parts" }];
  const problems: SchemaProblem[] = [];
  const anchors = new Set<string>();
  const patterns: { readonly path: DocumentPath; readonly source: string }[] = [];
  for (const { schema, path } of byPlace.values()) {
    if (typeof schema === "boolean") continue;
    if (!isMap(schema)) {
      problems.push({ path, message: "This is no schema: write a map" });
      continue;
    }
    problems.push(...nameProblems(schema, path, anchors));
    problems.push(...referenceProblems(schema, path, index));
    problems.push(...shapeProblems(schema, path));
    if (typeof schema.pattern === "string") patterns.push({ path: [...path, "pattern"], source: schema.pattern });
    for (const source of isMap(schema.patternProperties) ? Object.keys(schema.patternProperties) : []) {
      patterns.push({ path: [...path, "patternProperties", source], source });
    }
  }
  const reader = patterns.length > 0 ? await patternReader() : null;
  for (const { path, source } of patterns) {
    const read = reader!.read(source);
    if ("problem" in read) problems.push({ path, message: read.problem });
  }
  return problems;
}

function nameProblems(schema: JsonSchema, path: DocumentPath, anchors: Set<string>): SchemaProblem[] {
  const problems: SchemaProblem[] = [];
  const add = (keyword: string, message: string, hint?: string): void =>
    void problems.push({ path: [...path, keyword], message, ...defined({ hint }) });
  const isRoot = path.length === 0;
  if (Object.hasOwn(schema, "$schema") && !(isRoot && DIALECT.test(String(schema.$schema)))) {
    add("$schema", `Dialect ${shown(schema.$schema)} is not known here`, "Leave it out, or name 2020-12 at the root");
  }
  if (Object.hasOwn(schema, "$id") && !(isRoot && typeof schema.$id === "string")) {
    add("$id", "Only the root of a schema may have an $id", "Use $defs and #/$defs/… instead");
  }
  for (const keyword of REFUSED) {
    if (Object.hasOwn(schema, keyword)) add(keyword, `Keyword "${keyword}" is not taken here`, "Use $ref and $defs");
  }
  if (!Object.hasOwn(schema, "$anchor")) return problems;
  const { $anchor: anchor } = schema;
  if (typeof anchor !== "string" || !/^[A-Za-z_][-A-Za-z0-9._]*$/.test(anchor)) add("$anchor", "The anchor is no name");
  else if (anchors.has(anchor)) add("$anchor", `Anchor ${shown(anchor)} stands twice`);
  else anchors.add(anchor);
  return problems;
}

function referenceProblems(schema: JsonSchema, path: DocumentPath, index: SchemaIndex): SchemaProblem[] {
  if (!Object.hasOwn(schema, "$ref")) return [];
  const { $ref: reference } = schema;
  const at = [...path, "$ref"];
  if (typeof reference !== "string") return [{ path: at, message: "A reference is not a text" }];
  if (!reference.startsWith("#")) {
    const hint = "Copy what it refers to into $defs: nothing is ever fetched";
    return [{ path: at, message: `Reference ${shown(reference)} leads out of the schema`, hint }];
  }
  const target = resolveReference(reference, index);
  return target === undefined ? [{ path: at, message: `Reference ${shown(reference)} leads to nothing` }] : [];
}

function shapeProblems(schema: JsonSchema, path: DocumentPath): SchemaProblem[] {
  return KEYWORD_TYPES.flatMap(({ name, fits, keywords }) =>
    keywords.filter((keyword) => Object.hasOwn(schema, keyword) && !fits(schema[keyword]))
      .map((keyword) => ({ path: [...path, keyword], message: `${keyword} is not ${name}` }))
  );
}

/** Finds a schema that refers to itself about the same value, or a chain of such references without an end in sight. */
function chainProblem(index: SchemaIndex): SchemaProblem | null {
  const lengths = new Map<unknown, number>();
  const open = new Set<unknown>();
  const visit = (schema: unknown): number => {
    if (!isMap(schema)) return 0;
    const known = lengths.get(schema);
    if (known !== undefined) return known;
    if (open.has(schema) || open.size > MAX_CHAIN) return Infinity;
    open.add(schema);
    const next = subschemas(schema).filter(({ isSameValue }) => isSameValue).map((sub) => sub.schema);
    if (typeof schema.$ref === "string") next.push(resolveReference(schema.$ref, index));
    const length = 1 + next.reduce<number>((most, one) => Math.max(most, visit(one)), 0);
    open.delete(schema);
    lengths.set(schema, length);
    return length;
  };
  for (const { schema, path } of index.byPlace.values()) {
    if (visit(schema) > MAX_CHAIN) {
      return { path, message: "The schema refers to itself about the same value, without an end" };
    }
  }
  return null;
}
