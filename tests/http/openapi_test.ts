import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { compileSchema, draft2020 } from "json-schema-library";
import { ERRORS, type HostErrorCode } from "../../src/core/errors/host_error.ts";
import { OPENAPI_TEXT } from "../../src/http/generated/openapi.ts";
import { ROUTES } from "../../src/http/routes/routes.ts";

const document = JSON.parse(OPENAPI_TEXT);

/** Returns what a reference of the document stands for. */
function followed(value: unknown): unknown {
  const { $ref } = value as { $ref?: string };
  if ($ref === undefined) return value;
  return $ref.split("/").slice(1).reduce((at, key) => (at as Json)[key], document as unknown);
}

/** Every object in the document, with what it contains. */
function* within(value: unknown): Generator<Json> {
  if (typeof value !== "object" || value === null) return;
  if (!Array.isArray(value)) yield value as Json;
  for (const one of Object.values(value)) yield* within(one);
}

type Json = Record<string, unknown>;
interface Operation {
  readonly operationId: string;
  readonly parameters?: { readonly name: string; readonly in: string }[];
  readonly responses: Record<string, { readonly description: string } | { readonly $ref: string }>;
}
const operations: [string, string, Operation][] = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods as Record<string, Operation>).map((
    [method, one],
  ): [string, string, Operation] => [path, method, one])
);

test("/openapi.json is a valid OpenAPI 3.1 document", async () => {
  const path = new URL("../corpora/openapi/schema-3.1.json", import.meta.url);
  const schema = compileSchema(JSON.parse(await readFile(path, "utf8")), { drafts: [draft2020] });
  assert.deepEqual(schema.validate(document).errors, []);
  assert.equal(schema.validate({ ...document, info: {} }).valid, false);
});

test("/openapi.json names what it describes more than once: no shape and no failure is written out twice", () => {
  const isProblem = ({ content }: Json) => Object.hasOwn(content ?? {}, "application/problem+json");
  const written = [...within(document)].filter((one) => "properties" in one || isProblem(one)).map((one) =>
    JSON.stringify(one)
  );
  assert.deepEqual(written.filter((text, at) => written.indexOf(text) !== at), []);
});

test("/openapi.json refers only to what it has, and has only what it refers to", () => {
  const references = [...within(document)].flatMap(({ $ref }) => typeof $ref === "string" ? [$ref] : []);
  for (const $ref of references) assert.ok(followed({ $ref }), $ref);
  const { schemas, responses } = document.components;
  const had = Object.entries({ schemas, responses }).flatMap(([kind, all]) =>
    Object.keys(all as Json).map((name) => `#/components/${kind}/${name}`)
  );
  assert.deepEqual(had.filter((each) => !references.includes(each)), []);
});

test("/openapi.json has every route, each under a name of its own", () => {
  const routes = ROUTES.map(({ method, path }) => `${method} ${path}`).sort();
  assert.deepEqual(operations.map(([path, method]) => `${method.toUpperCase()} ${path}`).sort(), routes);
  assert.equal(new Set(operations.map(([, , { operationId }]) => operationId)).size, routes.length);
});

test("/openapi.json declares every part of a path, and only what is there", () => {
  for (const [path, method, { parameters = [] }] of operations) {
    const named = parameters.filter((one) => one.in === "path").map(({ name }) => name).sort();
    assert.deepEqual(named, [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort(), `${method} ${path}`);
  }
});

test("/openapi.json names for each status only codes of the error table that have it", () => {
  for (const [path, method, { responses }] of operations) {
    for (const [status, response] of Object.entries(responses)) {
      const { description } = followed(response) as { description: string };
      for (const [, code] of description.matchAll(/`([a-z_.]+)`/g)) {
        assert.equal(ERRORS[code as HostErrorCode]?.http, Number(status), `${method} ${path} ${code}`);
      }
    }
  }
});

test("T-011 /openapi.json describes agents' runs and their jobs, with every status and shape they answer with", () => {
  const statuses = (path: string, method: string) => Object.keys(document.paths[`/api/v1${path}`][method].responses);
  assert.ok(["200", "202", "404", "500"].every((status) => statuses("/agents/{agent}", "post").includes(status)));
  assert.ok(["200", "204", "404"].every((status) => statuses("/jobs/{id}/stream", "get").includes(status)));
  assert.ok(["200", "404", "409"].every((status) => statuses("/jobs/{id}", "delete").includes(status)));
  const { parameters, responses } = document.paths["/api/v1/jobs"].get;
  assert.deepEqual(parameters.map(({ name }: { name: string }) => name), ["status", "agentName", "limit", "before"]);
  const job = followed(responses["200"].content["application/json"].schema.properties.jobs.items) as Json;
  assert.deepEqual(job.required, ["id", "agentName", "input", "conversationId", "status", "createdAt"]);
});
