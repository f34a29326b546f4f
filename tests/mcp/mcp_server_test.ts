import assert from "node:assert/strict";
import { test } from "node:test";
import type { Session } from "../../mod.ts";
import { mcpServer } from "../../src/mcp/mod.ts";
import { hosted } from "../support/hosted.ts";
import { CLIENTS, connectAny, wireFor } from "../support/mcp_clients.ts";

const WHOLE = { primary: { server: {} }, fixtures: { "@test/server": "mcp_whole" } };

test("N-029 mcpServer() serves one session to clients of every kind in the same process", async () => {
  await using h = await hosted(WHOLE);
  const session = h.host.openSession({ id: "s1" });
  await using server = mcpServer(session, { names: "short", hooks: false });
  for (const kind of CLIENTS) {
    const [ours, theirs] = wireFor(kind);
    await server.connect(ours);
    const client = await connectAny(kind, theirs);
    const { tools } = await client.request("tools/list");
    assert.equal(tools[0].name, "Ask-Name", kind);
    assert.equal((await client.callTool("sound")).content[0].type, "audio", kind);
    await client.request("resources/read", { uri: "test://note/1" });
    await client.close();
  }
  assert.deepEqual(h.all("plugin.resource_read").map(({ data }) => data.session_id), ["s1", "s1", "s1", "s1"]);
});

test("N-029 close() of mcpServer() ends its connections and leaves the session open", async () => {
  await using h = await hosted(WHOLE);
  const session = h.host.openSession();
  const server = mcpServer(h.host.session(session.id));
  const [ours, theirs] = wireFor("modern");
  await server.connect(ours);
  const client = await connectAny("modern", theirs);
  const called = client.callTool("mcp-whole__hang");
  await server.close();
  await assert.rejects(called);
  assert.deepEqual(h.host.view.sessions(), [session.id]);
});

test("N-029 mcpServer() refuses a session of no host, and connect() an agent that is not there", async () => {
  assert.throws(() => mcpServer({ id: "x" } as Session), { code: "host.misuse", hint: /openSession/ });
  await using h = await hosted(WHOLE);
  const [ours] = wireFor("modern");
  const server = mcpServer(h.host.openSession(), { agent: "primry" });
  await assert.rejects(server.connect(ours), { code: "agent.unknown" });
});
