import assert from "node:assert/strict";
import { test } from "node:test";
import { serveHost } from "../../src/mcp/serve_host.ts";
import { notes } from "../support/gate_doors.ts";
import { type Hosted, hosted, type HostedOptions } from "../support/hosted.ts";
import { type Answers, type AnyClient, type ClientKind, CLIENTS, connectAny, wireFor } from "../support/mcp_clients.ts";
import { until } from "../support/until.ts";

const OFFERS = { offers: ["elicitation", "sampling", "roots"] } as const;
const SAMPLING = '[approvals]\nsampling = "allow"\n';
const WHOLE: HostedOptions = {
  primary: { server: {} },
  fixtures: { "@test/server": "mcp_whole" },
  mcp: OFFERS,
  config: SAMPLING,
};
const NAME = { action: "accept", content: { name: "Ada" } };

async function clientOf(h: Hosted, kind: ClientKind, answers: Answers = {}): Promise<AnyClient & AsyncDisposable> {
  const { id: session } = h.host.openSession();
  const [ours, theirs] = wireFor(kind);
  await serveHost({ host: h.host, agent: "primary", session, transport: ours, hooks: false });
  const client = await connectAny(kind, theirs, answers);
  return { ...client, [Symbol.asyncDispose]: () => client.close() };
}

/** The answers that the server got, as its tool returned them. */
async function got(client: AnyClient, tool: string): Promise<unknown[]> {
  const { content, isError } = await client.callTool(`mcp-whole__${tool}`);
  assert.ok(!isError, content[0].text);
  return JSON.parse(content[0].text);
}

/** Asks and leaves the answer to the test. */
function ask(client: AnyClient, tool: string, more: object = {}): ReturnType<AnyClient["callTool"]> {
  const params = { name: `mcp-whole__${tool}`, arguments: {}, ...more };
  return client.request("tools/call", params, { allowInputRequired: true });
}

for (const kind of CLIENTS) {
  test(`N-030 questions of a caged server reach the person and the model behind an MCP client (${kind})`, async () => {
    await using h = await hosted(WHOLE);
    const seen: string[] = [];
    await using client = await clientOf(h, kind, {
      elicit: ({ message, url }) => {
        seen.push(`${message} ${url ?? ""}`.trim());
        return url ? { action: "accept" } : NAME;
      },
      sample: ({ messages: [{ content }] }) => ({
        role: "assistant",
        model: "m",
        content: Array.isArray(content) ? content[0] : content,
      }),
      roots: () => ({ roots: [{ uri: "file:///srv" }] }),
      urls: true,
    });
    assert.deepEqual(await got(client, "ask_name"), [NAME]);
    assert.deepEqual(await got(client, "ask_roots"), [{ roots: [{ uri: "file:///srv" }] }]);
    const [said] = await got(client, "ask_model") as [{ content: { text: string } }];
    assert.equal(said.content.text, "Hi");
    assert.deepEqual(await got(client, "ask_url"), [{ action: "accept" }]);
    assert.deepEqual(await got(client, "ask_all"), [NAME, { roots: [{ uri: "file:///srv" }] }]);
    // To the client every question comes from kaged: the words say whose it is.
    assert.deepEqual(seen, [
      "mcp-whole asks: What is your name?",
      "mcp-whole asks: Sign in https://example.com/in",
      "mcp-whole asks: What is your name?",
    ]);
  });

  test(`N-030 a client that takes no questions leaves them to the host (${kind})`, async () => {
    await using h = await hosted(WHOLE);
    await using client = await clientOf(h, kind);
    assert.deepEqual(await got(client, "ask_roots"), [{ roots: [] }]);
    const [refused] = await got(client, "ask_model") as [{ message: string }];
    assert.match(refused.message, /Nobody here asks a model/);
    const named = got(client, "ask_name");
    const { data } = await h.next("approval.requested");
    await h.host.approvals.answer(data.approval_id, { decision: "allow", content: { name: "Bo" } });
    assert.deepEqual(await named, [{ action: "accept", content: { name: "Bo" } }]);
  });

  test(`N-026 N-029 a call that needs a yes is asked about at an MCP client (${kind})`, async () => {
    await using h = await hosted({ ...notes(), config: '[[tool_rules]]\ntool = "notes.*"\ndecision = "ask"\n' });
    const seen: string[] = [];
    await using client = await clientOf(h, kind, {
      elicit: ({ message }) => {
        seen.push(message.split("\n")[0]);
        return { action: "accept", content: { decision: seen.length === 1 ? "allow" : "deny" } };
      },
    });
    assert.equal((await client.callTool("notes__ask", { text: "hi" })).isError, undefined);
    assert.match((await client.callTool("notes__ask", { text: "ho" })).content[0].text, /tool\.denied/);
    assert.deepEqual(seen, ["Allow primary to call notes.ask?", "Allow primary to call notes.ask?"]);
  });
}

const person = { elicit: () => NAME, roots: () => ({ roots: [] }) };

test("N-029 a parked call goes on where it stopped when its client comes back with the answer", async () => {
  await using h = await hosted(WHOLE);
  await using client = await clientOf(h, "modern", person);
  const first = await ask(client, "ask_name");
  assert.equal(first.resultType, "input_required");
  assert.match(first.requestState, /^[0-9a-f]{64}$/);
  const [key] = Object.keys(first.inputRequests);
  for (const wrong of [{}, { other: NAME }, { [key!]: { action: "maybe" } }, { [key!]: 1 }]) {
    const { requestState } = first;
    Object.assign(first, await ask(client, "ask_name", { inputResponses: wrong, requestState }));
    assert.deepEqual(Object.keys(first.inputRequests), [key], "what was not answered is asked again");
    assert.notEqual(first.requestState, requestState);
  }
  const last = { inputResponses: { [key!]: NAME }, requestState: first.requestState };
  assert.deepEqual(JSON.parse((await ask(client, "ask_name", last)).content[0].text), [NAME]);
});

test("N-029 a requestState serves once, its own call, and its own session", async () => {
  await using h = await hosted(WHOLE);
  await using client = await clientOf(h, "modern", person);
  await using other = await clientOf(h, "modern", person);
  const { requestState, inputRequests } = await ask(client, "ask_name");
  const [key] = Object.keys(inputRequests);
  const inputResponses = { [key!]: NAME };
  const refused = { code: -32602, data: { code: "mcp.request_state_invalid" } };
  const check = async (work: Promise<unknown>) =>
    await assert.rejects(work, ({ code, data }: { code: number; data: { code: string } }) => {
      assert.deepEqual([code, data.code], [refused.code, refused.data.code]);
      return true;
    });
  await check(ask(other, "ask_name", { inputResponses, requestState }));
  await check(ask(client, "ask_name", { inputResponses, requestState: `${requestState}0` }));
  await check(ask(client, "ask_roots", { inputResponses, requestState }));
  await check(ask(client, "ask_name", { inputResponses, requestState, arguments: { other: 1 } }));
  assert.deepEqual(JSON.parse((await ask(client, "ask_name", { inputResponses, requestState })).content[0].text), [
    NAME,
  ]);
  await check(ask(client, "ask_name", { inputResponses, requestState }));
});

test("N-029 parked calls end when their client goes", async () => {
  await using h = await hosted(WHOLE);
  const client = await clientOf(h, "modern", person);
  for (let n = 0; n < 3; n++) assert.equal((await ask(client, "ask_roots")).resultType, "input_required");
  await client.close();
  const ends = () => h.all("plugin.mcp_request").map(({ data: { outcome, reason } }) => `${outcome}: ${reason}`);
  await until(() => ends().length === 3, "the end of every request");
  assert.deepEqual(new Set(ends()), new Set(["failed: The client has gone"]));
  assert.deepEqual(h.all("plugin.crashed"), []);
});
