import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { compileSchema, draft2020 } from "json-schema-library";
import { ERRORS, type HostErrorCode } from "../../src/core/errors/host_error.ts";
import { ROUTES } from "../../src/http/routes/routes.ts";
import { DOCUMENT, followed, type Json, OPERATIONS } from "../support/api_document.ts";

/** Every object in the document, with what it contains. */
function* within(value: unknown): Generator<Json> {
  if (typeof value !== "object" || value === null) return;
  if (!Array.isArray(value)) yield value as Json;
  for (const one of Object.values(value)) yield* within(one);
}

test("/openapi.json is a valid OpenAPI 3.1 document", async () => {
  const path = new URL("../corpora/openapi/schema-3.1.json", import.meta.url);
  const schema = compileSchema(JSON.parse(await readFile(path, "utf8")), { drafts: [draft2020] });
  assert.deepEqual(schema.validate(DOCUMENT).errors, []);
  assert.equal(schema.validate({ ...DOCUMENT, info: {} }).valid, false);
});

test("/openapi.json names what it describes more than once: no shape and no failure is written out twice", () => {
  const isProblem = ({ content }: Json) => Object.hasOwn(content ?? {}, "application/problem+json");
  const written = [...within(DOCUMENT)].filter((one) => "properties" in one || isProblem(one)).map((one) =>
    JSON.stringify(one)
  );
  assert.deepEqual(written.filter((text, at) => written.indexOf(text) !== at), []);
});

test("/openapi.json refers only to what it has, and has only what it refers to", () => {
  const references = [...within(DOCUMENT)].flatMap(({ $ref }) => typeof $ref === "string" ? [$ref] : []);
  for (const $ref of references) assert.ok(followed({ $ref }), $ref);
  const { schemas, responses } = DOCUMENT.components;
  const had = Object.entries({ schemas, responses }).flatMap(([kind, all]) =>
    Object.keys(all as Json).map((name) => `#/components/${kind}/${name}`)
  );
  assert.deepEqual(had.filter((each) => !references.includes(each)), []);
});

test("/openapi.json has every route, each under a name of its own", () => {
  const routes = ROUTES.map(({ method, path }) => `${method} ${path}`).sort();
  assert.deepEqual(OPERATIONS.map(([path, method]) => `${method} ${path}`).sort(), routes);
  assert.equal(new Set(OPERATIONS.map(([, , { operationId }]) => operationId)).size, routes.length);
});

test("/openapi.json declares every part of a path, and only what is there", () => {
  for (const [path, method, { parameters = [] }] of OPERATIONS) {
    const named = parameters.filter((one) => one.in === "path").map(({ name }) => name).sort();
    assert.deepEqual(named, [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort(), `${method} ${path}`);
  }
});

test("/openapi.json names for each status only codes of the error table that have it", () => {
  for (const [path, method, { responses }] of OPERATIONS) {
    for (const [status, response] of Object.entries(responses)) {
      const { description } = followed(response) as { description: string };
      for (const [, code] of description.matchAll(/`([a-z_.]+)`/g)) {
        assert.equal(ERRORS[code as HostErrorCode]?.http, Number(status), `${method} ${path} ${code}`);
      }
    }
  }
});

test("T-011 /openapi.json describes agents' runs and their jobs, with every status and shape they answer with", () => {
  const statuses = (path: string, method: string) => Object.keys(DOCUMENT.paths[`/api/v1${path}`][method].responses);
  assert.ok(["200", "202", "404", "500"].every((status) => statuses("/agents/{agent}", "post").includes(status)));
  assert.ok(["200", "204", "404"].every((status) => statuses("/jobs/{id}/stream", "get").includes(status)));
  assert.ok(["200", "404", "409"].every((status) => statuses("/jobs/{id}", "delete").includes(status)));
  const { parameters, responses } = DOCUMENT.paths["/api/v1/jobs"].get;
  const names = ["status", "agentName", "scope", "fields", "limit", "cursor"];
  assert.deepEqual(parameters.map(({ name }: { name: string }) => name), names);
  const page = followed(responses["200"].content["application/json"].schema) as {
    properties: { jobs: { items: Json } };
  };
  const job = followed(page.properties.jobs.items) as Json;
  assert.deepEqual([job.required, "resultAside" in (job.properties as Json)], [["id"], true]);
  const one = followed(DOCUMENT.paths["/api/v1/jobs/{id}"].get.responses["200"].content["application/json"].schema);
  const required = ["id", "agentName", "input", "conversationId", "status", "createdAt"];
  assert.deepEqual((one as Json).required, required);
});
