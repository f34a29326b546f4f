import assert from "node:assert/strict";
import { test } from "node:test";
import OpenAI from "openai";
import { compact, openaiTools, responsesTools } from "../../../src/frameworks/tools.ts";
import { frameworkHost } from "../../../tests/support/frameworks.ts";

type ChatMessage = OpenAI.Chat.ChatCompletionMessageParam;
type Item = OpenAI.Responses.ResponseInputItem;

/** The client of OpenAI, which is answered with these bodies in turn; `sent` has its requests. */
function client(...answers: readonly object[]) {
  const sent: Record<string, unknown>[] = [];
  const fetch = (_: unknown, init?: { readonly body?: unknown }) => {
    sent.push(JSON.parse(String(init?.body)));
    return Promise.resolve(Response.json(answers[sent.length - 1]));
  };
  return { openai: new OpenAI({ apiKey: "none", baseURL: "http://127.0.0.1:9", fetch }), sent };
}

const completion = (message: object) => ({ id: "1", object: "chat.completion", choices: [{ index: 0, message }] });
const call = { id: "c1", type: "function", function: { name: "toolbox__add", arguments: '{"a":1,"b":2}' } };

test("N-034 Chat Completions: tools and messages fit OpenAI's client, and compact() its messages", async () => {
  await using h = await frameworkHost();
  const answer = { role: "assistant", content: null, tool_calls: [call] };
  const { openai, sent } = client(completion(answer), completion({ role: "assistant", content: "3" }));
  const { tools, all } = openaiTools(h.session);
  const messages: ChatMessage[] = [{ role: "developer", content: "Add" }, { role: "user", content: "1 + 2" }];
  for (let turn = 0; turn < 2; turn++) {
    const { messages: window } = await compact(h.session, messages, { targetTokens: 10_000 });
    const { choices: [choice] } = await openai.chat.completions.create({ model: "any", tools, messages: window });
    messages.push(choice!.message, ...await all(choice!.message.tool_calls));
  }
  assert.deepEqual((sent[1]!["messages"] as ChatMessage[])[3], {
    role: "tool",
    tool_call_id: "c1",
    content: '{"sum":3}',
  });
  assert.equal(messages.at(-1)!.content, "3");
});

test("N-034 Responses: tools and items fit OpenAI's client, and compact() its items", async () => {
  await using h = await frameworkHost();
  const made = { type: "function_call", call_id: "c1", name: "toolbox__picture", arguments: "{}" };
  const { openai, sent } = client({ output: [made] }, { output: [] });
  const { tools, all } = responsesTools(h.session);
  const input: Item[] = [{ role: "user", content: "A picture" }];
  for (let turn = 0; turn < 2; turn++) {
    const { messages: window } = await compact(h.session, input, { targetTokens: 10_000 });
    const { output } = await openai.responses.create({ model: "any", tools, input: window });
    input.push(...output.filter((item) => item.type === "function_call"), ...await all(output));
  }
  const [, , result] = sent[1]!["input"] as Item[];
  assert.ok(result?.type === "function_call_output" && Array.isArray(result.output));
  assert.deepEqual(result.output.map(({ type }) => type), ["input_text", "input_image"]);
});
