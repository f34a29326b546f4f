import assert from "node:assert/strict";
import { test } from "node:test";
import { HeldCalls } from "../../src/frameworks/held_calls.ts";
import { textOfParts } from "../../src/frameworks/result_parts.ts";
import { sessionTools } from "../../src/frameworks/session_tools.ts";
import { frameworkHost } from "../support/frameworks.ts";

const named = (tools: ReturnType<typeof sessionTools>, name: string) => tools.find((tool) => tool.name === name)!;

test("N-034 tools have names that every chat API takes, and schemas of objects", async () => {
  await using h = await frameworkHost();
  const tools = sessionTools(h.session);
  assert.ok(tools.every(({ name }) => /^[a-zA-Z0-9_-]{1,64}$/.test(name)));
  const { fullName, parameters } = named(tools, "toolbox__add");
  assert.equal(fullName, "toolbox.add");
  assert.deepEqual([parameters.type, parameters.required], ["object", ["a", "b"]]);
});

test("N-034 a result is parts: text, picture, sound, file, link and data", async () => {
  await using h = await frameworkHost();
  const tools = sessionTools(h.session);
  const sum = await named(tools, "toolbox__add").call({ a: 1, b: 2 });
  assert.deepEqual(sum, { parts: [{ type: "text", text: '{"sum":3}' }], structured: { sum: 3 } });
  const picture = await named(tools, "toolbox__picture").call({});
  assert.deepEqual(picture.parts.map(({ type }) => type), ["text", "image"]);
  const [sound] = (await named(tools, "toolbox__sound").call({})).parts;
  assert.ok(sound?.type === "audio" && sound.mediaType === "audio/wav");
  const paper = await named(tools, "toolbox__paper").call({});
  assert.deepEqual(paper.structured, { pages: 1 });
  assert.equal(textOfParts(paper.parts), "[file: paper.pdf]\n\n[more](https://example.com/more)");
});

test("N-034 a call that fails, is denied or has wrong arguments resolves with words for the model", async () => {
  await using h = await frameworkHost();
  const tools = sessionTools(h.session);
  const said = async (name: string, args: unknown = {}) => {
    const { error, parts } = await named(tools, name).call(args);
    return [error?.code, textOfParts(parts)];
  };
  assert.deepEqual(await said("toolbox__fail"), ["plugin.error", "error[plugin.error]: The disk is full"]);
  assert.match(String(await said("toolbox__secret")), /^tool\.denied,error\[tool\.denied\]/);
  assert.match(String(await said("toolbox__add", { a: "x" })), /^tool\.arguments_invalid/);
});

test("N-034 a call that is aborted rejects with the reason of its signal", async () => {
  await using h = await frameworkHost();
  const controller = new AbortController();
  const reason = new Error("enough");
  const onProgress = () => controller.abort(reason);
  const wait = named(sessionTools(h.session), "toolbox__wait");
  await assert.rejects(wait.call({}, { signal: controller.signal, onProgress }), reason);
});

test("N-034 a held call is judged once, asks, and is made only when it is finished", async () => {
  await using h = await frameworkHost();
  const fired: string[] = [];
  h.host.hooks.register("PreToolUse", ({ tool }) => void fired.push(tool!.name));
  const held = new HeldCalls();
  const erase = named(sessionTools(h.session), "toolbox__erase");
  const asked = await held.judge("call-1", erase, { path: "a" });
  assert.deepEqual([asked?.tool, asked?.arguments], ["toolbox.erase", { path: "a" }]);
  assert.equal(h.all("plugin.method_called").filter(({ data }) => data.method === "toolbox.erase").length, 0);
  const { parts } = await held.finish("call-1", erase, { path: "a" }, { answer: { decision: "allow" } });
  assert.deepEqual([textOfParts(parts), fired], ["erased a", ["toolbox.erase"]]);
});

test("N-034 a held call that nobody is asked about waits all the same, and one that is refused says so", async () => {
  await using h = await frameworkHost();
  const held = new HeldCalls();
  const tools = sessionTools(h.session);
  const add = named(tools, "toolbox__add");
  assert.equal(await held.judge("1", add, { a: 1, b: 2 }), null);
  assert.equal(h.all("plugin.method_called").filter(({ data }) => data.method === "toolbox.add").length, 0);
  assert.deepEqual((await held.finish("1", add, { a: 1, b: 2 })).structured, { sum: 3 });
  assert.equal(await held.judge("2", named(tools, "toolbox__secret"), {}), null);
  assert.equal((await held.finish("2", named(tools, "toolbox__secret"), {})).error?.code, "tool.denied");
});

test("N-034 a person's no reaches a held call as an error for the model; one that is dropped is withdrawn", async () => {
  await using h = await frameworkHost();
  const held = new HeldCalls();
  const erase = named(sessionTools(h.session), "toolbox__erase");
  await held.judge("1", erase, { path: "a" });
  const { error } = await held.finish("1", erase, { path: "a" }, { answer: { decision: "deny", reason: "not now" } });
  assert.deepEqual([error?.code, (error?.data as { reason: string }).reason], ["tool.denied", "not now"]);
  await held.judge("2", erase, { path: "b" });
  const withdrawn = Promise.withResolvers<string>();
  h.host.approvals.on(({ type }) => withdrawn.resolve(type));
  held.drop("2");
  assert.equal(await withdrawn.promise, "withdrawn");
});

test("N-034 a held call is made as it was judged: another call under its id is judged anew", async () => {
  await using h = await frameworkHost();
  const held = new HeldCalls();
  const erase = named(sessionTools(h.session), "toolbox__erase");
  await held.judge("1", erase, { path: "a" });
  const asked = await held.judge("1", erase, { path: "b" });
  assert.deepEqual(asked?.arguments, { path: "b" });
  const { parts } = await held.finish("1", erase, { path: "b" }, { answer: { decision: "allow" } });
  assert.equal(textOfParts(parts), "erased b");
});

test("N-034 a person's yes counts though the request ran out at the host's desk meanwhile", async () => {
  await using h = await frameworkHost();
  const held = new HeldCalls();
  const erase = named(sessionTools(h.session), "toolbox__erase");
  await held.judge("1", erase, { path: "a" });
  const expired = Promise.withResolvers<string>();
  h.host.approvals.on(({ type }) => expired.resolve(type));
  await h.pass(600_000);
  assert.equal(await expired.promise, "expired");
  const { parts } = await held.finish("1", erase, { path: "a" }, { answer: { decision: "allow" } });
  assert.equal(textOfParts(parts), "erased a");
});

test("N-034 a person's no holds for a held call that another front end has allowed before", async () => {
  await using h = await frameworkHost();
  const held = new HeldCalls();
  const erase = named(sessionTools(h.session), "toolbox__erase");
  const { id } = (await held.judge("1", erase, { path: "a" }))!;
  await h.host.approvals.answer(id, { decision: "allow" }, { by: "console" });
  const { error } = await held.finish("1", erase, { path: "a" }, { answer: { decision: "deny", reason: "not now" } });
  assert.deepEqual([error?.code, h.all("plugin.method_called").length], ["tool.denied", 0]);
});
