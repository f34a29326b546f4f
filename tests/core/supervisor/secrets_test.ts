import assert from "node:assert/strict";
import { test } from "node:test";
import { detectRuntime } from "../../../src/adapters/default.ts";
import type { ManifestSecret } from "../../../src/core/manifest/manifest.ts";
import { type SecureUpstream, secureUpstream } from "../../support/bound_gate.ts";
import { scratchDir } from "../../support/scratch_dir.ts";
import { supervised } from "../../support/supervised.ts";
import { AUTHORITY } from "../../support/tls_identity.ts";

const runtime = await detectRuntime();
const SECRET = "Qx7_s3cr3t-of-the-operator-0123456789abcdef";
const NEW_SECRET = "Zy9_another-one-of-the-operator-fedcba98765";
const PLACEHOLDER = /^kaged_secret_[0-9a-f]{32}$/;

/** A manifest with one secret, `token`; hosts given as "host" are bound. */
const manifestOf = (secret: ManifestSecret) => ({
  capabilities: (secret.hosts ?? []).map((host) => `net:${host}`),
  system_config_schema: { type: "object", properties: { token: { type: "string" } } },
  secrets: { token: secret },
});

/** A supervisor whose gatekeepers trust the authority of the tests, beside those of the system. */
async function trusting(t: Parameters<typeof scratchDir>[0]) {
  const file = `${await scratchDir(t)}/authority.pem`;
  await runtime.files.write(file, AUTHORITY);
  const env = (name: string) => name === "NODE_EXTRA_CA_CERTS" ? file : runtime.env(name);
  return await supervised({ runtime: { ...runtime, env } });
}

/** Answers with everything that it was sent. */
const reflecting = (t: Parameters<typeof secureUpstream>[0]): Promise<SecureUpstream> =>
  secureUpstream(t, (response, { url, headers, body }) => {
    response.setHeader("X-Seen", headers.authorization ?? "");
    response.end(JSON.stringify({ url, body }));
  });

test("a bound secret is a placeholder in config and environment, the same after a reload", async () => {
  await using s = await supervised();
  const secret = { hosts: ["127.0.0.1:1"], env: "API_TOKEN" };
  const spec = { config: { token: SECRET, shown: 1 } };
  const id = await s.add("hunts_secret", { manifest: manifestOf(secret), spec });
  await s.supervisor.start(id);
  type Given = { config: Record<string, unknown>; env: Record<string, string> };
  const first = await s.supervisor.call(id, "fixture.config") as Given;
  assert.match(String(first.config.token), PLACEHOLDER);
  assert.deepEqual(first.config, { token: first.env.API_TOKEN, shown: 1 });
  await (await s.supervisor.replace(id)).commit();
  const second = await s.supervisor.call(id, "fixture.config") as Given;
  assert.deepEqual([second.config, second.env.API_TOKEN], [first.config, first.env.API_TOKEN]);
});

test("an exposed secret reaches the plugin itself, and a bound one that is not set is not there", async () => {
  await using s = await supervised();
  const manifest = manifestOf({ exposed: true, env: "DB_PASSWORD" });
  const exposed = await s.add("hunts_secret", { manifest, spec: { config: { token: SECRET } } });
  await s.supervisor.start(exposed);
  const { config, env } = await s.supervisor.call(exposed, "fixture.config") as Record<string, Record<string, string>>;
  assert.deepEqual([config, env!.DB_PASSWORD], [{ token: SECRET }, SECRET]);
  const unset = { ...manifestOf({ hosts: ["127.0.0.1:1"], env: "API_TOKEN" }), name: "unset" };
  const id = await s.add("hunts_secret", { manifest: unset });
  await s.supervisor.start(id);
  const given = await s.supervisor.call(id, "fixture.config") as Record<string, Record<string, string>>;
  assert.deepEqual([given.config, given.env!.API_TOKEN], [{}, undefined]);
});

test("D-012 an MCP server has the placeholder in its variable, and is given no config that it would ignore", async () => {
  await using s = await supervised();
  const manifest = { runtime: "mcp_stdio" as const, ...manifestOf({ hosts: ["127.0.0.1:1"], env: "TOKEN" }) };
  const id = await s.add("mcp_tools", { manifest, spec: { config: { token: SECRET } } });
  await s.supervisor.start(id);
  const { content: [text] } = await s.supervisor.call(id, `${id}.env`) as { content: { text: string }[] };
  assert.match(text!.text, PLACEHOLDER);
  assert.equal(s.types().includes("plugin.config_rejected"), false);
});

test("a plugin uses a bound secret and finds it nowhere: memory, environment, files, config, answers", async (t) => {
  await using s = await trusting(t);
  const server = await reflecting(t);
  const bound = manifestOf({ hosts: [`127.0.0.1:${server.port}`], env: "API_TOKEN" });
  const id = await s.add("hunts_secret", { manifest: bound, spec: { config: { token: SECRET } } });
  await s.supervisor.start(id);
  const url = `https://127.0.0.1:${server.port}/x`;
  const { text, status } = await s.supervisor.call(id, "fixture.use", { url }) as { text: string; status: number };
  const [heard] = server.heard;
  assert.deepEqual([status, heard?.headers.authorization, heard?.url], [200, `Bearer ${SECRET}`, `/x?by=${SECRET}`]);
  assert.equal(heard?.body, JSON.stringify({ by: SECRET }));
  assert.equal(text.includes(SECRET), false, text);
  const backwards = [...SECRET].reverse().join("");
  type Hunt = { found: string[]; bytesRead: number };
  const hunt = await s.supervisor.call(id, "fixture.hunt", { backwards }, { timeoutMs: 300_000 }) as Hunt;
  assert.deepEqual(hunt.found, []);
  assert.ok(hunt.bytesRead > 1024 * 1024, `${hunt.bytesRead} bytes of memory were searched`);

  // The same hunter finds one that it was given: it does search where secrets lie.
  const exposed = { ...manifestOf({ exposed: true, env: "API_TOKEN" }), name: "exposed" };
  const other = await s.add("hunts_secret", { manifest: exposed, spec: { config: { token: SECRET } } });
  await s.supervisor.start(other);
  const { found } = await s.supervisor.call(other, "fixture.hunt", { backwards }, { timeoutMs: 300_000 }) as Hunt;
  assert.deepEqual(["environ", "config", "mem"].filter((place) => !found.includes(place)), []);
});

test("a secret that was changed is used by the next request, by the same process, which is not asked", async (t) => {
  await using s = await trusting(t);
  const server = await reflecting(t);
  const bound = manifestOf({ hosts: [`127.0.0.1:${server.port}`] });
  const id = await s.add("hunts_secret", { manifest: bound, spec: { config: { token: SECRET, size: 1 } } });
  await s.supervisor.start(id);
  const url = `https://127.0.0.1:${server.port}/x`;
  await s.supervisor.call(id, "fixture.use", { url });
  const { pid } = s.supervisor.plugin(id);
  const before = await s.supervisor.call(id, "fixture.config");
  await s.supervisor.updateConfig(id, { token: NEW_SECRET, size: 1 });
  await s.supervisor.call(id, "fixture.use", { url });
  assert.deepEqual(server.heard.map(({ headers }) => headers.authorization), [
    `Bearer ${SECRET}`,
    `Bearer ${NEW_SECRET}`,
  ]);
  assert.deepEqual([s.supervisor.plugin(id).pid, await s.supervisor.call(id, "fixture.config")], [pid, before]);
  await s.supervisor.updateConfig(id, { token: NEW_SECRET, size: 2 });
  const { config } = await s.supervisor.call(id, "fixture.config") as { config: Record<string, unknown> };
  assert.equal(config.size, 2);
});

test("a placeholder sent to another host is refused and audited; a limit of the operator is too", async (t) => {
  await using s = await trusting(t);
  const server = await reflecting(t);
  const other = await reflecting(t);
  const host = `127.0.0.1:${server.port}`;
  const { capabilities, ...bound } = manifestOf({ hosts: [host] });
  const manifest = { ...bound, capabilities: [...capabilities, `net:localhost:${other.port}`] };
  const limit = { host: "127.0.0.1", port: server.port, methods: ["GET"], paths: null };
  const netLimits = [{ ...limit, upBytesPerMinute: null, downBytesPerMinute: null }];
  const id = await s.add("hunts_secret", { manifest, spec: { config: { token: SECRET }, netLimits } });
  await s.supervisor.start(id);
  await s.supervisor.call(id, "fixture.use", { url: `http://localhost:${other.port}/y` });
  const misused = { name: "token", host: "localhost", port: other.port, reason: "other-host" };
  assert.deepEqual((await s.next("plugin.secret_misused")).data, misused);
  await s.supervisor.call(id, "fixture.use", { url: `https://${host}/x` });
  const refused = { host: "127.0.0.1", port: server.port, method: "POST", path: "/x", reason: "method" };
  assert.deepEqual((await s.next("plugin.net_request_refused")).data, refused);
  assert.deepEqual([server.heard, other.heard], [[], []]);
});
