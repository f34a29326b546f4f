import assert from "node:assert/strict";
import { test } from "node:test";
import { Transcript } from "../../src/host/transcript.ts";

const user = (content: string) => ({ role: "user", content });
const bytesOf = (value: unknown): number => new TextEncoder().encode(JSON.stringify(value)).length;

test("a transcript holds role and content, and nothing once it is taken", () => {
  const transcript = new Transcript();
  transcript.add({ id: "m1", role: "user", content: "Hello", extra: true });
  assert.deepEqual(transcript.take(), { transcript: [{ role: "user", content: "Hello" }] });
  assert.deepEqual([transcript.take(), transcript.isEmpty], [{ transcript: [] }, true]);
});

test("a transcript keeps the newest that fit, counted in bytes, and says that it is cut", () => {
  const transcript = new Transcript(100);
  for (const content of ["ä".repeat(20), "ö".repeat(20), "three"]) transcript.add(user(content));
  const params = transcript.take();
  assert.deepEqual(params, { transcript: [user("three")], truncated: true });
  transcript.add(user("x".repeat(20)));
  transcript.add(user("y".repeat(20)));
  assert.deepEqual(transcript.take(), { transcript: [user("x".repeat(20)), user("y".repeat(20))] });
});

test("a message too large for any line leaves a transcript that says so", () => {
  const transcript = new Transcript(100);
  transcript.add(user("before"));
  transcript.add(user("x".repeat(200)));
  assert.equal(transcript.isEmpty, false);
  assert.deepEqual(transcript.take(), { transcript: [], truncated: true });
});

test("what a default transcript holds fits on a line of 4 MiB with room for the call", () => {
  const transcript = new Transcript();
  for (let number = 0; number < 50_000; number++) transcript.add(user(`${number} ${"é".repeat(60)}`));
  const params = transcript.take();
  assert.equal(params.truncated, true);
  assert.equal(params.transcript.at(-1)?.content.slice(0, 5), "49999");
  const bytes = bytesOf(params);
  assert.ok(bytes < 4 * 1024 * 1024 - 100_000 && bytes > 3.8 * 1024 * 1024, String(bytes));
});

test("what is changed after it was added is not changed in the transcript", () => {
  const transcript = new Transcript();
  const part = { type: "text", text: "before" };
  transcript.add({ role: "user", content: [part] });
  part.text = "after";
  assert.deepEqual(transcript.take().transcript, [{ role: "user", content: [{ type: "text", text: "before" }] }]);
});
