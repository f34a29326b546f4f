import assert from "node:assert/strict";
import { test } from "node:test";
import { serveHost } from "../../src/mcp/serve_host.ts";
import type { NameStyle } from "../../src/mcp/offered_names.ts";
import { type Hosted, hosted } from "../support/hosted.ts";
import {
  type Answers,
  type AnyClient,
  type ClientKind,
  CLIENTS,
  connectAny,
  isModern,
  wireFor,
} from "../support/mcp_clients.ts";
import { until } from "../support/until.ts";

const WHOLE = { primary: { server: {} }, fixtures: { "@test/server": "mcp_whole" } };

async function clientOf(
  h: Hosted,
  kind: ClientKind,
  answers: Answers = {},
  names: NameStyle = "long",
): Promise<AnyClient & AsyncDisposable> {
  const { id: session } = h.host.openSession();
  const [ours, theirs] = wireFor(kind);
  await serveHost({ host: h.host, agent: "primary", session, transport: ours, hooks: false, names });
  const client = await connectAny(kind, theirs, answers);
  return { ...client, [Symbol.asyncDispose]: () => client.close() };
}

for (const kind of CLIENTS) {
  test(`N-029 N-030 an MCP client (${kind}) gets everything that a caged server offers`, async () => {
    await using h = await hosted(WHOLE);
    await using client = await clientOf(h, kind);
    if (kind !== "sdk1") assert.equal(client.version(), isModern(kind) ? "2026-07-28" : "2025-11-25");
    assert.deepEqual(Object.keys(client.capabilities()).sort(), [
      "completions",
      ...(isModern(kind) ? ["extensions"] : []),
      ...["logging", "prompts", "resources"],
      ...(isModern(kind) ? [] : ["tasks"]),
      "tools",
    ]);
    assert.equal(client.instructions(), "## mcp-whole\n\nAsk for a name first.");
    const { tools } = await client.request("tools/list");
    const [ask] = tools;
    assert.deepEqual([ask.name, ask.title, ask._meta], ["mcp-whole__ask_name", "Ask", { "test/of": "tool" }]);
    assert.equal(ask.icons[0].sizes[0], "48x48");
    assert.deepEqual(tools.at(-1).execution, isModern(kind) ? undefined : { taskSupport: "required" });
    const { resources } = await client.request("resources/list");
    assert.deepEqual([resources[0].uri, resources[0].icons.length], ["test://note/1", 1]);
    const { resourceTemplates } = await client.request("resources/templates/list");
    assert.equal(resourceTemplates[0].uriTemplate, "test://note/{id}");
    const read = await client.request("resources/read", { uri: "test://note/7" });
    assert.deepEqual(read.contents, [{ uri: "test://note/7", text: "text of test://note/7" }]);
    assert.equal(read._meta["test/of"], "resource");
    const { prompts } = await client.request("prompts/list");
    assert.deepEqual([prompts[0].name, prompts[0].title], ["mcp-whole__greet", "Greet"]);
    const { messages } = await client.request("prompts/get", { name: prompts[0].name, arguments: { who: "Ada" } });
    assert.equal(messages[0].content.text, "Greet Ada");
    for (
      const ref of [{ type: "ref/prompt", name: prompts[0].name }, { type: "ref/resource", uri: "test://note/{id}" }]
    ) {
      const { completion } = await client.request("completion/complete", {
        ref,
        argument: { name: "who", value: "A" },
      });
      assert.deepEqual(completion.values, [ref.type === "ref/prompt" ? "greet:A" : "test://note/{id}:A"]);
    }
    const sound = await client.callTool("mcp-whole__sound");
    assert.deepEqual(sound.content, [{ type: "audio", data: "aGk=", mimeType: "audio/wav" }]);
  });

  test(`N-029 structured content that is a list reaches an MCP client (${kind}) as its revision allows`, async () => {
    await using h = await hosted(WHOLE);
    await using client = await clientOf(h, kind);
    const { structuredContent, content, _meta } = await client.callTool("mcp-whole__numbers");
    assert.deepEqual(structuredContent, isModern(kind) ? [1, 2] : { result: [1, 2] });
    assert.deepEqual(content, [{ type: "text", text: "[1,2]" }]);
    assert.equal(_meta["test/of"], "result");
    const { tools } = await client.request("tools/list");
    const { outputSchema } = tools.find(({ name }: { name: string }) => name === "mcp-whole__numbers");
    assert.equal(outputSchema.type, isModern(kind) ? "array" : "object");
  });

  test(`N-029 what is not there is refused to an MCP client (${kind}) with the number of its revision`, async () => {
    await using h = await hosted(WHOLE);
    await using client = await clientOf(h, kind);
    const missing = kind === "sdk1" ? -32002 : -32602; // SDK 2 reads the legacy number as the newer one.
    const asks: [string, Record<string, unknown>, number, RegExp][] = [
      ["resources/read", { uri: "other://x" }, missing, /other:\/\/x/],
      ["resources/read", { uri: "test://note/404" }, missing, /not found/i],
      ["prompts/get", { name: "mcp-whole__gret" }, -32602, /gret/],
      ["tools/call", { name: "mcp-whole__sond" }, -32602, /sond/],
      ["tools/list", { cursor: "x" }, -32602, /page/],
    ];
    for (const [method, params, code, message] of asks) {
      await assert.rejects(client.request(method, params), (error: { code: number; message: string }) => {
        assert.deepEqual([error.code, message.test(error.message)], [code, true], `${method}: ${error.message}`);
        return true;
      });
    }
  });

  test(`N-030 an MCP client (${kind}) hears of changed lists and of the resources that it watches`, async () => {
    await using h = await hosted(WHOLE);
    await using client = await clientOf(h, kind);
    const end = await client.listen(["test://note/1"]);
    const count = (method: string) => client.heard.filter((one) => one.method === method).length;
    await until(async () => (await client.callTool("mcp-whole__touch")).content[0].text !== "", "the subscription");
    await until(() => count("notifications/resources/updated") > 0, "the update");
    assert.equal(client.heard.find(({ method }) => method.endsWith("updated"))!.params.uri, "test://note/1");
    await client.callTool("mcp-whole__more");
    await until(() => count("notifications/resources/list_changed") > 0, "changed resources");
    await until(() => count("notifications/prompts/list_changed") > 0, "changed prompts");
    assert.equal((await client.request("resources/list")).resources.length, 2);
    await end();
    await until(async () => (await client.callTool("mcp-whole__touch")).content[0].text === "", "the end of it");
  });

  test(`N-030 log messages reach an MCP client (${kind}) from the level it wants on, under the name of their plugin`, async () => {
    await using h = await hosted(WHOLE);
    await using client = await clientOf(h, kind);
    const logged = () => client.heard.filter(({ method }) => method === "notifications/message");
    const key = "io.modelcontextprotocol/logLevel";
    const call = (level: string) => {
      const _meta = isModern(kind) ? { [key]: level } : {};
      return client.request("tools/call", { name: "mcp-whole__talk", arguments: {}, _meta });
    };
    if (!isModern(kind)) await client.request("logging/setLevel", { level: "debug" });
    assert.equal((await call("debug")).content[0].text, "debug");
    assert.deepEqual(logged().map(({ params: { level, logger, data } }) => ({ level, logger, data })), [
      { level: "debug", logger: "mcp-whole", data: { n: 1 } },
      { level: "error", logger: "mcp-whole/core", data: "two" },
    ]);
    if (!isModern(kind)) await client.request("logging/setLevel", { level: "warning" });
    await call("warning");
    assert.deepEqual(logged().slice(2).map(({ params }) => params.data), ["two"]);
    if (!isModern(kind)) return;
    await client.callTool("mcp-whole__talk");
    assert.equal(logged().length, 3, "a request without a level gets none");
  });

  test(`N-030 short names are listed to an MCP client (${kind}) where one plugin has them, and every name is taken`, async () => {
    await using h = await hosted({
      primary: { server: {}, other: {} },
      fixtures: { "@test/server": "mcp_whole", "@test/other": { fixture: "mcp_whole", manifest: { name: "other" } } },
    });
    await using both = await clientOf(h, kind, {}, "short");
    const { tools } = await both.request("tools/list");
    assert.equal(tools[0].name, "mcp-whole__ask_name", "two plugins have it");
    await h.host.disable("other");
    await using client = await clientOf(h, kind, {}, "short");
    const names = (await client.request("tools/list")).tools.map(({ name }: { name: string }) => name);
    assert.deepEqual(names.slice(0, 2), ["Ask-Name", "ask-model"]);
    for (const name of ["sound", "mcp-whole__sound", "mcp-whole.sound"]) {
      assert.equal((await client.callTool(name)).content[0].type, "audio", name);
    }
    const { prompts } = await client.request("prompts/list");
    assert.equal(prompts[0].name, "greet");
    const { messages } = await client.request("prompts/get", { name: "greet", arguments: { who: "Bo" } });
    assert.equal(messages[0].content.text, "Greet Bo");
  });
}
