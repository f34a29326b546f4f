import assert from "node:assert/strict";
import { test } from "node:test";
import { anthropicTools, compact, openaiTools, responsesTools } from "../../src/frameworks/tools.ts";
import { frameworkHost, frameworkTests } from "../support/frameworks.ts";

const HELPER = "primary.subagents.helper";
const use = (name: string, input: unknown = {}, id = name) => ({ type: "tool_use", id, name, input });
const chat = (name: string, args: unknown = {}, id = name) => {
  return {
    type: "function",
    id,
    function: { name, arguments: typeof args === "string" ? args : JSON.stringify(args) },
  };
};
const item = (name: string, args: unknown = {}) => {
  return { type: "function_call", call_id: name, name, arguments: JSON.stringify(args) };
};

test("N-034 plain tools: each API is offered the same tools, in its own shape", async () => {
  await using h = await frameworkHost();
  const { parametersSchema, description } = h.session.tools().find(({ alias }) => alias === "toolbox__add")!;
  const schema = { ...parametersSchema, type: "object" };
  const name = "toolbox__add";
  const named = <T extends { name?: string }>(tools: readonly T[]) => tools.find((tool) => tool.name === name);
  assert.deepEqual(named(anthropicTools(h.session).tools), { name, description, input_schema: schema });
  assert.deepEqual(openaiTools(h.session).tools.find((tool) => tool.function.name === name), {
    type: "function",
    function: { name, description, parameters: schema },
  });
  const expected = { type: "function", name, description, parameters: schema, strict: false };
  assert.deepEqual(named(responsesTools(h.session).tools), expected);
  assert.deepEqual(anthropicTools(h.session, { agent: HELPER }).tools, anthropicTools(h.session).tools);
});

test("N-034 Anthropic: all() answers every call of an answer, pictures and documents as blocks", async () => {
  await using h = await frameworkHost();
  const { all } = anthropicTools(h.session);
  const { role, content: [sum, picture, paper, sound] } = await all([
    { type: "text" },
    use("toolbox__add", { a: 1, b: 2 }),
    use("toolbox__picture"),
    use("toolbox__paper"),
    use("toolbox__sound"),
  ]);
  assert.equal(role, "user");
  const text = [{ type: "text", text: '{"sum":3}' }];
  assert.deepEqual(sum, { type: "tool_result", tool_use_id: "toolbox__add", content: text });
  const [, image] = picture!.content;
  assert.ok(
    image?.type === "image" && image.source.media_type === "image/png" && image.source.data.startsWith("iVBOR"),
  );
  const [document, link] = paper!.content;
  assert.ok(document?.type === "document" && document.title === "paper.pdf" && document.source.data === "JVBERi0=");
  assert.deepEqual(link, { type: "text", text: "[more](https://example.com/more)" });
  assert.deepEqual(sound!.content, [{ type: "text", text: "[audio: audio/wav]" }]);
});

test("N-034 Anthropic: failed, blocked, denied and unknown calls are results with is_error", async () => {
  await using h = await frameworkHost();
  h.host.hooks.register("PreToolUse", ({ tool }) => {
    return tool!.name === "toolbox.sound" ? { action: "block", reason: "It is late" } : undefined;
  });
  const { call, has } = anthropicTools(h.session);
  const said = async (name: string) => {
    const { content: [block], is_error } = await call(use(name));
    assert.ok(is_error && block?.type === "text");
    return block.text;
  };
  assert.equal(await said("toolbox__fail"), "error[plugin.error]: The disk is full");
  assert.match(await said("toolbox__sound"), /^error\[tool\.blocked\].*It is late/);
  assert.match(await said("toolbox__secret"), /^error\[tool\.denied\]/);
  assert.match(await said("weather"), /^error\[tool\.unknown\]: There is no tool "weather"/);
  assert.deepEqual([has("toolbox__add"), has("weather")], [true, false]);
});

test("N-034 Chat Completions: results are text, and pictures follow in one message of the user", async () => {
  await using h = await frameworkHost();
  const { all, call } = openaiTools(h.session);
  const [picture, sum, shown, ...rest] = await all([
    chat("toolbox__picture", {}, "p1"),
    chat("toolbox__add", { a: 1, b: 2 }, "s1"),
  ]);
  assert.deepEqual(picture, { role: "tool", tool_call_id: "p1", content: "A pixel\n\n[image: image/png]" });
  assert.deepEqual([sum, rest], [{ role: "tool", tool_call_id: "s1", content: '{"sum":3}' }, []]);
  assert.ok(shown?.role === "user");
  const [label, image] = shown.content;
  assert.deepEqual(label, { type: "text", text: "The tool toolbox__picture returned with its result p1:" });
  assert.ok(image?.type === "image_url" && image.image_url.url.startsWith("data:image/png;base64,iVBOR"));
  const [, , files] = await all([chat("toolbox__sound"), chat("toolbox__paper")]);
  assert.ok(files?.role === "user");
  assert.deepEqual(files.content.map(({ type }) => type), ["text", "input_audio", "text", "file"]);
  assert.deepEqual(await all(null), []);
  assert.match((await call(chat("toolbox__add", "{oops"))).content, /^error\[tool\.arguments_invalid\].*no JSON/);
  assert.match((await call({ id: "x", type: "custom" })).content, /^error\[tool\.unknown\]/);
});

test("N-034 Responses: results are items, with pictures and files as parts", async () => {
  await using h = await frameworkHost();
  const [sum, picture, paper, none] = await responsesTools(h.session).all([
    { type: "reasoning" },
    item("toolbox__add", { a: 1, b: 2 }),
    item("toolbox__picture"),
    item("toolbox__paper"),
    item("weather"),
  ]);
  assert.deepEqual(sum, { type: "function_call_output", call_id: "toolbox__add", output: '{"sum":3}' });
  const types = (output: unknown) => (output as { type: string }[]).map(({ type }) => type);
  assert.deepEqual(types(picture!.output), ["input_text", "input_image"]);
  assert.deepEqual(types(paper!.output), ["input_file", "input_text"]);
  assert.match(String(none!.output), /^error\[tool\.unknown\]/);
});

test("N-034 plain tools: a call can be aborted, reports its progress, and asks the caller's own person", async () => {
  await using h = await frameworkHost();
  const { call } = anthropicTools(h.session);
  const abort = new AbortController();
  const reported: string[] = [];
  const options = {
    signal: abort.signal,
    onProgress: (progress: unknown, { id, name }: { id: string; name: string }) => {
      reported.push(`${id} ${name} ${(progress as { message: string }).message}`);
      abort.abort(new Error("enough"));
    },
  };
  await assert.rejects(call(use("toolbox__wait", {}, "w1"), options), /enough/);
  assert.deepEqual(reported, ["w1 toolbox__wait halfway"]);
  const erase = use("toolbox__erase", { path: "a" });
  const yes = await call(erase, { onAsk: () => ({ decision: "allow" }) });
  assert.deepEqual(yes.content, [{ type: "text", text: "erased a" }]);
  const no = await call(erase, { onAsk: () => ({ decision: "deny", reason: "not now" }) });
  assert.ok(no.is_error && no.content[0]?.type === "text" && no.content[0].text.includes("not now"));
});

test("N-034 plain tools: hooks fire once for a call, and hear which agent makes it", async () => {
  await using h = await frameworkHost();
  const fired: string[] = [];
  for (const hook of ["PreToolUse", "PostToolUse"] as const) {
    h.host.hooks.register(hook, ({ agent }) => void fired.push(`${hook} ${agent}`));
  }
  await openaiTools(h.session, { agent: HELPER }).call(chat("toolbox__add", { a: 1, b: 2 }));
  assert.deepEqual(fired, [`PreToolUse ${HELPER}`, `PostToolUse ${HELPER}`]);
});

const words = "word ".repeat(60);

test("N-035 Anthropic: compact() keeps calls with their results, and counts no bytes of pictures", async () => {
  await using h = await frameworkHost();
  const source = { type: "base64", media_type: "image/png", data: "iVBOR".repeat(4000) };
  const messages = [1, 2, 3, 4].flatMap((n) => [
    { role: "user", content: words },
    { role: "assistant", content: [{ type: "tool_use", id: `c${n}`, name: "look", input: {} }] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: `c${n}`, content: [{ type: "image", source }] }] },
    { role: "assistant", content: `Answer ${n}` },
  ]);
  const { messages: window, before } = await compact(h.session, messages, { targetTokens: 220 });
  assert.ok(before.tokens < 2000, `${before.tokens} tokens`);
  assert.ok(window.length < messages.length && window.every((message) => messages.includes(message)));
  const ids = (field: string) =>
    window.flatMap(({ content }) =>
      (Array.isArray(content) ? content as Record<string, unknown>[] : []).map((block) => block[field] ?? [])
    ).flat();
  assert.deepEqual(ids("tool_use_id"), ids("id"));
});

test("N-035 Chat Completions: compact() keeps developer messages, and calls with their results", async () => {
  await using h = await frameworkHost();
  const messages = [
    { role: "developer", content: "Be kind" },
    ...[1, 2, 3, 4].flatMap((n) => [
      { role: "user", content: words },
      { role: "assistant", content: null, tool_calls: [chat("look", {}, `c${n}`), chat("see", {}, `d${n}`)] },
      { role: "tool", tool_call_id: `c${n}`, content: words },
      { role: "tool", tool_call_id: `d${n}`, content: words },
    ]),
  ];
  const { messages: window } = await compact(h.session, messages, { targetTokens: 400 });
  assert.equal(window[0], messages[0]);
  assert.ok(window.length < messages.length);
  const calls = window.flatMap((message) => "tool_calls" in message ? message.tool_calls.map(({ id }) => id) : []);
  const answered = window.flatMap((message) => "tool_call_id" in message ? [message.tool_call_id] : []);
  assert.deepEqual(answered, calls);
});

test("N-035 Responses: compact() keeps reasoning with the calls it led to, and these with their results", async () => {
  await using h = await frameworkHost();
  const turn = (n: number) => [
    { type: "message", role: "user", content: words },
    { type: "reasoning", id: `r${n}`, summary: [] },
    { type: "function_call", id: `f${n}`, call_id: `c${n}`, name: "look", arguments: "{}" },
    { type: "function_call", id: `g${n}`, call_id: `d${n}`, name: "look", arguments: "{}" },
    { type: "function_call_output", call_id: `c${n}`, output: words },
    { type: "function_call_output", call_id: `d${n}`, output: words },
    { type: "message", role: "assistant", content: [{ type: "output_text", text: "Done" }] },
  ];
  const items: object[] = [1, 2, 3].flatMap(turn);
  const { messages: window } = await compact(h.session, items, { targetTokens: 1 });
  // The newest two stay; all that they belong to stays with them.
  assert.deepEqual(window, items.slice(-6));
});

test("N-035 plain tools: text that a compaction adds is a message of the user", async () => {
  await using h = await frameworkHost({
    yaml: {
      primary: {
        plugins: { toolbox: { package: "@test/toolbox" } },
        compaction: { strategy: "summarize", keep_last: 1 },
      },
    },
    summarize: () => Promise.resolve("They spoke of words"),
  });
  const messages = [1, 2, 3, 4, 5, 6].map((n) => ({ role: n % 2 ? "user" : "assistant", content: `${n} ${words}` }));
  const { messages: [first, ...others] } = await compact(h.session, messages, { targetTokens: 200 });
  assert.equal(first?.role, "user");
  assert.match(first.content, /They spoke of words/);
  assert.ok(others.every((message) => messages.includes(message)));
});

await frameworkTests("plain_tools", "openai");
