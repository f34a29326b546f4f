import assert from "node:assert/strict";
import { test } from "node:test";
import { plainName } from "../../../src/core/tools/plain_name.ts";

const TAKEN_BY_ALL = /^[a-zA-Z0-9_-]{1,64}$/;

test("N-033 plainName() keeps a name that every client takes, but for its dots", () => {
  assert.equal(plainName("theme.dark-sky.colors"), "theme__dark-sky__colors");
});

test("N-033 plainName() is the same at every call, and shortens with a hash of the whole name", () => {
  const long = `theme.${"a".repeat(60)}.colors`;
  assert.match(plainName(long), TAKEN_BY_ALL);
  assert.equal(plainName(long).length, 64);
  assert.equal(plainName(long), plainName(long));
  assert.notEqual(plainName(long), plainName(`${long}_of_night`));
});

test("N-033 plainName() of a name that is taken is another one, however often", () => {
  const taken = new Set<string>();
  for (let round = 0; round < 5; round++) {
    const name = plainName("theme.dark.colors", taken);
    assert.match(name, TAKEN_BY_ALL);
    taken.add(name);
  }
  assert.equal(taken.size, 5);
});

test("N-033 plainName() takes any text", () => {
  for (const name of ["", "ä.ö", "a b", ".".repeat(100)]) assert.match(plainName(name), TAKEN_BY_ALL, name);
});
