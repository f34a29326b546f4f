import assert from "node:assert/strict";
import { test } from "node:test";
import { parseManifest } from "../../../src/core/manifest/read_manifest.ts";
import { askedCapabilities, coveredBy, grantedManifest, withheldOf } from "../../../src/core/manifest/withheld.ts";

async function manifestWith(fields: Readonly<Record<string, unknown>>) {
  const written = {
    name: "notes",
    version: "1.0.0",
    kaged_api: 1,
    description: "Notes",
    command: ["js", "./index.js"],
    capabilities: [],
    ...fields,
  };
  return (await parseManifest(JSON.stringify(written), { file: "kaged-plugin.yaml" })).manifest;
}

test("N-028 grantedManifest() leaves a manifest alone where nothing of it is withheld", async () => {
  const manifest = await manifestWith({ capabilities: ["kaged:storage:read", "net:[]"] });
  assert.equal(grantedManifest(manifest, []), manifest);
  assert.equal(grantedManifest(manifest, ["net:a.example:443", "kaged:storage:write"]), manifest);
});

test("N-028 grantedManifest() takes away what is withheld and keeps both lists", async () => {
  const asked = ["read:fs:/srv/a", "net:a.example:443", "net:b.example:443"];
  const granted = grantedManifest(await manifestWith({ capabilities: asked }), ["net:a.example:443"]);
  assert.deepEqual(granted.capabilities, ["read:fs:/srv/a", "net:b.example:443"]);
  assert.deepEqual(granted.withheld, ["net:a.example:443"]);
  assert.deepEqual(askedCapabilities(granted).sort(), asked.sort());
});

test("N-028 grantedManifest() adds the hosts that the operator added, once, and they count as not asked for", async () => {
  const asked = ["net:a.example:443", "net:b.example:*"];
  const manifest = await manifestWith({ capabilities: asked });
  const added = ["net:c.example:443", "net:b.example:80"];
  const granted = grantedManifest(manifest, ["net:a.example:443"], added);
  assert.deepEqual(granted.capabilities, ["net:b.example:*", "net:c.example:443"]);
  assert.deepEqual([granted.added, granted.withheld], [["net:c.example:443"], ["net:a.example:443"]]);
  assert.deepEqual(askedCapabilities(granted).sort(), asked);
  assert.equal(grantedManifest(manifest, [], ["net:b.example:80"]), manifest);
});

test("N-028 grantedManifest() also takes away each capability that would give the withheld one all the same", () => {
  const lost = (asked: string[], ...withheld: string[]): string[] => withheldOf(asked, withheld);
  assert.deepEqual(lost(["net:*", "net:a.example:*", "net:b.example:443"], "net:a.example:443"), [
    "net:*",
    "net:a.example:*",
  ]);
  assert.deepEqual(lost(["kaged:storage:write"], "kaged:storage:read"), ["kaged:storage:write"]);
  assert.deepEqual(lost(["write:fs:/srv", "read:fs:/srv/other"], "read:fs:/srv/a"), ["write:fs:/srv"]);
  assert.deepEqual(
    lost(["exec:git:/srv/a"], "read:fs:/srv/a/b"),
    ["exec:git:/srv/a"],
    "the folder of a program is read",
  );
  assert.deepEqual(lost(["exec:git:plugin:/"], "read:fs:plugin:/data"), [], "its own folder it reads in any case");
  assert.deepEqual(lost(["exec:git:/srv/a"], "write:fs:/srv/a"), []);
  assert.deepEqual(lost(["net:[]", "read:fs:/srv/a"], "net:[]"), ["net:[]"]);
  assert.deepEqual(lost(["net:a.example:443"], "net:a.example:*"), [], "a part of it was granted by itself");
  assert.deepEqual(coveredBy("net:*", ["net:[]", "net:*"]), ["net:*"]);
});

test("N-028 grantedManifest() binds a secret to the hosts that are left, and hands it to nobody where none is", async () => {
  const system_config_schema = { type: "object", properties: { token: { type: "string" } } };
  const secrets = { token: { hosts: ["a.example:443", "b.example:443"], env: "TOKEN" } };
  const capabilities = ["net:a.example:443", "net:b.example:*"];
  const manifest = await manifestWith({ capabilities, system_config_schema, secrets });
  const one = grantedManifest(manifest, ["net:a.example:443"]);
  assert.deepEqual(one.secrets, { token: { hosts: ["b.example:443"], env: "TOKEN" } });
  assert.deepEqual(grantedManifest(manifest, capabilities).secrets, { token: { hosts: [], env: "TOKEN" } });
});
