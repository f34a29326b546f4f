import assert from "node:assert/strict";
import { test } from "node:test";
import { createEventStore } from "../../src/mcp/serve_http_events.ts";

const GET = "_GET_stream";

/** The messages that a client gets that comes back after `id`, or null where it is refused. */
async function missedAfter(store: ReturnType<typeof createEventStore>, id: string): Promise<unknown[] | null> {
  if (await store.getStreamIdForEventId(id) === undefined) return null;
  const sent: unknown[] = [];
  await store.replayEventsAfter(id, { send: (_, message) => Promise.resolve(void sent.push(message)) });
  return sent;
}

test("N-029 createEventStore() returns what came after an id, of that stream alone", async () => {
  const store = createEventStore();
  const first = await store.storeEvent("a", {});
  const other = await store.storeEvent("b", { n: 1 });
  const second = await store.storeEvent("a", { n: 2 });
  await store.storeEvent("a", { n: 3 });
  assert.deepEqual(await missedAfter(store, first), [{ n: 2 }, { n: 3 }]);
  assert.deepEqual(await missedAfter(store, second), [{ n: 3 }]);
  assert.deepEqual(await missedAfter(store, other), []);
});

test("N-029 createEventStore() keeps so many messages and so much text, and refuses a stream with a hole", async () => {
  const store = createEventStore({ maxEvents: 2 });
  const [one, two] = [await store.storeEvent("a", { n: 1 }), await store.storeEvent("a", { n: 2 })];
  await store.storeEvent("a", { n: 3 });
  await store.storeEvent("a", { n: 4 });
  assert.equal(await missedAfter(store, one), null);
  assert.deepEqual(await missedAfter(store, two), [{ n: 3 }, { n: 4 }]);
  const small = createEventStore({ maxCharacters: 20 });
  const begun = await small.storeEvent("a", {});
  await small.storeEvent("a", { text: "much too long for it" });
  assert.equal(await missedAfter(small, begun), null);
});

test("N-029 createEventStore() lets the standing stream be resumed however many calls there were", async () => {
  const store = createEventStore({ maxEvents: 2 });
  const standing = await store.storeEvent(GET, { n: 1 });
  for (let n = 2; n < 9; n++) await store.storeEvent("call", { n });
  assert.deepEqual(await missedAfter(store, standing), []);
});

test("N-029 createEventStore() knows no id that it did not give", async () => {
  const store = createEventStore();
  await store.storeEvent("a", {});
  for (const id of ["", "a", "a/", "a/0", "a/2", "a/-1", "a/1e0", "/1"]) {
    assert.equal(await store.getStreamIdForEventId(id), undefined, id);
  }
});
