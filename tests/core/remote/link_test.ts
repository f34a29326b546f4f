import assert from "node:assert/strict";
import { test } from "node:test";
import type { HostError } from "../../../src/core/errors/host_error.ts";
import { supervised } from "../../support/supervised.ts";
import { until } from "../../support/until.ts";
import { remotePlugin, remoteServer } from "../../support/remote_server.ts";

test("N-033 a server elsewhere is a plugin without a process: its tools are listed and called over HTTP", async (t) => {
  const server = await remoteServer(t);
  await using s = await supervised();
  const { instance } = await s.supervisor.register({ dir: await remotePlugin(t, server.url) });
  await s.supervisor.start(instance);
  const info = s.supervisor.plugin(instance);
  assert.deepEqual(info.tools.map(({ name }) => name), ["echo", "long", "slow"]);
  assert.deepEqual([info.status, info.pid, info.cage, info.mcp?.name], ["running", null, null, "elsewhere"]);
  const answer = await s.supervisor.call(instance, "elsewhere.echo", { text: "hello" });
  assert.match(JSON.stringify(answer), /hello/);
  assert.deepEqual(s.types().slice(0, 1), ["plugin.net_opened"]);
  await s.supervisor.stop(instance);
  assert.equal(server.seen.at(-1)?.method, "DELETE");
});

const SECRET = "system_config_schema: { type: object, properties: { token: { type: string } } }\n" +
  'secrets: { token: { header: Authorization, prefix: "Bearer " } }\nheaders: { X-Team: red }\n';

test("N-033 a secret goes to the server in its field, and another one is used without a restart", async (t) => {
  const server = await remoteServer(t);
  await using s = await supervised();
  const dir = await remotePlugin(t, server.url, SECRET);
  const { instance } = await s.supervisor.register({ dir, config: { token: "first-secret" } });
  await s.supervisor.start(instance);
  const sent = () => server.seen.at(-1)!.headers;
  await s.supervisor.call(instance, "elsewhere.echo", { text: "a" });
  assert.deepEqual([sent()["authorization"], sent()["x-team"]], ["Bearer first-secret", "red"]);
  await s.supervisor.updateConfig(instance, { token: "second-secret" });
  await s.supervisor.call(instance, "elsewhere.echo", { text: "b" });
  assert.equal(sent()["authorization"], "Bearer second-secret");
  assert.equal(s.types().filter((type) => type === "plugin.initialized").length, 1);
});

test("N-033 a server that refuses the secret, or wants a login, says so with the next step and is not asked again", async (t) => {
  const server = await remoteServer(t);
  server.intercept = () => new Response("no", { status: 401 });
  await using s = await supervised();
  const one = await s.supervisor.register({
    dir: await remotePlugin(t, server.url, SECRET),
    config: { token: "wrong-secret" },
  });
  const two = await s.supervisor.register({ dir: await remotePlugin(t, server.url, "", "open") });
  await assert.rejects(s.supervisor.start(one.instance), (error: HostError) => {
    assert.deepEqual([error.code, error.hint], [
      "mcp.login_needed",
      "Set another one: kaged secret set elsewhere token",
    ]);
    return true;
  });
  await assert.rejects(s.supervisor.start(two.instance), {
    code: "mcp.login_needed",
    hint: "Run kaged mcp login open",
  });
  assert.deepEqual(s.supervisor.plugins().map(({ status }) => status), ["failed", "failed"]);
  await assert.rejects(
    Promise.resolve().then(() => s.supervisor.call(two.instance, "open.echo")),
    (error: HostError) => {
      assert.deepEqual([error.code, (error.cause as HostError).code], ["plugin.unavailable", "mcp.login_needed"]);
      return true;
    },
  );
  assert.doesNotMatch(JSON.stringify(s.events), /wrong-secret/);
});

test("N-033 a message longer than on stdio fails its call, and the link goes on", async (t) => {
  const server = await remoteServer(t);
  await using s = await supervised();
  const { instance } = await s.supervisor.register({ dir: await remotePlugin(t, server.url) });
  await s.supervisor.start(instance);
  await assert.rejects(s.supervisor.call(instance, "elsewhere.long"), (error: HostError) => {
    assert.equal(error.code, "plugin.unreachable");
    return true;
  });
  assert.match(JSON.stringify(await s.supervisor.call(instance, "elsewhere.echo", { text: "still" })), /still/);
});

test("N-033 a session that the server has forgotten is begun anew, after the wait of a crash", async (t) => {
  const server = await remoteServer(t);
  await using s = await supervised();
  const { instance } = await s.supervisor.register({ dir: await remotePlugin(t, server.url) });
  await s.supervisor.start(instance);
  server.forget();
  await assert.rejects(s.supervisor.call(instance, "elsewhere.echo", { text: "a" }), { code: "plugin.unreachable" });
  await s.next("plugin.crashed");
  await s.next("plugin.initialized");
  await s.pass(1000);
  await s.next("plugin.initialized");
  assert.match(JSON.stringify(await s.supervisor.call(instance, "elsewhere.echo", { text: "again" })), /again/);
});

test("N-033 a server that is down is tried again as a crashed process is", async (t) => {
  const server = await remoteServer(t);
  await server.stop();
  await using s = await supervised();
  const { instance } = await s.supervisor.register({ dir: await remotePlugin(t, server.url) });
  await assert.rejects(s.supervisor.start(instance), { code: "plugin.unreachable" });
  assert.equal(s.supervisor.plugin(instance).status, "crashed");
  await remoteServer(t, { port: server.port });
  await s.pass(1000);
  await s.next("plugin.initialized");
});

test("N-033 a redirect to another origin is not followed, and the token is not sent there", async (t) => {
  const other = await remoteServer(t);
  const server = await remoteServer(t);
  server.intercept = () => new Response(null, { status: 307, headers: { Location: other.url } });
  await using s = await supervised();
  const dir = await remotePlugin(t, server.url, SECRET);
  const { instance } = await s.supervisor.register({ dir, config: { token: "kept-secret" } });
  await assert.rejects(s.supervisor.start(instance), /307|Redirect/);
  assert.deepEqual(other.seen, []);
});

test("N-033 a withheld address is not connected to", async (t) => {
  const server = await remoteServer(t);
  await using s = await supervised();
  const dir = await remotePlugin(t, server.url);
  const { instance } = await s.supervisor.register({ dir, withheld: [`net:127.0.0.1:${server.port}`] });
  await assert.rejects(s.supervisor.start(instance), { code: "mcp.elsewhere_refused" });
  assert.deepEqual(server.seen, []);
});

test("N-033 a call that is cancelled ends its request", async (t) => {
  const server = await remoteServer(t);
  await using s = await supervised();
  const { instance } = await s.supervisor.register({ dir: await remotePlugin(t, server.url) });
  await s.supervisor.start(instance);
  const stop = new AbortController();
  const call = s.supervisor.call(instance, "elsewhere.slow", {}, { signal: stop.signal });
  await until(() => server.seen.some(({ rpc }) => rpc === "tools/call"), "the call at the server");
  stop.abort();
  await assert.rejects(call, { code: "protocol.cancelled" });
  await until(() => server.seen.some(({ rpc }) => rpc === "notifications/cancelled"), "the word that it is cancelled");
});

test("N-029 N-033 a server of the newest revision is spoken to in it, with the fields of each request", async (t) => {
  const server = await remoteServer(t, { era: "modern" });
  await using s = await supervised();
  const { instance } = await s.supervisor.register({ dir: await remotePlugin(t, server.url) });
  await s.supervisor.start(instance);
  assert.equal(s.supervisor.plugin(instance).mcp?.protocol, "2026-07-28");
  assert.match(JSON.stringify(await s.supervisor.call(instance, "elsewhere.echo", { text: "new" })), /new/);
  const { headers } = server.seen.at(-1)!;
  assert.deepEqual([headers["mcp-method"], headers["mcp-name"], headers["mcp-protocol-version"]], [
    "tools/call",
    "echo",
    "2026-07-28",
  ]);
  assert.equal(server.seen.some(({ rpc }) => rpc === "initialize"), false);
});

test("N-029 N-033 a call in the newest revision is cancelled by ending its stream, and nothing is said", async (t) => {
  const server = await remoteServer(t, { era: "modern" });
  await using s = await supervised();
  const { instance } = await s.supervisor.register({ dir: await remotePlugin(t, server.url) });
  await s.supervisor.start(instance);
  const [begun, gone] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  server.intercept = (_request, { rpc }) => {
    if (rpc !== "tools/call") return null;
    const body = new ReadableStream({ start: () => begun.resolve(), cancel: () => gone.resolve() });
    return new Response(body, { headers: { "Content-Type": "text/event-stream" } });
  };
  const stop = new AbortController();
  const call = s.supervisor.call(instance, "elsewhere.slow", {}, { signal: stop.signal });
  await begun.promise;
  stop.abort();
  await assert.rejects(call, { code: "protocol.cancelled" });
  await gone.promise;
  assert.equal(server.seen.some(({ rpc }) => rpc === "notifications/cancelled"), false);
});
