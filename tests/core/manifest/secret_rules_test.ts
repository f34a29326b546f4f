import assert from "node:assert/strict";
import { test } from "node:test";
import { unlistedCredentials } from "../../../src/core/manifest/secret_rules.ts";
import { issuesOf, manifestOf, manifestText, problems } from "./manifest_text.ts";

const FIELD =
  "system_config_schema: { type: object, properties: { api_token: { type: string }, port: { type: integer } } }\n";
const GRANTED = { capabilities: "[net:api.example.org:443]" };

/** A manifest whose field is on line 7 and whose secrets are on line 8. */
const withSecrets = (secrets: string, capabilities = GRANTED): string =>
  manifestText(`${FIELD}secrets: { ${secrets} }`, capabilities);

test("K-042 a secret names the hosts it may go to, each in one spelling, and a variable", async () => {
  const text = withSecrets('api_token: { hosts: ["API.example.org.:443", "api.example.org:443"], env: API_TOKEN }');
  const { secrets } = await manifestOf(text);
  assert.deepEqual(secrets, { api_token: { hosts: ["api.example.org:443"], env: "API_TOKEN" } });
});

test("K-042 a secret may be exposed instead, and a manifest without secrets has no such field", async () => {
  const { secrets } = await manifestOf(withSecrets("api_token: { exposed: true }"));
  assert.deepEqual(secrets, { api_token: { exposed: true } });
  assert.equal(Object.hasOwn(await manifestOf(manifestText(FIELD)), "secrets"), false);
});

test("K-042 a secret that cannot work is refused at its place, with the next step", async () => {
  const cases: readonly [secrets: string, problem: string, hint: RegExp][] = [
    ["api_tokn: { exposed: true }", "manifest.unknown_secret 8:12 secrets.api_tokn", /api_token/],
    ["port: { exposed: true }", "manifest.secret_not_text 8:12 secrets.port", /type: string/],
    ["api_token: {}", "manifest.secret_kind 8:12 secrets.api_token", /hosts.*exposed/],
    [
      'api_token: { exposed: true, hosts: ["api.example.org:443"] }',
      "manifest.secret_kind 8:12 secrets.api_token",
      /hosts.*exposed/,
    ],
    ["api_token: { exposed: false }", "manifest.secret_kind 8:34 secrets.api_token.exposed", /exposed: true/],
    ["api_token: { hosts: [] }", "manifest.invalid_secret_host 8:32 secrets.api_token.hosts", /api.example.org:443/],
    [
      "api_token: { hosts: [api.example.org] }",
      "manifest.invalid_secret_host 8:33 secrets.api_token.hosts[0]",
      /api.example.org:443/,
    ],
    [
      "api_token: { hosts: ['api.example.org:*'] }",
      "manifest.invalid_secret_host 8:33 secrets.api_token.hosts[0]",
      /one port/,
    ],
    [
      "api_token: { hosts: ['evil.example.org:443'] }",
      "manifest.secret_host_not_granted 8:33 secrets.api_token.hosts[0]",
      /Add net:evil.example.org:443/,
    ],
    [
      "api_token: { exposed: true, env: LD_PRELOAD }",
      "manifest.forbidden_env_name 8:45 secrets.api_token.env",
      /LD_/,
    ],
    ["api_token: { exposed: true, host: x }", "manifest.unknown_key 8:40 secrets.api_token.host", /hosts/],
    ["api_token: [x]", "manifest.wrong_type 8:23 secrets.api_token", /./],
    ["api_token: { hosts: [7] }", "manifest.wrong_type 8:33 secrets.api_token.hosts[0]", /text/],
    [
      "api_token: { exposed: true, env: KAGED_PLUGIN_NAME }",
      "manifest.reserved_env_name 8:45 secrets.api_token.env",
      /./,
    ],
  ];
  for (const [secrets, problem, hint] of cases) {
    const text = withSecrets(secrets);
    assert.deepEqual(await problems(text), [problem], secrets);
    const [issue] = await issuesOf(text);
    assert.match(`${issue!.message} ${issue!.hint}`, hint, secrets);
  }
});

test("K-042 secrets are a map, and none of them is called like a part of every object", async () => {
  assert.deepEqual(await problems(manifestText(`${FIELD}secrets: [api_token]`)), ["manifest.wrong_type 8:10 secrets"]);
  const named = await problems(withSecrets("constructor: { exposed: true }"));
  assert.ok(named.includes("manifest.forbidden_key 8:12 secrets.constructor"), named.join());
});

test("K-042 a port granted as a whole grants the host of a secret; net:* has no gatekeeper and is refused", async () => {
  const secret = 'api_token: { hosts: ["api.example.org:443"] }';
  assert.deepEqual(await problems(withSecrets(secret, { capabilities: "['net:api.example.org:*']" })), []);
  const open = withSecrets(secret, { capabilities: "['net:*']" });
  assert.deepEqual(await problems(open), ["manifest.secret_open_network 8:25 secrets.api_token.hosts"]);
});

test("K-042 a variable holds one value: neither another secret's nor one of env", async () => {
  const two = "a: { exposed: true, env: T }, b: { exposed: true, env: T }";
  const fields = "system_config_schema: { type: object, properties: { a: { type: string }, b: { type: string } } }\n";
  assert.deepEqual(await problems(manifestText(`${fields}secrets: { ${two} }`)), [
    "manifest.secret_env_taken 8:67 secrets.b.env",
  ]);
  const taken = manifestText(`${fields}secrets: { a: { exposed: true, env: T } }\nenv: { T: x }`);
  assert.deepEqual(await problems(taken), ["manifest.secret_env_taken 8:37 secrets.a.env"]);
});

test("D-012 an MCP server has secrets, each in a variable: it takes no config", async () => {
  const server = (secrets: string): string =>
    manifestText(
      `system_config_schema: { type: object, properties: { api_token: { type: string } } }
secrets: { ${secrets} }
runtime: mcp_stdio`,
      GRANTED,
    );
  assert.deepEqual(await problems(server('api_token: { hosts: ["api.example.org:443"], env: API_TOKEN }')), []);
  const hidden = server('api_token: { hosts: ["api.example.org:443"] }');
  assert.deepEqual(await problems(hidden), ["manifest.mcp_contradiction 8:12 secrets.api_token"]);
  assert.deepEqual(await problems(server("")), [
    "manifest.mcp_contradiction 7:53 system_config_schema.properties.api_token",
  ]);
});

test("unlistedCredentials() finds fields that look like credentials and are in no list", () => {
  const names = ["api_key", "accessToken", "db-password", "PAT", "monkey", "author", "tokens_per_call", "key_id"];
  const system_config_schema = { type: "object", properties: Object.fromEntries(names.map((name) => [name, {}])) };
  const found = ["api_key", "accessToken", "db-password", "PAT"];
  assert.deepEqual(unlistedCredentials({ system_config_schema }), [...found, "key_id"]);
  const secrets = { PAT: { exposed: true } } as const;
  assert.deepEqual(unlistedCredentials({ system_config_schema, secrets }), [...found.slice(0, 3), "key_id"]);
});
