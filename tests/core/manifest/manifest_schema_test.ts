import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { test } from "node:test";
import { HostError } from "../../../src/core/errors/host_error.ts";
import { parseManifest } from "../../../src/core/manifest/read_manifest.ts";
import { doubts, FILE, issuesOf, manifestOf, manifestText, problems } from "./manifest_text.ts";

const tool = (schema: string) => `tools: [{ name: t, description: d, parameters_schema: ${schema} }]`;

test("K-033 every schema of a manifest is checked, and the issue stands where the fault is", async () => {
  const remote = '{ type: object, properties: { a: { $ref: "https://a.example/s" } } }';
  for (
    const [more, path] of [
      [`config_schema: ${remote}`, "config_schema.properties.a.$ref"],
      [`system_config_schema: ${remote}`, "system_config_schema.properties.a.$ref"],
      [tool(remote), "tools[0].parameters_schema.properties.a.$ref"],
    ] as const
  ) {
    const [issue, ...others] = await issuesOf(manifestText(more));
    assert.deepEqual([issue?.code, issue?.path, issue?.line, others], ["manifest.invalid_schema", path, 7, []]);
  }
});

test("a schema of a manifest that could stall the host is refused", async () => {
  for (
    const schema of [
      '{ type: object, properties: { a: { pattern: "(?=a)" } } }',
      '{ type: object, patternProperties: { "(a)\\\\1": {} } }',
      '{ type: object, $ref: "#" }',
      "{ type: object, properties: { a: { type: strin } } }",
      "{ type: object, $schema: 'http://json-schema.org/draft-07/schema#' }",
      "{ type: object, $defs: { a: { $id: x } } }",
    ]
  ) {
    assert.deepEqual(
      (await issuesOf(manifestText(tool(schema)))).map(({ code }) => code),
      ["manifest.invalid_schema"],
      schema,
    );
  }
});

test("X-01 a field marked system_only moves to the operator's schema, with a warning", async () => {
  const text = manifestText(`config_schema:
  type: object
  properties:
    url: { type: string }
    token: { type: string, system_only: true }
  required: [url, token]
  additionalProperties: false
`);
  const { config_schema, system_config_schema } = await manifestOf(text);
  assert.deepEqual([config_schema, system_config_schema], [
    { type: "object", properties: { url: { type: "string" } }, required: ["url"], additionalProperties: false },
    { type: "object", properties: { token: { type: "string" } }, required: ["token"], additionalProperties: false },
  ]);
  assert.deepEqual(await doubts(text), ["manifest.system_only 11:5 config_schema.properties.token"]);
});

test("X-01 a field that moved joins what is there, and follows its rules", async () => {
  const move = (system: string, knobs = "", name = "token") =>
    manifestText(`config_schema: { type: object, properties: { ${name}: { system_only: true } } }
system_config_schema: { type: object, properties: ${system} }
${knobs}`);
  assert.deepEqual((await manifestOf(move("{ key: {} }"))).system_config_schema, {
    type: "object",
    properties: { key: {}, token: {} },
    required: [],
  });
  const knob = "knobs: { k: { type: boolean, label: L, default: true, binds_to: config.token } }";
  assert.deepEqual(await problems(move("{}", knob)), ["manifest.knob_binds_to_system_config 9:65 knobs.k.binds_to"]);
  assert.deepEqual((await issuesOf(move("{ token: {} }"))).map(({ code }) => code), ["manifest.shared_config_field"]);
  assert.deepEqual((await issuesOf(move("{}", "", "enabled"))).map(({ code }) => code), [
    "manifest.reserved_config_field",
  ]);
});

test("X-13 the keys of an install record are no names for secrets", async () => {
  for (const name of ["installed", "version", "hash", "local", "enabled", "package"]) {
    const text = manifestText(`system_config_schema: { type: object, properties: { ${name}: {} } }`);
    assert.deepEqual((await issuesOf(text)).map(({ code }) => code), ["manifest.reserved_config_field"], name);
  }
});

test("files of other plugin systems are refused with issues that name their keys, and crash nothing", async () => {
  const root = new URL("../../corpora/real-world-configs/", import.meta.url);
  let count = 0;
  for (const folder of ["manifests/", "hooks/"]) {
    for (const name of await readdir(new URL(folder, root))) {
      const text = await readFile(new URL(folder + name, root), "utf8");
      await assert.rejects(parseManifest(text, { file: FILE }), (thrown) => {
        assert.ok(thrown instanceof HostError && thrown.code === "manifest.invalid", name);
        const { issues } = thrown.data as { issues: { line: number; message: string }[] };
        assert.ok(issues.every(({ line, message }) => line >= 1 && message !== ""), name);
        return true;
      });
      count++;
    }
  }
  assert.ok(count > 150, String(count));
});
