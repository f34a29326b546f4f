import assert from "node:assert/strict";
import { test } from "node:test";
import { pageOf } from "../../../src/core/values/page_of.ts";

const key = (item: string): string => item;

/** Every item, page by page; `change` may change the list after each page. */
function walked(list: string[], limit: number, change: (page: number) => void = () => {}): string[] {
  const seen: string[] = [];
  let next: string | null = null;
  let pages = 0;
  do {
    const page: ReturnType<typeof pageOf<string>> = pageOf("letters", list, key, {
      limit,
      ...(next !== null && { cursor: next }),
    });
    seen.push(...page.items);
    next = page.next;
    change(++pages);
    assert.ok(pages <= list.length, "The cursors lead in a circle");
  } while (next !== null);
  return seen;
}

test("pages hold every item once and in order, whatever their size", () => {
  const list = ["a", "ä/ö", "c d", "🎈", "e"];
  for (let limit = 1; limit <= 6; limit++) assert.deepEqual(walked(list, limit), list);
  assert.deepEqual(pageOf("letters", [], key, { limit: 3 }), { items: [], next: null });
});

test("the page that holds the last item has no next, and a cursor can stand in an address as it is", () => {
  const list = ["ä/ö", "c d", "🎈?&="];
  assert.equal(pageOf("letters", list, key, { limit: 3 }).next, null);
  const cursors = [1, 2].map((limit) => pageOf("letters", list, key, { limit }).next!);
  assert.equal(pageOf("letters", list, key, { limit: 1, cursor: cursors[1]! }).next, null);
  for (const cursor of cursors) assert.match(cursor, /^[0-9a-z]+$/);
});

test("items that come and go between pages repeat nothing and leave nothing out", () => {
  const list = ["a", "b", "c", "d"];
  const seen = walked(list, 2, (page) => {
    if (page === 1) list.splice(0, 1, "new first", "another");
  });
  assert.deepEqual(seen, ["a", "b", "c", "d"]);
});

test("a cursor whose item is gone is refused with the way on", () => {
  const cursor = pageOf("letters", ["a", "b"], key, { limit: 1 }).next!;
  const hint = "Start again without a cursor";
  assert.throws(() => pageOf("letters", ["b"], key, { limit: 1, cursor }), { code: "http.cursor_gone", hint });
});

test("a text that is no cursor, or is one of another list, is refused as such", () => {
  const { next } = pageOf("numbers", ["a", "b"], key, { limit: 1 });
  for (const cursor of [next!, "zz", "0", "", "00", "ff".repeat(5000)]) {
    assert.throws(() => pageOf("letters", ["a", "b"], key, { limit: 1, cursor }), { code: "http.cursor_invalid" });
  }
});
