import assert from "node:assert/strict";
import { test } from "node:test";
import type { Message } from "../../src/core/compaction/messages.ts";
import { FittedWindow } from "../../src/frameworks/fitted_window.ts";
import { compactMessages, type MessageForm } from "../../src/frameworks/messages.ts";
import { frameworkHost } from "../support/frameworks.ts";
import { hosted } from "../support/hosted.ts";

/** Messages of a framework whose words are its own. */
interface Said {
  readonly who: string;
  readonly text: string;
  readonly calls?: string;
  readonly answers?: string;
}

const FORM: MessageForm<Said> = {
  read: ({ who, text, calls, answers }): Message => ({
    role: who,
    content: text,
    ...(calls !== undefined && { tool_calls: [{ id: calls }] }),
    ...(answers !== undefined && { tool_call_id: answers }),
  }),
  write: ({ role, content }) => ({ who: role, text: String(content) }),
};

/** A long conversation; every fourth message answers a tool call of the one before it. */
function conversation(count: number): Said[] {
  const said = Array.from({ length: count }, (_, index): Said => {
    if (index % 4 === 2) return { who: "assistant", text: "", calls: `call-${index}` };
    if (index % 4 === 3) return { who: "tool", text: `${index} ${"result ".repeat(20)}`, answers: `call-${index - 1}` };
    return { who: index % 2 === 0 ? "user" : "assistant", text: `${index} ${"word ".repeat(20)}` };
  });
  return [{ who: "developer", text: "Be brief" }, ...said];
}

const tokensOf = (messages: readonly Said[]): number =>
  messages.reduce((sum, { text }) => sum + Math.ceil(text.length / 4), 0);

test("N-035 a compacted window is the framework's own messages: the same objects, without a field more", async () => {
  await using h = await frameworkHost();
  const history = conversation(40);
  const { messages, by } = await compactMessages(h.session, history, FORM, { targetTokens: 300 });
  assert.equal(by, "drop");
  assert.ok(messages.length > 0 && messages.length < history.length);
  assert.ok(messages.every((message) => history.includes(message)));
});

test("N-035 a developer message stays as a system message does, and tool calls stay with their results", async () => {
  await using h = await frameworkHost();
  const { messages } = await compactMessages(h.session, conversation(40), FORM, { targetTokens: 300 });
  assert.deepEqual(messages[0], { who: "developer", text: "Be brief" });
  const made = new Set(messages.map(({ calls }) => calls));
  for (const { answers } of messages) if (answers !== undefined) assert.ok(made.has(answers), answers);
});

test("N-035 what a compaction adds is written as a message of the framework, once", async () => {
  await using h = await frameworkHost({ summarize: () => Promise.resolve("All was said"), yaml: SUMMARIZES });
  const history = conversation(40);
  const { messages } = await compactMessages(h.session, history, FORM, { targetTokens: 300 });
  const added = messages.filter((message) => !history.includes(message));
  assert.equal(added.length, 1);
  assert.match(added[0]!.text, /All was said/);
  assert.deepEqual(Object.keys(added[0]!), ["who", "text"]);
});

const SUMMARIZES = {
  primary: {
    plugins: { toolbox: { package: "@test/toolbox" } },
    compaction: { strategy: "summarize", keep_last: 2 },
  },
};

test("N-035 a window that fits is left alone, and one that does not is compacted once, not before each call", async () => {
  await using h = await frameworkHost();
  const window = new FittedWindow(h.session, FORM, { maxTokens: 600, targetTokens: 300 });
  const compactions = () => h.all("compaction.completed").length;
  const short = conversation(8);
  assert.deepEqual(await window.fit(short), short);
  assert.equal(compactions(), 0);
  const long = conversation(60);
  const fitted = await window.fit(long);
  assert.ok(tokensOf(fitted) <= 600);
  assert.equal(compactions(), 1);
  // As a framework does: the whole history again, as new objects, and one message more.
  const next = [...structuredClone(long), { who: "user", text: "And now?" }];
  const again = await window.fit(next);
  assert.equal(compactions(), 1);
  assert.deepEqual(again, [...fitted, { who: "user", text: "And now?" }]);
});

test("N-035 a window that is many times too large fits at once, whatever the project's target is", async () => {
  await using h = await frameworkHost();
  const window = new FittedWindow(h.session, FORM, { maxTokens: 600 });
  assert.ok(tokensOf(await window.fit(conversation(400))) <= 600);
});

test("N-035 another conversation in the same window begins anew", async () => {
  await using h = await frameworkHost();
  const window = new FittedWindow(h.session, FORM, { maxTokens: 600, targetTokens: 300 });
  await window.fit(conversation(60));
  const other = [{ who: "user", text: "Hello" }];
  assert.deepEqual(await window.fit(other), other);
});

test("N-034 what is said reaches the idle hook once, and instructions do not", async () => {
  await using h = await hosted({ primary: { remembers: {} }, fixtures: { "@test/remembers": "remembers" } });
  const session = h.host.openSession();
  const window = new FittedWindow(session, FORM);
  const history: Said[] = [{ who: "system", text: "Be brief" }, { who: "user", text: "Hello" }];
  await window.fit(history);
  await window.fit([...structuredClone(history), { who: "assistant", text: "Hi" }]);
  await session.idle();
  const { output } = await session.callTool("remembers.recall", {});
  assert.deepEqual(output, { text: "Hello\nHi" });
});
