import assert from "node:assert/strict";
import { test } from "node:test";
import { describeSecrets, exposedSince } from "../../../src/packages/consent/describe_secret.ts";
import { manifestOf, manifestText } from "../../core/manifest/manifest_text.ts";

test("K-050 consent says of each value whether the plugin sees it, and where it goes otherwise", async () => {
  const text = manifestText(
    `system_config_schema:
  type: object
  properties:
    api_token: { type: string }
    both: { type: string }
    db_password: { type: string }
    other_key: { type: string }
    region: { type: string }
secrets:
  api_token: { hosts: ["api.github.com:443"] }
  both: { hosts: ["api.github.com:443", "uploads.github.com:443"] }
  db_password: { exposed: true }`,
    { capabilities: "[net:api.github.com:443, net:uploads.github.com:443]" },
  );
  const danger = "It can keep the value and pass it on wherever it may connect";
  assert.deepEqual(describeSecrets(await manifestOf(text)), [
    { key: "api_token", text: "Uses your api_token at api.github.com:443, and never sees it", danger: null },
    {
      key: "both",
      text: "Uses your both at api.github.com:443 and uploads.github.com:443, and never sees it",
      danger: null,
    },
    { key: "db_password", text: "Sees the secret itself: your db_password", danger },
    { key: "other_key", text: "Sees your other_key", danger },
    { key: "region", text: "Sees your region", danger: null },
  ]);
  assert.deepEqual(describeSecrets(await manifestOf(manifestText())), []);
});

test("N-033 consent says that a server elsewhere gets the value, and how", async () => {
  const text = manifestText(
    `runtime: mcp_http
url: https://a.example/mcp
system_config_schema: { type: object, properties: { token: { type: string }, password: { type: string } } }
secrets: { token: { header: X-Key }, password: {} }
oauth: { client_id: kaged, client_secret: password }`,
    { command: null },
  );
  assert.deepEqual(describeSecrets(await manifestOf(text)).map(({ text }) => text), [
    "Sends your token to a.example:443, in the field X-Key of each request",
    "Sends your password to a.example:443, when the host logs in",
  ]);
});

test("K-055 an upgrade exposes the secrets that the version before used without seeing them, and no others", async () => {
  const version = async (secrets: string) => {
    const fields = ["listed", "unlisted", "seen", "bound"].map((name) => `${name}: { type: string }`).join(", ");
    const text = `system_config_schema: { type: object, properties: { ${fields} } }\nsecrets: { ${secrets} }`;
    return await manifestOf(manifestText(text, { capabilities: "[net:api.github.com:443]" }));
  };
  const bound = (name: string): string => `${name}: { hosts: ["api.github.com:443"] }`;
  const before = await version(["listed", "unlisted", "bound"].map(bound).join(", "));
  const after = await version(`listed: { exposed: true }, ${bound("bound")}`);
  assert.deepEqual(exposedSince(before, after), ["secret:listed", "secret:unlisted"]);
  assert.deepEqual(exposedSince(after, before), []);
});
