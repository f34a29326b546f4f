import assert from "node:assert/strict";
import { test } from "node:test";
import { changesVariables, withSecretsOf } from "../../../src/core/manifest/secret_fields.ts";
import { manifestOf, manifestText } from "./manifest_text.ts";

const manifest = await manifestOf(manifestText(
  `config_schema: { type: object, properties: { tag: { type: string } } }
system_config_schema: { type: object, properties: { seen: { type: string }, bound: { type: string }, plain: { type: string } } }
secrets: { seen: { exposed: true, env: SEEN }, bound: { hosts: ["api.example.org:443"], env: BOUND } }`,
  { capabilities: "[net:api.example.org:443]" },
));

test("K-032 a variable changes with the value that the plugin sees, and with a bound secret only as it comes and goes", () => {
  const before = { seen: "1", bound: "2", plain: "3" };
  const changes = (after: Readonly<Record<string, unknown>>): boolean => changesVariables(manifest, before, after);
  assert.equal(changes({ ...before, seen: "another" }), true);
  assert.equal(changes({ bound: "2", plain: "3" }), true);
  // The variable of a bound secret holds its placeholder, which stays the same.
  assert.equal(changes({ ...before, bound: "another" }), false);
  assert.equal(changes({ seen: "1", plain: "3" }), true);
  assert.equal(changes({ ...before, plain: "another" }), false);
});

test("K-032 withSecretsOf() renews the operator's fields alone, and drops those that are gone", () => {
  const old = { tag: "old", seen: "old", plain: "old" };
  assert.deepEqual(withSecretsOf(manifest, old, { tag: "new", seen: "new", bound: "new" }), {
    tag: "old",
    seen: "new",
    bound: "new",
  });
});
