import assert from "node:assert/strict";
import { test } from "node:test";
import { parseManifest } from "../../../src/core/manifest/read_manifest.ts";
import { learnSecrets } from "../../../src/core/manifest/secret_fields.ts";
import { SecretMask } from "../../../src/core/values/secret_mask.ts";

function maskOf(config: Readonly<Record<string, unknown>>): SecretMask {
  const mask = new SecretMask();
  for (const [field, value] of Object.entries(config)) mask.learn(field, value);
  return mask;
}

test("a secret is hidden in texts, names and numbers, however deep it lies in the config or in the value", () => {
  const mask = maskOf({ auth: { keys: ["tok-1234"], pin: 84213377 } });
  const value = { "tok-1234": [84213377, "84213377", { deep: "x tok-1234 y" }], same: 1 };
  const hidden = { "[secret:auth]": ["[secret:auth]", "[secret:auth]", { deep: "x [secret:auth] y" }], same: 1 };
  assert.deepEqual(mask.value(value), hidden);
});

test("a secret is hidden as JSON and addresses write it, and each long line of one that has several", () => {
  const mask = maskOf({
    password: 'p"w\\ d/1',
    key: "-----BEGIN KEY-----\nMIIEvQIBADAN\nBgkqhkiG9w0B\n-----END KEY-----",
  });
  assert.equal(
    mask.text(String.raw`{"p":"p\"w\\ d/1"} p%22w%5C%20d%2F1`),
    '{"p":"[secret:password]"} [secret:password]',
  );
  assert.equal(mask.text("-----BEGIN KEY-----\nMIIEvQIBADAN"), "-----BEGIN KEY-----\n[secret:key]");
});

test("short values, common words, small numbers and flags stay readable", () => {
  const mask = maskOf({ a: "abc", b: "localhost", c: "Production", d: 8080, e: true, f: " " });
  assert.equal(mask.isEmpty, true);
  const value = { text: "abc localhost Production 8080 true", port: 8080 };
  assert.equal(mask.value(value), value);
});

test("digits are hidden as a whole number only", () => {
  const mask = maskOf({ pin: "4711" });
  assert.equal(mask.text("4711 14711 47110 x4711y"), "[secret:pin] 14711 47110 x[secret:pin]y");
});

test("a value that the manifest itself lists is no secret, and neither is a field of the project", async () => {
  const fields = { region: { enum: ["eu-west", "us-east"] }, endpoint: { default: "https://api" }, token: {} };
  const text = JSON.stringify({
    name: "notes",
    version: "1.0.0",
    kaged_api: 1,
    description: "Notes",
    command: ["js", "./index.js"],
    capabilities: [],
    config_schema: { type: "object", properties: { folder: { type: "string" } } },
    system_config_schema: { type: "object", properties: fields },
  });
  const { manifest } = await parseManifest(text, { file: "kaged-plugin.yaml" });
  const mask = new SecretMask();
  learnSecrets(mask, manifest, { region: "eu-west", endpoint: "https://api", token: "tok-1234", folder: "inbox" });
  assert.equal(mask.text("eu-west https://api tok-1234 inbox"), "eu-west https://api [secret:token] inbox");
});
