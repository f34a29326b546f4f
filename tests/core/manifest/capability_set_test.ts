import assert from "node:assert/strict";
import { test } from "node:test";
import { excessCapabilities, storageAccess } from "../../../src/core/manifest/capability_set.ts";

test("K-043 storageAccess() is what the storage grants add up to, and writing implies reading", () => {
  assert.equal(storageAccess([]), "none");
  assert.equal(storageAccess(["net:*", "read:fs:/opt"]), "none");
  assert.equal(storageAccess(["kaged:storage:read"]), "read");
  assert.equal(storageAccess(["kaged:storage:write"]), "write");
  assert.equal(storageAccess(["kaged:storage:read", "kaged:storage:write"]), "write");
});

test("K-008 fewer capabilities than declared are fine, however they are spelt", () => {
  const declared = [
    "read:fs:/opt/notes",
    "net:api.example.com:443",
    "net:[::1]:*",
    "kaged:storage:write",
    "exec:jq:/opt",
  ];
  const fine = [
    [],
    declared,
    ["read:fs:/opt//notes/"],
    ["read:fs:/opt/notes/2024"],
    ["net:API.example.com.:443"],
    ["net:[0::1]:80"],
    ["kaged:storage:read"],
    ["exec:jq:/opt/notes"],
    ["net:[]"],
  ];
  for (const claimed of fine) assert.deepEqual(excessCapabilities(claimed, declared), [], claimed.join());
  assert.deepEqual(excessCapabilities(["read:fs:/opt/x"], ["write:fs:/opt"]), []);
  assert.deepEqual(excessCapabilities(["net:a.example:1"], ["net:*"]), []);
  assert.deepEqual(excessCapabilities(["read:fs:config:/x"], ["read:fs:config:/"]), []);
  assert.deepEqual(excessCapabilities(["net:[]"], []), []);
});

test("K-009 a capability beyond the declared ones is found", () => {
  const declared = ["read:fs:/opt/notes", "net:api.example.com:443", "kaged:storage:read", "exec:jq:/opt/notes"];
  const beyond = [
    "read:fs:/opt",
    "read:fs:/opt/notes2",
    "read:fs:/opt/notes/../other",
    "read:fs:config:/opt/notes",
    "write:fs:/opt/notes",
    "net:api.example.com:444",
    "net:api.example.com:*",
    "net:evil.api.example.com:443",
    "net:*",
    "kaged:storage:write",
    "exec:bash:/opt/notes",
    "exec:jq:/opt",
    "nonsense",
    "",
  ];
  for (const claim of beyond) assert.deepEqual(excessCapabilities([...declared, claim], declared), [claim]);
  assert.deepEqual(excessCapabilities([null, 1, {}], declared), [null, 1, {}]);
  assert.deepEqual(excessCapabilities(["net:a.example:1"], ["net:[]"]), ["net:a.example:1"]);
  assert.deepEqual(excessCapabilities(["read:fs:/opt"], declared), ["read:fs:/opt"]);
});
