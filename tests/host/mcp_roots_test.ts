import assert from "node:assert/strict";
import { test } from "node:test";
import type { ClientSide } from "../../src/host/mcp_types.ts";
import { type Hosted, hosted } from "../support/hosted.ts";

const FIXTURES = { "@test/keeper": "mcp_keeps_roots" };
const OFFERED = { primary: { keeper: {} }, fixtures: FIXTURES, mcp: { offers: ["roots"] as const } };

/** A client with one root. */
const at = (uri: string): ClientSide => ({ roots: () => Promise.resolve({ roots: [{ uri }] }) });

async function told({ host }: Hosted, tool: string, agent = "primary"): Promise<unknown> {
  const session = host.openSession();
  const { content: [block] } = await host.callTool(`mcp-keeps-roots.${tool}`, {}, { agent, session: session.id }) as {
    content: { text: string }[];
  };
  await session.close();
  return JSON.parse(block!.text);
}

/** Returns what the server keeps once it has had an answer more. */
async function keptNext(h: Hosted, agent?: string): Promise<unknown> {
  await h.next("plugin.mcp_request");
  return await told(h, "kept", agent);
}

test("N-030 servers hear of roots only where roots are offered", async () => {
  await using h = await hosted(OFFERED);
  assert.deepEqual(await told(h, "declared"), { roots: { listChanged: true } });
  await using none = await hosted({ ...OFFERED, mcp: {} });
  assert.deepEqual(await told(none, "declared"), {});
  none.host.mcp.offer(none.host.openSession().id, at("file:///a"));
  assert.equal(await told(none, "kept"), -32601);
});

test("N-030 a server that asked before its client came gets the client's roots, and new ones when they change", async () => {
  await using h = await hosted(OFFERED);
  assert.deepEqual(await keptNext(h), []);
  const { id } = h.host.openSession();
  let uri = "file:///a";
  const end = h.host.mcp.offer(id, { roots: () => Promise.resolve({ roots: [{ uri }] }) }, { agent: "primary" });
  assert.deepEqual(await keptNext(h), ["file:///a"]);
  uri = "file:///b";
  h.host.mcp.rootsChanged(id);
  assert.deepEqual(await keptNext(h), ["file:///b"]);
  end();
  assert.deepEqual(await keptNext(h), [], "roots of a client that has gone");
});

test("N-030 with roots of two sessions a server outside calls gets none, and later those of the one that stays", async () => {
  await using h = await hosted(OFFERED);
  await keptNext(h);
  const [first, second] = [h.host.openSession(), h.host.openSession()];
  h.host.mcp.offer(first.id, at("file:///first"));
  assert.deepEqual(await keptNext(h), ["file:///first"]);
  h.host.mcp.offer(second.id, at("file:///second"));
  assert.deepEqual(await keptNext(h), []);
  await first.close();
  assert.deepEqual(await keptNext(h), ["file:///second"]);
});

test("N-030 a server that works for another session, or for several, is not given a session's roots", async () => {
  await using h = await hosted(OFFERED);
  await keptNext(h);
  const [client, other] = [h.host.openSession().id, h.host.openSession().id];
  h.host.mcp.offer(client, at("file:///client"));
  assert.deepEqual(await keptNext(h), ["file:///client"]);
  const stop = new AbortController();
  const look = (session: string) =>
    h.host.callTool("mcp-keeps-roots.look", {}, { agent: "primary", session, signal: stop.signal }).catch(() => {});
  const calls = [look(other)];
  assert.deepEqual(await keptNext(h), [], "in the call of another session");
  h.host.mcp.rootsChanged(client);
  assert.deepEqual(await keptNext(h), [], "while another session's call is open");
  calls.push(look(client));
  assert.deepEqual(await keptNext(h), [], "in calls of two sessions");
  stop.abort();
  await Promise.all(calls);
  h.host.mcp.rootsChanged(client);
  assert.deepEqual(await keptNext(h), ["file:///client"], "after all calls");
});

test("N-030 roots of a client of one agent are none for servers of another agent", async () => {
  const plugins = { keeper: { package: "@test/keeper" } };
  const helper = "primary.subagents.helper";
  const yaml = { primary: { plugins: {}, subagents: { helper: { plugins } } } };
  await using h = await hosted({ yaml, fixtures: FIXTURES, mcp: { offers: ["roots"] } });
  await keptNext(h, helper);
  const { id: session } = h.host.openSession();
  h.host.mcp.offer(session, at("file:///primary"), { agent: "primary" });
  h.host.mcp.offer(h.host.openSession().id, at("file:///helper"), { agent: helper });
  assert.deepEqual(await keptNext(h, helper), ["file:///helper"]);
  assert.throws(() => h.host.mcp.offer(session, {}, { agent: "nobody" }), { code: "agent.unknown" });
});
