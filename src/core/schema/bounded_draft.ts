/**
 * The rules of JSON Schema 2020-12 with a budget: every step of a check is counted, so that no schema and no value can
 * keep the host busy, and patterns run on the linear engine.
 *
 * @module
 */
import type { Draft, Keyword, SchemaNode } from "json-schema-library";
import { canonicalText } from "../values/canonical_text.ts";
import type { LinearPattern, PatternReader } from "./linear_pattern.ts";

/** Upper bound of checks inside each other. */
const MAX_DEPTH = 400;
/** Characters times pattern parts that cost as much as one step. */
const PATTERN_STEP = 256;

/** Ends a check that takes more steps than it may. */
export class BudgetSpent extends Error {}

/** Validation rules that count their steps. */
export interface BoundedDraft {
  readonly draft: Draft;
  /** Runs `work` with a budget of its own; throws {@link BudgetSpent} when it is not enough. */
  withBudget<T>(maxSteps: number, work: () => T): T;
}

/** The parts of the library that are needed here: it is loaded by the caller. */
export type SchemaLibrary = Pick<typeof import("json-schema-library"), "draft2020" | "extendDraft">;

/** Returns the library's rules with a budget and with patterns that `patterns` reads. */
export function boundedDraft({ draft2020: draft, extendDraft }: SchemaLibrary, patterns: PatternReader): BoundedDraft {
  let [steps, depth] = [0, 0];
  const spend = (count: number): void => {
    steps -= count;
    if (steps < 0) throw new BudgetSpent();
  };
  const counted = <A extends unknown[], R>(run: (...args: A) => R): (...args: A) => R => (...args) => {
    spend(1);
    if (++depth > MAX_DEPTH) throw new BudgetSpent();
    try {
      return run(...args);
    } finally {
      depth--;
    }
  };
  const pattern = (source: string): { test(text: string): boolean } => {
    const found = patterns.read(source);
    if ("problem" in found) throw new TypeError(found.problem);
    return metered(found, spend);
  };
  const own = [
    referenceKeyword(draft),
    patternKeyword(pattern),
    patternPropertiesKeyword(draft, pattern),
    additionalPropertiesKeyword(draft),
    uniqueItemsKeyword(spend),
  ];
  const keywords = draft.keywords.map((keyword): Keyword => {
    const { parse, validate, reduce, resolve, ...rest } = own.find(({ id }) => id === keyword.id) ?? keyword;
    return {
      ...rest,
      ...(parse && { parse: counted((node: SchemaNode) => barren(node, parse)) }),
      ...(validate && { validate: counted(validate) }),
      ...(reduce && { reduce: counted(reduce) }),
      ...(resolve && { resolve: counted(resolve) }),
    };
  });
  return {
    // Blank texts: the library would write values into its messages, and we write our own.
    draft: extendDraft(draft, { keywords, errors: blank(draft.errors) }),
    withBudget(maxSteps, work) {
      [steps, depth] = [maxSteps, 0];
      return work();
    },
  };
}

/** Charges each run its worst case: every part of the pattern at every character. */
function metered({ size, test }: LinearPattern, spend: (count: number) => void): { test(text: string): boolean } {
  return {
    test(text) {
      spend(Math.ceil(text.length * size / PATTERN_STEP));
      return test(text);
    },
  };
}

function patternKeyword(read: (source: string) => { test(text: string): boolean }): Keyword {
  const compiled = new WeakMap<SchemaNode, { test(text: string): boolean }>();
  return {
    id: "pattern",
    keyword: "pattern",
    parse(node) {
      if (typeof node.schema.pattern === "string") compiled.set(node, read(node.schema.pattern));
    },
    addValidate: (node) => compiled.has(node),
    validate({ node, data, pointer }) {
      if (typeof data !== "string" || compiled.get(node)?.test(data)) return undefined;
      return node.createError("pattern-error", { pointer, schema: node.schema, value: null });
    },
  };
}

/** Takes the prototype from the maps a keyword made of a schema: a value's field may be called `constructor`. */
function barren<R>(node: SchemaNode, parse: (node: SchemaNode) => R): R {
  const result = parse(node);
  for (const map of [node.properties, node.dependentSchemas, node.dependentRequired, node.$defs]) {
    if (typeof map === "object" && map !== null) Object.setPrototypeOf(map, null);
  }
  return result;
}

/** Goes to the schema a reference leads to: the library compiles it anew for every value. */
function referenceKeyword(draft: Draft): Keyword {
  return {
    ...originalOf(draft, "$ref"),
    validate({ node, data, pointer, path }) {
      const { refs, anchors } = node.context;
      const name = node.$ref ?? "";
      const target = refs[name] ?? anchors[name] ?? node.resolveRef({ pointer, path });
      if (target && "validators" in target) return target.validate(data, pointer, path).errors;
      return node.createError("ref-error", { pointer, schema: node.schema, value: null });
    },
  };
}

/** The library's leaves out fields called `_id`. */
function additionalPropertiesKeyword(draft: Draft): Keyword {
  return {
    ...originalOf(draft, "additionalProperties"),
    validate({ node, data, pointer, path }) {
      if (typeof data !== "object" || data === null || Array.isArray(data)) return undefined;
      return Object.entries(data).flatMap(([key, value]) => {
        if (node.properties && Object.hasOwn(node.properties, key)) return [];
        if (node.patternProperties?.some((entry) => entry.pattern.test(key))) return [];
        const place = `${pointer}/${key}`;
        if (node.additionalProperties) return node.additionalProperties.validate(value, place, path).errors;
        return node.createError("no-additional-properties-error", { pointer: place, schema: node.schema, value: null });
      });
    },
  };
}

/** The library's own keyword, with the engines it makes replaced: other keywords look at them too. */
function patternPropertiesKeyword(draft: Draft, read: (source: string) => { test(text: string): boolean }): Keyword {
  const original = originalOf(draft, "patternProperties");
  return {
    ...original,
    parse(node) {
      const found = original.parse?.(node);
      node.patternProperties?.forEach((entry) => entry.pattern = read(entry.name) as RegExp);
      return found;
    },
  };
}

function originalOf(draft: Draft, name: string): Keyword {
  const found = draft.keywords.find(({ keyword }) => keyword === name);
  if (!found) throw new TypeError(`The rules have no ${name}`);
  return found;
}

/** Compares items by one text each: the library compares every item with every other. */
function uniqueItemsKeyword(spend: (count: number) => void): Keyword {
  return {
    id: "uniqueItems",
    keyword: "uniqueItems",
    addValidate: ({ schema }) => schema.uniqueItems === true,
    validate({ node, data, pointer }) {
      if (!Array.isArray(data)) return undefined;
      const seen = new Set<string>();
      for (const [index, item] of data.entries()) {
        spend(1);
        const text = canonicalText(item);
        if (seen.has(text)) {
          const place = { pointer: `${pointer}/${index}`, schema: node.schema, value: null };
          return node.createError("unique-items-error", place);
        }
        seen.add(text);
      }
      return undefined;
    },
  };
}

function blank(errors: Draft["errors"]): Draft["errors"] {
  return Object.fromEntries(Object.keys(errors).map((code) => [code, ""])) as Draft["errors"];
}
