/**
 * The API as it describes itself, for tests that hold its answers to that.
 *
 * @module
 */
import assert from "node:assert/strict";
import { compileSchema, draft2020 } from "json-schema-library";
import { OPENAPI_TEXT } from "../../src/http/generated/openapi.ts";

/** A part of the document. */
export type Json = Record<string, unknown>;

/** One operation of the document. */
export interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly responses: Readonly<Record<string, Response | { readonly $ref: string }>>;
}

interface Response {
  readonly description: string;
  readonly content?: Readonly<Record<string, { readonly schema?: Json }>>;
}

/** The document as it is served at /openapi.json. */
// deno-lint-ignore no-explicit-any
export const DOCUMENT: any = JSON.parse(OPENAPI_TEXT);

/** Every operation, with its path and method. */
export const OPERATIONS: readonly (readonly [path: string, method: string, operation: Operation])[] = Object.entries(
  DOCUMENT.paths as Record<string, Record<string, Operation>>,
).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, one]) => [path, method.toUpperCase(), one] as const)
);

/** Returns the part of the document that a reference stands for; anything else as it is. */
export function followed(value: unknown): unknown {
  const { $ref } = value as { $ref?: string };
  if ($ref === undefined) return value;
  return $ref.split("/").slice(1).reduce((at, key) => (at as Json)[key], DOCUMENT as unknown);
}

/** An answer that came back as JSON. */
export interface JsonAnswer {
  readonly status: number;
  /** Its `Content-Type`. */
  readonly type: string;
  readonly body: unknown;
}

/** Answers that {@link checkAnswer} found to be as documented, as `<method> <path> <status>`. */
export const CHECKED: Set<string> = new Set();

/** Throws unless the document describes an answer: its status, its media type, its shape and, of a failure, its code. */
export function checkAnswer(method: string, target: string, { status, type, body }: JsonAnswer): void {
  const { pathname } = new URL(target, "http://127.0.0.1"); // As the server reads it: dots are resolved.
  const found = OPERATIONS.find(([path, one]) =>
    one === method && new RegExp(`^${path.replaceAll(".", "\\.").replace(/\{\w+\}/g, "[^/]+")}$`).test(pathname)
  );
  const shown = `${method} ${target.slice(0, 300)} → ${status} ${JSON.stringify(body).slice(0, 1000)}`;
  if (!found && status < 400) return; // An app that was mounted in the API answers for itself.
  if (!found) return validate({ $ref: "#/components/schemas/Problem" }, body, shown);
  const [path, , operation] = found;
  const response = operation.responses[status];
  assert.ok(response, `This status is not documented: ${shown}`);
  const { description, content = {} } = followed(response) as Response;
  const schema = content[type.split(";")[0]!]?.schema;
  assert.ok(schema, `This media type is not documented (${type}): ${shown}`);
  validate(schema, body, shown);
  if (status >= 400) {
    assert.ok(description.includes(`\`${(body as Json).code}\``), `This code is not documented: ${shown}`);
  }
  CHECKED.add(`${method} ${path} ${status}`);
}

const compiled = new Map<string, ReturnType<typeof compileSchema>>();

function validate(schema: Json, value: unknown, shown: string): void {
  const text = JSON.stringify(schema).replaceAll("#/components/schemas/", "#/$defs/");
  let one = compiled.get(text);
  if (!one) {
    const $defs = JSON.parse(
      JSON.stringify(DOCUMENT.components.schemas).replaceAll("#/components/schemas/", "#/$defs/"),
    );
    one = compileSchema({ ...JSON.parse(text), $defs }, { drafts: [draft2020] });
    compiled.set(text, one);
  }
  const { errors } = one.validate(value);
  assert.deepEqual(errors.map(({ message }) => message), [], shown);
}
