import assert from "node:assert/strict";
import { test } from "node:test";
import { kindMismatch } from "../../../src/core/contract/kind_compatibility.ts";
import { doubts, issuesOf, manifestOf, manifestText, problems } from "../manifest/manifest_text.ts";

test("D-012 a plugin works with the version of a kind it is written for, and with later ones that break nothing", () => {
  assert.equal(kindMismatch("1.2.0", "1.2.0"), null);
  assert.equal(kindMismatch("1.2.9", "1.2.0"), null);
  assert.equal(kindMismatch("1.0.0", "1.10.0"), null);
  assert.equal(kindMismatch("1.3.0", "1.2.9"), "1.3 is wanted, and only 1.2 is here");
  assert.equal(kindMismatch("2.0.0", "1.2.0"), "2.x is wanted, and 1.x is here");
  assert.equal(kindMismatch("1.0.0", "2.0.0"), "1.x is wanted, and 2.x is here");
  assert.equal(kindMismatch("0.1.0", "0.2.0"), "0.1.x is wanted, and 0.2.x is here");
});

test("D-012 D-004 a manifest may say which version of the hooks it is written for", async () => {
  const text = manifestText("hooks: [on_session_start]\nkind_api_version: 1.0.0");
  assert.equal((await manifestOf(text)).kind_api_version, "1.0.0");
  assert.deepEqual(await doubts(text), []);
  assert.equal((await manifestOf(manifestText())).kind_api_version, undefined);
  assert.deepEqual(await problems(manifestText('kind_api_version: "1"')), [
    "manifest.invalid_version 7:19 kind_api_version",
  ]);
});

test("D-012 D-004 a plugin written for another major version of the hooks is refused with the reason", async () => {
  const [issue] = await issuesOf(manifestText("kind_api_version: 2.0.0"));
  assert.deepEqual([issue?.code, issue?.line, issue?.column], ["manifest.kind_api_mismatch", 7, 19]);
  assert.equal(
    issue?.message,
    "Version 2.0.0 of agent_lifecycle does not go with 1.0.0: 2.x is wanted, and 1.x is here",
  );
});

test("N-033 a manifest names the kinds it implements, each with a version", async () => {
  assert.deepEqual((await manifestOf(manifestText("kinds: { theme: 1.0.0, file_type: 0.2.0 }"))).kinds, {
    theme: "1.0.0",
    file_type: "0.2.0",
  });
  assert.deepEqual(await problems(manifestText("kinds: { theme: 1.0, Theme: 1.0.0, skin: one }")), [
    "manifest.wrong_type 7:17 kinds.theme",
    "manifest.invalid_kind_name 7:22 kinds.Theme",
    "manifest.invalid_version 7:42 kinds.skin",
  ]);
  assert.deepEqual(await problems(manifestText("kinds: [theme]")), ["manifest.wrong_type 7:8 kinds"]);
  assert.deepEqual(await problems(manifestText("runtime: mcp_stdio\nkinds: { theme: 1.0.0 }")), [
    "manifest.mcp_contradiction 8:1 kinds",
  ]);
});
