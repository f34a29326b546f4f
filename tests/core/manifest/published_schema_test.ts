import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { parse } from "yaml";
import manifestSchema from "../../../scripts/generators/manifest_schema.ts";
import { HOOK_ALIASES, HOOK_NAMES } from "../../../src/core/contract/hook_names.ts";
import { FULL_SAMPLE, KNOB_SAMPLE } from "./samples.ts";
import { type Schema, violations } from "./schema_check.ts";
import { issuesOf, manifestText } from "./manifest_text.ts";

const published = await readFile(new URL(`../../../${manifestSchema.path}`, import.meta.url), "utf8");
const schema: Schema = JSON.parse(published);

test("K-042 the published schema is the one the host's own schema gives", async () => {
  assert.equal(published, await manifestSchema.render());
});

test("K-042 the published schema is JSON Schema 2020-12 and names what is required", () => {
  assert.equal(schema.$schema, "https://json-schema.org/draft/2020-12/schema");
  assert.deepEqual(schema.required, ["name", "version", "kaged_api", "description"]);
  assert.deepEqual([schema.then?.required, schema.else?.required], [["url"], ["command", "capabilities"]]);
  assert.equal(schema.additionalProperties, false);
  const { hooks, health_interval_sec: health, knobs, env } = schema.properties!;
  assert.deepEqual(hooks?.items?.enum, [...HOOK_NAMES, ...HOOK_ALIASES.keys()]);
  assert.deepEqual([health?.minimum, health?.maximum, health?.default], [5, 300, 30]);
  assert.equal((knobs?.additionalProperties as Schema).oneOf?.length, 8);
  assert.match("LOG_LEVEL", new RegExp(env!.propertyNames!.pattern!));
  assert.doesNotMatch("LD_PRELOAD", new RegExp(env!.propertyNames!.pattern!));
});

test("K-042 the samples follow the published schema", () => {
  assert.deepEqual(violations(schema, parse(FULL_SAMPLE)), []);
  assert.deepEqual(violations(schema, parse(KNOB_SAMPLE)), []);
});

test("K-042 what the published schema refuses, the host refuses at the same place", async () => {
  const broken = [
    manifestText("", { name: "Notes" }),
    manifestText("", { version: null }),
    manifestText("", { kaged_api: "2" }),
    manifestText("", { description: '"a\\nb"' }),
    manifestText("", { command: "[]" }),
    manifestText("", { capabilities: "[{ read: x }]" }),
    manifestText("", { command: null }),
    manifestText("runtime: mcp_http", { command: null }),
    manifestText("runtime: mcp_http\nurl: mcp", { command: null }),
    manifestText("hooks: [nope]"),
    manifestText("roles: [nope]"),
    manifestText("methods: [kaged.x]"),
    manifestText("hook_timeout_sec: 61"),
    manifestText("colour: red"),
    manifestText("env: { LD_X: y }"),
    manifestText("tools: [{ name: X, description: y, parameters_schema: { type: object } }]"),
    manifestText("config_schema: { type: string }"),
  ];
  for (const text of broken) {
    const [place] = violations(schema, parse(text));
    assert.ok(place !== undefined, text);
    const paths = (await issuesOf(text)).map(({ path }) => path);
    assert.ok(paths.includes(place), `${place} is not among ${paths} in\n${text}`);
  }
});
