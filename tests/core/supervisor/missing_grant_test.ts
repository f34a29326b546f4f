import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import type { HostError } from "../../../src/core/errors/host_error.ts";
import { until } from "../../support/until.ts";
import { type Supervised, supervised } from "../../support/supervised.ts";

/** The error of a call that fails. */
async function failure(s: Supervised, instance: string, params: object, method = "fixture.call"): Promise<HostError> {
  const call = s.supervisor.call(instance, method, { ...params });
  return await call.then(() => assert.fail("The call went well"), (error: HostError) => error);
}

async function started(s: Supervised, fixture: string, capabilities: string[] = []): Promise<string> {
  const instance = await s.add(fixture, { manifest: { capabilities } });
  await s.supervisor.start(instance);
  return instance;
}

const LACKED = "api.example.com";
const NAMED = "net:api.example.com:443 is not granted: add it to capabilities in kaged-plugin.yaml";
const NO_GRANT = "The plugin has no network grant: add net:<host>:<port> to capabilities in kaged-plugin.yaml";

test("N-021 a call that fails for want of a host names the grant, of a plugin without any net: too", async () => {
  await using s = await supervised();
  for (const capabilities of [[], ["net:[]"]]) {
    const instance = await started(s, "fails_to_fetch", capabilities);
    const { code, rpc, hint, message } = await failure(s, instance, { url: `https://${LACKED}/x` });
    assert.equal(hint, NAMED);
    // All else of the error is the plugin's own.
    assert.deepEqual([code, rpc, message.includes("not granted")], ["plugin.error", -32000, false]);
    await s.supervisor.unregister(instance);
  }
});

test("a call that asked for an address gets the grant of that address, which is the form that works", async () => {
  await using s = await supervised();
  const echo = await started(s, "echo");
  const { hint, data } = await failure(s, echo, { host: "127.0.0.1", port: 9211 }, "echo.connect");
  assert.equal(hint, "net:127.0.0.1:9211 is not granted: add it to capabilities in kaged-plugin.yaml");
  assert.deepEqual(data, { code: "ECONNREFUSED" });
});

test("a failure of the network that names nobody says that there is no grant; any other failure is left alone", async () => {
  await using s = await supervised();
  const quiet = await started(s, "fails_to_fetch");
  assert.equal((await failure(s, quiet, { url: `https://${LACKED}/x`, how: "quiet" })).hint, NO_GRANT);
  const echo = await started(s, "echo");
  assert.equal((await failure(s, echo, { path: "/nowhere" }, "echo.read")).hint, undefined);
  assert.equal((await failure(s, echo, { big: 1n }, "echo.params")).code, "protocol.unserializable");
});

test("an MCP server's isError result carries the hint beside its content, which stays as it is", async () => {
  await using s = await supervised();
  const server = await started(s, "mcp_fetches");
  const { code, message, hint, data } = await failure(s, server, { url: `https://${LACKED}/x` }, `${server}.fetch`);
  assert.equal(code, "mcp.tool_failed");
  assert.equal(hint, NAMED);
  const { content } = data as { content: { text: string }[] };
  assert.deepEqual(content, [{ type: "text", text: message }]);
});

test("a plugin that ends over a host out of reach names the grant to those whose calls it leaves open", async () => {
  await using s = await supervised();
  const dying = await started(s, "fails_to_fetch");
  const { code, hint } = await failure(s, dying, { url: `https://${LACKED}/`, how: "dies" });
  assert.equal(code, "plugin.unavailable");
  // Where the error names no port, and no call can be asked, it stays open.
  assert.ok([NAMED, NAMED.replace("443", "<port>")].includes(hint ?? ""), hint);
});

test("a start that waits for a host out of reach names the grant, where the plugin logs the host or refuses its config", async () => {
  await using s = await supervised();
  const lookup = "getaddrinfo EAI_AGAIN api.example.com";
  const hint = NAMED.replace("443", "<port>");
  const waits = await s.add("never_initializes", {
    manifest: { name: "waits", command: ["bash", "-c", `echo "${lookup}" >&2; read; read`] },
  });
  const start = assert.rejects(s.supervisor.start(waits), { code: "initialize.timeout", hint });
  await until(() => s.logs.length > 0, "its line on stderr");
  await s.pass(10_000);
  await start;
  const program = `import { refuse, serve } from "./wire.js";
    serve({ "config.update": ({ id }) => refuse(id, -32004, "${lookup}") });`;
  const refuses = await s.add("refuses_config", { files: { "index.js": program } });
  await assert.rejects(s.supervisor.start(refuses), { code: "plugin.config_invalid", hint });
});

test("the gatekeeper's refusals during a call are its hint, each time, and are counted since the start", async () => {
  await using s = await supervised();
  const gated = await started(s, "fails_to_fetch", ["net:localhost:9"]);
  for (let call = 0; call < 3; call++) {
    const { hint } = await failure(s, gated, { url: "http://evil.example/" });
    assert.equal(hint, "net:evil.example:80 is not granted: add it to capabilities in kaged-plugin.yaml");
  }
  const refused = { host: "evil.example", port: 80, reason: "not-allowed", count: 3 };
  // Deno looks the name up before it asks the proxy.
  const connections = s.supervisor.plugin(gated).net_refused.filter(({ source }) => source === undefined);
  assert.deepEqual(connections, [refused]);
  // The audit has it once a minute.
  const audited = s.events.filter(({ type, data }) => type === "plugin.net_refused" && !("source" in data));
  assert.equal(audited.length, 1);
  // A refusal of an earlier call is no hint for this one.
  assert.equal((await failure(s, gated, { url: "http://localhost:9/" })).hint, undefined);
  await s.supervisor.stop(gated);
  assert.deepEqual(s.supervisor.plugin(gated).net_refused, []);
});

test("N-021 a raw connection past the proxy is refused by the gatekeeper at its lookup: hint, audit, count", async () => {
  await using s = await supervised();
  const gated = await started(s, "echo", ["net:granted.example:6379"]);
  for (let call = 0; call < 2; call++) {
    const { hint } = await failure(s, gated, { host: "redis.example", port: 6379 }, "echo.connect");
    assert.equal(hint, "net:redis.example:<port> is not granted: add it to capabilities in kaged-plugin.yaml");
  }
  const refused = { host: "redis.example", port: 0, reason: "not-allowed", source: "lookup" };
  assert.deepEqual((await s.next("plugin.net_refused")).data, refused);
  assert.deepEqual(s.supervisor.plugin(gated).net_refused, [{ ...refused, count: 2 }]);
  assert.equal(s.types().filter((type) => type === "plugin.net_refused").length, 1);
});

test("N-021 what the gatekeeper cannot hear of is audited and counted by the error that names it, and says so", async () => {
  await using s = await supervised();
  const gated = await started(s, "echo", ["net:granted.example:6379"]);
  const alone = await s.add("echo", { manifest: { name: "alone" } });
  await s.supervisor.start(alone);
  // Another port of a granted name, an address, and a name of a plugin without any network.
  const cases = [
    [gated, "granted.example", 6380, "granted.example", 6380],
    [gated, "192.0.2.7", 5432, "192.0.2.7", 5432],
    [alone, "db.example", 5432, "db.example", 0],
  ] as const;
  for (const [instance, host, port, named, at] of cases) {
    const { hint } = await failure(s, instance, { host, port }, "echo.connect");
    const grant = `net:${named}:${at === 0 ? "<port>" : at}`;
    assert.equal(hint, `${grant} is not granted: add it to capabilities in kaged-plugin.yaml`);
    const refused = { host: named, port: at, reason: "not-allowed", source: "error" };
    assert.deepEqual((await s.next("plugin.net_refused")).data, refused);
    assert.deepEqual(s.supervisor.plugin(instance).net_refused.at(-1), { ...refused, count: 1 });
  }
});

test("N-024 a request that a rule or a secret held back is the hint of the call, without query and value", async (t) => {
  const listening = async (): Promise<number> => {
    const server = createServer((_request, response) => void response.end("ok")).listen(0, "127.0.0.1");
    await once(server, "listening");
    t.after(() => void server.close());
    return (server.address() as AddressInfo).port;
  };
  const port = await listening();
  const [bound, other] = [`127.0.0.1:${port}`, `localhost:${await listening()}`];
  const program = `import { refuse, reply, serve } from "./wire.js";
    import process from "node:process";
    serve({ "fixture.call": async ({ id, params: { url } }) => {
      const response = await fetch(url, { headers: { authorization: process.env.TOKEN } }).catch(() => null);
      response?.ok ? reply(id, await response.text()) : refuse(id, -32000, "Status " + response?.status);
    } });`;
  const manifest = {
    capabilities: [`net:${bound}`, `net:${other}`],
    system_config_schema: { type: "object", properties: { token: { type: "string" } } },
    secrets: { token: { hosts: [bound], env: "TOKEN" } },
  };
  const limit = { host: "127.0.0.1", port, methods: null, paths: ["/open"] };
  const netLimits = [{ ...limit, upBytesPerMinute: null, downBytesPerMinute: null }];
  await using s = await supervised();
  const spec = { config: { token: "Qx7_s3cr3t-of-the-operator" }, netLimits };
  const id = await s.add("fails_to_fetch", { manifest, spec, files: { "index.js": program } });
  await s.supervisor.start(id);
  assert.equal(await s.supervisor.call(id, "fixture.call", { url: `http://${bound}/open` }), "ok");
  const { hint } = await failure(s, id, { url: `http://${bound}/closed?key=value` });
  assert.equal(
    hint,
    `GET /closed was refused: a net_rule of the operator does not allow this path at ${bound}; ` +
      "see [[net_rules]] in config.toml",
  );
  const misused = await failure(s, id, { url: `http://${other}/open` });
  assert.equal(misused.hint, `the secret token is not bound to ${other}; list it under hosts of the secret`);
});
