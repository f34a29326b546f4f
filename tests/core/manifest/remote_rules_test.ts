import assert from "node:assert/strict";
import { test } from "node:test";
import { remoteTarget } from "../../../src/core/manifest/remote_rules.ts";
import { parseManifest } from "../../../src/core/manifest/read_manifest.ts";
import { problems } from "./manifest_text.ts";

const HEAD = "name: tickets\nversion: 0.1.0\nkaged_api: 1\ndescription: Tickets\n";
const REMOTE = `${HEAD}runtime: mcp_http\n`;
const SECRET = "system_config_schema: { type: object, properties: { token: { type: string } } }\n";

const read = async (text: string) => (await parseManifest(text, { file: "kaged-plugin.yaml" })).manifest;

test("N-033 a server elsewhere needs a url and nothing more, and its one capability follows from it", async () => {
  const manifest = await read(`${REMOTE}url: https://Tickets.example.com/mcp?team=a\n`);
  assert.deepEqual(
    [manifest.url, manifest.command, manifest.capabilities],
    ["https://tickets.example.com/mcp?team=a", [], ["net:tickets.example.com:443"]],
  );
  const local = await read(`${REMOTE}url: http://[::1]:8080/mcp\ncapabilities: ["net:[::1]:8080"]\n`);
  assert.deepEqual(local.capabilities, ["net:[::1]:8080"]);
});

test("N-033 the address of a server elsewhere is https, or http on this machine, and names a place alone", () => {
  for (const url of ["https://a.example/mcp", "http://localhost/", "http://127.0.0.2:9/x", "https://10.0.0.1/"]) {
    assert.notEqual(remoteTarget(url), null, url);
  }
  const wrong = [
    ...["http://a.example/mcp", "https://user@a.example/", "https://:p@a.example/", "https://a.example/#x"],
    ...["ftp://a.example/", "https://a_b.example/", "http://0.0.0.0/", "https://a.example:0/", "mcp"],
  ];
  for (const url of wrong) assert.equal(remoteTarget(url), null, url);
});

test("N-033 what contradicts a server elsewhere is refused where it stands", async () => {
  const url = "url: https://a.example/mcp\n";
  assert.deepEqual(await problems(REMOTE), ["manifest.missing_field 1:1 url"]);
  assert.deepEqual(await problems(`${REMOTE}url: http://a.example/\n`), ["manifest.invalid_url 6:6 url"]);
  assert.deepEqual(await problems(`${REMOTE}url: nonsense\n`), ["manifest.invalid_url 6:6 url"]);
  const contradictions: Record<string, string> = {
    "command: [js, ./a.js]": "manifest.mcp_contradiction 7:1 command",
    "env: { A: b }": "manifest.mcp_contradiction 7:1 env",
    "capabilities: [net:b.example:443]": "manifest.mcp_contradiction 7:16 capabilities[0]",
    "hooks: [on_session_start]": "manifest.mcp_contradiction 7:1 hooks",
    "headers: { Mcp-Session-Id: a }": "manifest.invalid_header 7:28 headers.Mcp-Session-Id",
    "headers: { X-A: a, x-a: b }": "manifest.invalid_header 7:25 headers.x-a",
    'headers: { X-A: "a\\nb" }': "manifest.invalid_header 7:17 headers.X-A",
    "headers: [a]": "manifest.wrong_type 7:10 headers",
    "oauth: { client_secret: token }": "manifest.mcp_contradiction 7:25 oauth.client_secret",
    "oauth: { scope: a }": "manifest.unknown_key 7:10 oauth.scope",
    'oauth: { scopes: ["a b"] }': "manifest.invalid_oauth 7:19 oauth.scopes[0]",
  };
  for (const [line, problem] of Object.entries(contradictions)) {
    assert.equal((await problems(`${REMOTE}${url}${line}\n`))[0], problem, line);
  }
});

test("N-033 a plugin that runs here has no url, and still needs its command", async () => {
  const own = `${HEAD}command: [js, ./a.js]\ncapabilities: []\n`;
  assert.deepEqual(await problems(`${own}url: https://a.example/\n`), ["manifest.mcp_contradiction 7:1 url"]);
  assert.deepEqual(await problems(HEAD), [
    "manifest.missing_field 1:1 command",
    "manifest.missing_field 1:1 capabilities",
  ]);
  const sent = `${own}${SECRET}secrets: { token: { header: Authorization } }\n`;
  assert.deepEqual(await problems(sent), ["manifest.mcp_contradiction 8:12 secrets.token"]);
});

test("N-033 a secret of a server elsewhere goes there in a field of requests, or is the password of the login", async () => {
  const url = "url: https://a.example/mcp\n";
  const { secrets } = await read(
    `${REMOTE}${url}${SECRET}secrets: { token: { header: Authorization, prefix: "Bearer " } }\n`,
  );
  assert.deepEqual(secrets, { token: { header: "Authorization", prefix: "Bearer ", hosts: ["a.example:443"] } });
  const login = await read(
    `${REMOTE}${url}${SECRET}secrets: { token: {} }\noauth: { client_id: kaged, client_secret: token }\n`,
  );
  assert.deepEqual(login.secrets, { token: { hosts: ["a.example:443"] } });
  const wrong: Record<string, string> = {
    "secrets: { token: {} }": "manifest.secret_kind 8:12 secrets.token",
    "secrets: { token: { prefix: a } }": "manifest.secret_kind 8:12 secrets.token",
    "secrets: { token: { header: A, hosts: [a.example:443] } }": "manifest.mcp_contradiction 8:32 secrets.token.hosts",
    "secrets: { token: { header: Host } }": "manifest.invalid_header 8:29 secrets.token.header",
    "homepage: https://a.example": "manifest.mcp_contradiction 7:53 system_config_schema.properties.token",
    "secrets: { token: { header: Authorization } }\noauth: {}": "manifest.mcp_contradiction 9:1 oauth",
  };
  for (const [line, problem] of Object.entries(wrong)) {
    assert.equal((await problems(`${REMOTE}${url}${SECRET}${line}\n`))[0], problem, line);
  }
});
