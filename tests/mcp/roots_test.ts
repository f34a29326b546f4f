import assert from "node:assert/strict";
import { test } from "node:test";
import { serveHost } from "../../src/mcp/serve_host.ts";
import { type Hosted, hosted } from "../support/hosted.ts";
import { type AnyClient, type ClientKind, connectAny, wireFor } from "../support/mcp_clients.ts";

const KEEPER = {
  primary: { keeper: {} },
  fixtures: { "@test/keeper": "mcp_keeps_roots" },
  mcp: { offers: ["roots"] },
} as const;

/** Connects a client whose roots are `roots` at the time. */
async function clientOf({ host }: Hosted, kind: ClientKind, roots: readonly string[]): Promise<AnyClient> {
  const { id: session } = host.openSession();
  const [ours, theirs] = wireFor(kind);
  await serveHost({ host, agent: "primary", session, transport: ours, hooks: false });
  return await connectAny(kind, theirs, { roots: () => ({ roots: roots.map((uri) => ({ uri })) }) });
}

/** What the server keeps once it has had an answer more. */
async function keptNext(h: Hosted, client: AnyClient): Promise<unknown> {
  await h.next("plugin.mcp_request");
  return await kept(client);
}

async function kept(client: AnyClient): Promise<unknown> {
  const { content } = await client.callTool("mcp-keeps-roots__kept");
  return JSON.parse(content[0].text);
}

for (const kind of ["sdk1", "legacy"] as const) {
  test(`N-030 roots of an MCP client reach a caged server that asks outside calls, and so do their changes (${kind})`, async () => {
    await using h = await hosted(KEEPER);
    await h.next("plugin.mcp_request");
    const roots = ["file:///music"];
    const client = await clientOf(h, kind, roots);
    assert.deepEqual(await keptNext(h, client), ["file:///music"]);
    roots.push("file:///films");
    await client.rootsChanged();
    assert.deepEqual(await keptNext(h, client), ["file:///music", "file:///films"]);
    const other = await clientOf(h, kind, ["file:///other"]);
    assert.deepEqual(await keptNext(h, client), [], "whose roots are meant cannot be said");
    await client.close();
    assert.deepEqual(await keptNext(h, other), ["file:///other"]);
    await other.close();
  });
}

test("N-030 a client of the newest revision has no roots outside calls, and gives them in a call that asks", async () => {
  await using h = await hosted(KEEPER);
  await h.next("plugin.mcp_request");
  const client = await clientOf(h, "modern", ["file:///music"]);
  assert.deepEqual(await kept(client), []);
  const stop = new AbortController();
  const looking = client.callTool("mcp-keeps-roots__look", {}, { signal: stop.signal }).catch(() => {});
  assert.equal((await h.next("plugin.mcp_request")).data.outcome, "answered");
  stop.abort();
  await looking;
  assert.deepEqual(await kept(client), ["file:///music"]);
  await client.close();
});
