import assert from "node:assert/strict";
import { test } from "node:test";
import { Feed } from "../../../src/core/values/feed.ts";

const make = (maxEntries = 3, maxLength = 1000): Feed => new Feed({ name: "f_1", maxEntries, maxLength });
const seqs = ({ entries }: { entries: readonly { seq: number }[] }): number[] => entries.map(({ seq }) => seq);

test("a feed keeps its newest entries, and says when older ones are gone", () => {
  const feed = make();
  for (let at = 1; at <= 5; at++) feed.push("audit", "echo", { at });
  assert.deepEqual(seqs(feed.after(0)), [3, 4, 5]);
  assert.equal(feed.after(0).missed, true);
  assert.equal(feed.after(1).missed, true);
  assert.deepEqual([seqs(feed.after(2)), feed.after(2).missed], [[3, 4, 5], false]);
  assert.deepEqual([seqs(feed.after(4)), seqs(feed.after(5)), seqs(feed.after(2, 2))], [[5], [], [3, 4]]);
  assert.deepEqual(feed.after(4).entries, [{ seq: 5, id: "f_1-5", kind: "audit", plugin: "echo", text: '{"at":5}' }]);
});

test("a feed keeps so many characters and no more, but always the newest entry", () => {
  const feed = make(100, 20);
  feed.push("log", "echo", "1234567890");
  feed.push("log", "echo", "123456");
  assert.deepEqual(seqs(feed.after(0)), [1, 2]);
  feed.push("log", "echo", "1");
  assert.deepEqual(seqs(feed.after(0)), [2, 3]);
  feed.push("log", "echo", "x".repeat(100));
  assert.deepEqual(seqs(feed.after(0)), [4]);
  feed.push("log", "echo", "1");
  assert.deepEqual(seqs(feed.after(0)), [5]);
});

test("a feed knows its own ids, and takes any other for one after which all is new and some is missed", () => {
  const feed = make();
  feed.push("log", "echo", 1);
  feed.push("log", "echo", 2);
  assert.deepEqual(feed.placeOf("f_1-1"), { seq: 1, missed: false });
  assert.deepEqual(feed.placeOf(feed.idAt(feed.newest)), { seq: 2, missed: false });
  for (const id of ["f_2-1", "f_1-3", "f_1-", "f_1--1", "f_1-01", "1", "", "f_1-1e0", "f_1-NaN"]) {
    assert.deepEqual(feed.placeOf(id), { seq: 0, missed: true }, id);
  }
});

test("a feed calls its listeners for each entry and for its end, and takes nothing after it", () => {
  const feed = make();
  const heard: number[] = [];
  const stop = feed.listen(() => heard.push(feed.newest));
  feed.listen(() => heard.push(-feed.newest));
  feed.push("log", "echo", 1);
  stop();
  feed.push("log", "echo", 2);
  feed.close();
  feed.push("log", "echo", 3);
  assert.deepEqual([heard, feed.newest, feed.isClosed], [[1, -1, -2, -2], 2, true]);
});
