import assert from "node:assert/strict";
import { test } from "node:test";
import { supervised } from "../../support/supervised.ts";
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
