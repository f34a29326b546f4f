import assert from "node:assert/strict";
import { test } from "node:test";
import { LIST_MS } from "../../src/host/mcp_servers.ts";
import { type Hosted, hosted, type HostedOptions } from "../support/hosted.ts";
import { until } from "../support/until.ts";

const at = { agent: "primary", session: "ses_1" };

/** A host whose primary has two copies of one server, the second under another name, and an open session. */
async function libraries(options: HostedOptions = {}): Promise<Hosted> {
  const h = await hosted({
    primary: { library: {}, archive: {} },
    fixtures: {
      "@test/library": "mcp_library",
      "@test/archive": { fixture: "mcp_library", manifest: { name: "archive" } },
    },
    ...options,
  });
  h.host.openSession({ id: "ses_1" });
  return h;
}

/** Returns what a server was asked for so far. */
async function asked({ host }: Hosted, plugin = "mcp-library"): Promise<string[]> {
  const { content: [block] } = await host.callTool(`${plugin}.log`, {}, at) as { content: { text: string }[] };
  return JSON.parse(block!.text);
}

const uris = (all: readonly { readonly uri: string }[]): string[] => all.map(({ uri }) => uri);
const textIn = (answer: Readonly<Record<string, unknown>>): string => {
  return (answer["contents"] as { text: string }[])[0]!.text;
};

test("N-030 host.resources() lists what the servers of an agent have: a URI of one server as it is, a shared one under the name of each", async () => {
  await using h = await libraries();
  const all = await h.host.resources("primary");
  assert.deepEqual(uris(all), [
    "kaged:mcp-library/book://1",
    "mcp-library://own",
    "kaged:archive/book://1",
    "archive://own",
  ]);
  assert.deepEqual(all[0]!.definition, {
    uri: "kaged:mcp-library/book://1",
    name: "first",
    mimeType: "text/plain",
  });
  assert.deepEqual(all[3], {
    uri: "archive://own",
    plugin: "archive",
    definition: { uri: "archive://own", name: "own", title: "Of this one" },
  });
  assert.deepEqual(uris(await h.host.mcp.resourceTemplates("primary")), [
    "mcp-library://shelf/{id}",
    "kaged:mcp-library/page://{+path}",
    "archive://shelf/{id}",
    "kaged:archive/page://{+path}",
  ]);
  await assert.rejects(h.host.resources("nobody"), { code: "agent.unknown" });
});

test("N-030 a resource is read from the one server that lists it or has a template for it, and the read is audited without its contents", async () => {
  await using h = await libraries();
  const { mcp } = h.host;
  assert.equal(textIn(await mcp.readResource("archive://own", at)), "archive://own of archive");
  assert.equal(textIn(await mcp.readResource("mcp-library://shelf/7", at)), "mcp-library://shelf/7 of mcp-library");
  assert.deepEqual(await asked(h), ["read mcp-library://shelf/7"]);
  assert.deepEqual(await asked(h, "archive"), ["read archive://own"]);
  const [{ name, data }] = h.all("plugin.resource_read") as [ReturnType<Hosted["all"]>[number] & { name: string }];
  const { bytes, ...rest } = data as { bytes: number };
  assert.equal(name, "archive");
  assert.ok(bytes > 20);
  assert.deepEqual(rest, {
    uri: "archive://own",
    success: true,
    duration_ms: 0,
    agent_path: "primary",
    session_id: "ses_1",
  });
  await assert.rejects(mcp.readResource("archive://shelf/gone", at), { message: /Resource not found/ });
  assert.equal((h.all("plugin.resource_read").at(-1)!.data as { success: boolean }).success, false);
});

test("N-030 a URI that two servers claim is refused with the addresses of both, and each is read under its own", async () => {
  await using h = await libraries();
  const { mcp } = h.host;
  for (const uri of ["book://1", "page://a/b"]) {
    await assert.rejects(mcp.readResource(uri, at), {
      code: "mcp.resource_ambiguous",
      hint: `Say whose you mean: kaged:mcp-library/${uri} or kaged:archive/${uri}`,
      data: {
        uri,
        plugins: ["mcp-library", "archive"],
        addresses: [`kaged:mcp-library/${uri}`, `kaged:archive/${uri}`],
      },
    });
  }
  const { contents } = await mcp.readResource("kaged:archive/book://1", at) as { contents: unknown[] };
  assert.deepEqual(contents, [
    { uri: "kaged:archive/book://1", mimeType: "text/plain", text: "book://1 of archive" },
  ]);
  await assert.rejects(mcp.readResource("kaged:nobody/book://1", at), { code: "mcp.resource_unknown" });
  assert.deepEqual(await asked(h), []);
});

test("N-030 a URI that no server claims is unknown, until a server links to it: then it is that server's, in that session", async () => {
  await using h = await libraries();
  const { mcp } = h.host;
  const unknown = (uri: string, session = "ses_1") =>
    assert.rejects(mcp.readResource(uri, { agent: "primary", session }), { code: "mcp.resource_unknown" });
  await unknown("secret://1");
  await h.host.callTool("archive.link", { uri: "secret://1" }, at);
  await h.host.callTool("archive.embed", { uri: "secret://2" }, at);
  await mcp.getPrompt("archive.sum up_it", {}, at);
  for (const uri of ["secret://1", "secret://2", "prompted://1"]) {
    assert.equal(textIn(await mcp.readResource(uri, at)), `${uri} of archive`);
  }
  h.host.openSession({ id: "ses_2" });
  await unknown("secret://1", "ses_2");
  await h.host.callTool("mcp-library.link", { uri: "secret://1" }, at);
  await assert.rejects(mcp.readResource("secret://1", at), { code: "mcp.resource_ambiguous" });
  await h.host.session("ses_1").close();
  h.host.openSession({ id: "ses_1" });
  await unknown("secret://2");
  await assert.rejects(mcp.readResource("secret://2", { agent: "primary", session: "none" }), {
    code: "session.unknown",
  });
});

test("N-030 a server cannot take the address of another: a URI that looks like one is listed under its own name", async () => {
  await using h = await libraries();
  await h.host.callTool("archive.add", { uri: "kaged:mcp-library/mcp-library://own" }, at);
  const address = "kaged:archive/kaged:mcp-library/mcp-library://own";
  await until(async () => uris(await h.host.resources("primary")).includes(address), "the added resource");
  const read = await h.host.mcp.readResource("kaged:mcp-library/mcp-library://own", at);
  assert.equal(textIn(read), "mcp-library://own of mcp-library");
  assert.deepEqual(await asked(h, "archive"), []);
});

test("N-030 a server that is down lists nothing and holds nobody up; a read of it says that it is down", async () => {
  await using h = await libraries();
  await h.host.disable("archive");
  assert.deepEqual(uris(await h.host.resources("primary")), ["book://1", "mcp-library://own"]);
  assert.deepEqual(h.host.mcp.instructions("primary"), [
    { plugin: "mcp-library", text: "Ask mcp-library for books." },
  ]);
  await assert.rejects(h.host.mcp.readResource("kaged:archive/book://1", at), { code: "plugin.unavailable" });
  await assert.rejects(h.host.mcp.readResource("archive://own", at), {
    code: "mcp.resource_unknown",
    hint: "Not running: archive",
  });
  await assert.rejects(h.host.mcp.getPrompt("archive.greet", {}, at), { code: "plugin.unavailable" });
});

test("N-030 a server that is slow or broken costs the others nothing but one wait, and is audited once", async () => {
  await using h = await libraries();
  const plugins = async () => [...new Set((await h.host.prompts("primary")).map(({ plugin }) => plugin))];
  const failures = () => h.all("plugin.mcp_failed").map(({ name, data }) => `${name} ${data.part} ${data.error_code}`);
  assert.deepEqual(await plugins(), ["mcp-library", "archive"]);
  await h.host.callTool("archive.silent", {}, at); // Its list has changed, and it does not say how.
  const late = plugins();
  await h.pass(LIST_MS);
  assert.deepEqual(await late, ["mcp-library"]);
  assert.deepEqual(await plugins(), ["mcp-library"]); // Nobody waits for it a second time.
  assert.deepEqual(failures(), ["archive prompts protocol.timeout"]);
  await h.host.callTool("mcp-library.broken", {}, at);
  assert.deepEqual([await plugins(), await plugins()], [[], []]);
  assert.deepEqual(failures(), ["archive prompts protocol.timeout", "mcp-library prompts protocol.internal"]);
});

test("N-030 a subscription is made once for all that listen, ended with the last of them, and made again after a restart", async () => {
  await using h = await libraries();
  const { mcp } = h.host;
  const heard: string[] = [];
  const touch = async (uri: string, count: number) => {
    await h.host.callTool("mcp-library.touch", { uri }, at);
    await until(() => heard.length === count, () => `${count} changes; there were ${heard.join(" ")}`);
  };
  const first = await mcp.subscribe("mcp-library://own", () => heard.push("first"), at);
  const second = await mcp.subscribe("kaged:mcp-library/mcp-library://own", () => heard.push("second"), at);
  assert.deepEqual(await asked(h), ["subscribe mcp-library://own"]);
  await touch("mcp-library://own", 2);
  await touch("mcp-library://own/part", 4);
  await first();
  await touch("mcp-library://own", 5);
  await h.host.restart("mcp-library");
  assert.deepEqual(await asked(h), ["subscribe mcp-library://own"]);
  await touch("mcp-library://own", 6);
  assert.deepEqual(heard, ["first", "second", "first", "second", "second", "second"]);
  await second();
  await second();
  assert.deepEqual(await asked(h), ["subscribe mcp-library://own", "unsubscribe mcp-library://own"]);
  await mcp.subscribe("mcp-library://own", () => heard.push("third"), at);
  await h.host.session("ses_1").close();
  h.host.openSession({ id: "ses_1" });
  assert.deepEqual((await asked(h)).at(-1), "unsubscribe mcp-library://own");
  await assert.rejects(mcp.subscribe("none://1", () => {}, at), { code: "mcp.resource_unknown" });
});

test("N-030 host.mcp.on() reports changed lists, log messages, and servers that come and go, of the agent's servers", async () => {
  await using h = await libraries();
  const events: string[] = [];
  const stop = h.host.mcp.on("primary", ({ plugin, ...event }) => {
    const { list = "", level = "" } = event as { list?: string; level?: string };
    events.push(`${plugin} ${event.type} ${list}${level}`);
  });
  const seen = (event: string): Promise<unknown> => until(() => events.includes(event), () => events.join("; "));
  await h.host.callTool("archive.add", { uri: "more://1" }, at);
  await seen("archive list_changed resources");
  assert.ok(uris(await h.host.resources("primary")).includes("more://1"));
  await h.host.callTool("archive.say", { level: "error" }, at);
  await seen("archive log error");
  events.length = 0;
  await h.host.disable("archive");
  await seen("archive list_changed prompts");
  events.length = 0;
  await h.host.enable("archive");
  await seen("archive list_changed resources");
  stop();
  events.length = 0;
  await h.host.callTool("archive.say", { level: "error" }, at);
  assert.deepEqual(events, []);
});

test("N-030 servers send the most talkative log level of all sessions, also after a restart", async () => {
  await using h = await libraries();
  const { mcp } = h.host;
  h.host.openSession({ id: "ses_2" });
  await mcp.setLogLevel("error", at);
  await mcp.setLogLevel("debug", { agent: "primary", session: "ses_2" });
  await h.host.session("ses_2").close();
  assert.deepEqual(await asked(h), ["level error", "level debug", "level error"]);
  await h.host.restart("mcp-library");
  await until(async () => (await asked(h)).includes("level error"), "the level");
  await assert.rejects(mcp.setLogLevel("loud" as "debug", at), {
    code: "mcp.params_invalid",
    message: 'There is no log level "loud"',
  });
});
