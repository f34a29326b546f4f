import assert from "node:assert/strict";
import { test } from "node:test";
import { hosted } from "../support/hosted.ts";

const at = { agent: "primary", session: "ses_1" };

async function library() {
  const h = await hosted({ primary: { library: {} }, fixtures: { "@test/library": "mcp_library" } });
  h.host.openSession({ id: "ses_1" });
  return h;
}

test("N-030 host.prompts() names prompts by plugin, each with an alias that every client takes", async () => {
  await using h = await library();
  const prompts = await h.host.prompts("primary");
  assert.deepEqual(prompts.map(({ name }) => name.slice(0, 30)), [
    "mcp-library.greet",
    "mcp-library.sum up/it",
    "mcp-library.sum up_it",
    `mcp-library.${"a".repeat(18)}`,
  ]);
  const aliases = prompts.map(({ alias }) => alias);
  for (const alias of aliases) assert.match(alias, /^[a-zA-Z0-9_-]{1,64}$/);
  assert.equal(aliases[0], "mcp-library__greet");
  assert.match(aliases[1]!, /^mcp-library__sum_up_it_[0-9a-z]{8}$/);
  assert.equal(new Set(aliases).size, 4);
  assert.deepEqual(prompts[0]!.definition["title"], "Greets");
});

test("N-030 a prompt is filled in by its name or its alias, and the use is audited", async () => {
  await using h = await library();
  const { mcp } = h.host;
  for (const name of ["mcp-library.greet", "mcp-library__greet"]) {
    assert.deepEqual(await mcp.getPrompt(name, { who: "Ann" }, at), {
      messages: [{ role: "user", content: { type: "text", text: "Hello Ann" } }],
    });
  }
  for (const { alias, name } of await h.host.prompts("primary")) {
    await mcp.getPrompt(alias, {}, at);
    const { prompt, success } = h.all("plugin.prompt_used").at(-1)!.data;
    assert.deepEqual([prompt, success], [name, true]);
  }
});

test("N-030 a prompt that is not there, and arguments that are no texts, are refused with what is there", async () => {
  await using h = await library();
  const { mcp } = h.host;
  await assert.rejects(mcp.getPrompt("mcp-library.great", {}, at), {
    code: "mcp.prompt_unknown",
    hint: 'Did you mean "mcp-library.greet"?',
  });
  await assert.rejects(mcp.getPrompt("greet", {}, at), { code: "mcp.prompt_unknown" });
  await assert.rejects(mcp.getPrompt("mcp-library.greet", { who: 7 as unknown as string }, at), {
    code: "mcp.params_invalid",
    message: 'The argument "who" of a prompt is no text',
  });
});

test("N-030 an argument is completed by the server of its prompt or template, under the server's own name", async () => {
  await using h = await library();
  const { mcp } = h.host;
  const argument = { name: "who", value: "An" };
  const done = { completion: { values: ["An-done"] } };
  const ref = (type: string, of: object) => ({ ref: { type, ...of }, argument });
  const refs = [
    ref("ref/prompt", { name: "mcp-library__greet" }),
    ref("ref/resource", { uri: "mcp-library://shelf/{id}" }),
    ref("ref/resource", { uri: "kaged:mcp-library/page://{+path}" }),
    ref("ref/resource", { uri: "book://1" }),
  ];
  for (const params of refs) assert.deepEqual(await mcp.complete(params, at), done);
  const { content: [log] } = await h.host.callTool("mcp-library.log", {}, at) as { content: { text: string }[] };
  assert.deepEqual(JSON.parse(log!.text), [
    "complete greet",
    "complete mcp-library://shelf/{id}",
    "complete page://{+path}",
    "complete book://1",
  ]);
  await assert.rejects(mcp.complete(ref("ref/prompt", { name: "none" }), at), { code: "mcp.prompt_unknown" });
  await assert.rejects(mcp.complete(ref("ref/resource", { uri: "no://{x}" }), at), { code: "mcp.resource_unknown" });
  await assert.rejects(mcp.complete({ argument }, at), { code: "mcp.params_invalid" });
});
