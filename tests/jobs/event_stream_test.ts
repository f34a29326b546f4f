import assert from "node:assert/strict";
import { test } from "node:test";
import { EventStream, placeOf, type StreamReader } from "../../src/jobs/event_stream.ts";
import fc from "../support/fast_check.ts";

const limits = { maxEvents: 1000, maxChars: 100_000 };
const told = async (reader: StreamReader): Promise<unknown[]> => {
  const seen: unknown[] = [];
  for await (const { id, type, data } of reader) seen.push([id, type, data]);
  return seen;
};

test("T-009 a reader gets the events so far, the next ones, then done", async () => {
  const stream = new EventStream(limits);
  stream.begin(1);
  stream.push("text", { delta: "a" });
  const early = told(stream.read());
  stream.push("text", { delta: "b" });
  const late = told(stream.read());
  await new Promise(setImmediate);
  stream.push("empty");
  stream.finish({ status: "completed" });
  const all = [
    ["1-1", "text", { delta: "a" }],
    ["1-2", "text", { delta: "b" }],
    ["1-3", "empty", null],
    ["1-4", "done", { status: "completed" }],
  ];
  assert.deepEqual(await early, all);
  assert.deepEqual(await late, all);
  assert.deepEqual(await told(stream.read()), all);
  assert.equal(stream.readers, 0);
});

test("T-009 a reader that comes back goes on after the last event it read", async () => {
  const stream = new EventStream(limits);
  stream.begin(1);
  for (const n of [1, 2, 3]) stream.push("n", n);
  const reader = stream.read();
  await reader.next();
  const { value } = await reader.next();
  await reader.return();
  stream.finish(null);
  assert.deepEqual(await told(stream.read(placeOf(value!.id))), [["1-3", "n", 3], ["1-4", "done", null]]);
});

test("T-009 a place nobody can have been at counts as none", async () => {
  const stream = new EventStream(limits);
  stream.begin(1);
  stream.push("n", 1);
  stream.finish(null);
  const all = [["1-1", "n", 1], ["1-2", "done", null]];
  assert.deepEqual(await told(stream.read({ attempt: 1, seq: 99 })), all);
  assert.deepEqual([placeOf("x"), placeOf("1-"), placeOf("1-1-1"), placeOf("-1")], [null, null, null, null]);
});

test("T-009 the buffer is bounded by count and by size, and lost counts the dropped events", async () => {
  const few = new EventStream({ maxEvents: 2, maxChars: 1000 });
  few.begin(1);
  for (const n of [1, 2, 3, 4]) few.push("n", n);
  few.finish(null);
  const lost = ["1-2", "lost", { reason: "buffer", count: 2 }];
  assert.deepEqual(await told(few.read()), [lost, ["1-3", "n", 3], ["1-4", "n", 4], ["1-5", "done", null]]);
  assert.deepEqual(await told(few.read(placeOf("1-2"))), [["1-3", "n", 3], ["1-4", "n", 4], ["1-5", "done", null]]);

  const small = new EventStream({ maxEvents: 1000, maxChars: 100 });
  small.begin(1);
  for (const size of [40, 40, 40, 200]) small.push("text", "x".repeat(size));
  assert.equal(small.chars, 0);
  small.finish(null);
  assert.deepEqual(await told(small.read()), [["1-4", "lost", { reason: "buffer", count: 4 }], ["1-5", "done", null]]);
});

test("T-009 a slow reader of a fast run costs no more than the buffer, and learns how much it missed", async () => {
  const stream = new EventStream({ maxEvents: 10, maxChars: 1000 });
  stream.begin(1);
  const reader = stream.read();
  stream.push("n", 0);
  await reader.next();
  for (let n = 1; n <= 100; n++) stream.push("n", n);
  const { value } = await reader.next();
  assert.deepEqual([value!.type, value!.data], ["lost", { reason: "buffer", count: 90 }]);
  assert.equal((await reader.next()).value!.data, 91);
});

test("T-009 a job that is begun anew sends restarted to its readers", async () => {
  const stream = new EventStream(limits);
  stream.begin(1);
  stream.push("n", 1);
  const reader = stream.read();
  await reader.next();
  stream.begin(2);
  stream.push("n", 2);
  stream.finish(null);
  const rest = [["2-0", "restarted", { attempt: 2 }], ["2-1", "n", 2], ["2-2", "done", null]];
  assert.deepEqual(await told(reader), rest);
  assert.deepEqual(await told(stream.read(placeOf("1-1"))), rest);
});

test("T-009 a run elsewhere ends here with lost and done", async () => {
  const stream = new EventStream(limits);
  const reader = told(stream.read());
  stream.finish({ status: "completed" });
  assert.deepEqual(await reader, [["0-0", "lost", { reason: "not_here" }], ["0-1", "done", { status: "completed" }]]);
});

test("T-009 a reader may take the events at hand without waiting", async () => {
  const stream = new EventStream(limits);
  stream.begin(1);
  const reader = stream.read();
  assert.deepEqual(reader.ready(10), []);
  for (const n of [1, 2, 3]) stream.push("n", n);
  assert.deepEqual(reader.ready(2).map(({ data }) => data), [1, 2]);
  assert.equal((await reader.next()).value!.data, 3);
  stream.finish(null);
  assert.deepEqual(reader.ready(10).map(({ type }) => type), ["done"]);
  assert.equal(stream.readers, 0);
});

test("T-009 a reader that leaves while it waits is let go at once", async () => {
  const stream = new EventStream(limits);
  stream.begin(1);
  let idle = 0;
  stream.onIdle = () => idle++;
  const [one, two] = [stream.read(), stream.read()];
  const waiting = one.next();
  await one.return();
  assert.deepEqual(await waiting, { done: true, value: undefined });
  assert.deepEqual([stream.readers, idle], [1, 0]);
  await two.return();
  await two.return();
  assert.deepEqual([stream.readers, idle], [0, 1]);
});

test("T-009 reserved names and data that JSON cannot hold are refused where they are emitted", () => {
  const stream = new EventStream(limits);
  stream.begin(1);
  for (const type of ["done", "lost", "restarted", "", "a b", "a\nb", "x".repeat(65)]) {
    assert.throws(() => stream.push(type), TypeError, type);
  }
  const circle: Record<string, unknown> = {};
  circle["self"] = circle;
  for (const data of [circle, 1n, () => {}, Symbol("s")]) assert.throws(() => stream.push("x", data), TypeError);
});

test("T-009 any number of readers at any time see one sequence, whatever the limits", async () => {
  await fc.assert(fc.asyncProperty(
    fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 60 }),
    fc.integer({ min: 1, max: 20 }),
    fc.array(fc.integer({ min: 0, max: 60 }), { maxLength: 8 }),
    async (sizes, maxEvents, joins) => {
      const stream = new EventStream({ maxEvents, maxChars: 60 });
      stream.begin(1);
      const readers: Promise<unknown[]>[] = [];
      for (const [at, size] of sizes.entries()) {
        for (const join of joins) if (join === at) readers.push(told(stream.read()));
        stream.push("n", "x".repeat(size));
        if (size === 0) await Promise.resolve();
      }
      stream.finish(null);
      for (const seen of await Promise.all([...readers, told(stream.read())])) {
        let next = 1;
        for (const [id, type, data] of seen as [string, string, { count: number } | string][]) {
          if (type === "lost") next += (data as { count: number }).count;
          else assert.equal(id, `1-${next++}`);
        }
        assert.equal(next, sizes.length + 2, "every event is either seen or said to be lost, and done comes last");
      }
    },
  ));
});
