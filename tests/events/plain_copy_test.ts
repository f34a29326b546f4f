import assert from "node:assert/strict";
import { test } from "node:test";
import { plainCopy } from "../../src/events/plain_copy.ts";
import fc from "../support/fast_check.ts";

test("plainCopy() gives what structuredClone() gives, for any JSON", () => {
  fc.assert(fc.property(fc.array(fc.jsonValue()), (value) => {
    assert.deepEqual(plainCopy(value).copy, structuredClone(value));
  }));
});

test("plainCopy() shares nothing with the original", () => {
  const original = { list: [{ deep: [1] }], map: { inner: {} } };
  const { copy } = plainCopy(original);
  assert.deepEqual(copy, original);
  assert.notEqual(copy.list, original.list);
  assert.notEqual(copy.list[0], original.list[0]);
  assert.notEqual(copy.list[0]!.deep, original.list[0]!.deep);
  assert.notEqual(copy.map.inner, original.map.inner);
});

test("plainCopy() keeps a field called __proto__ a field", () => {
  const { copy } = plainCopy(JSON.parse('{"a":{"__proto__":{"polluted":true}}}'));
  assert.deepEqual(Object.keys(copy.a), ["__proto__"]);
  assert.equal(copy.a.polluted, undefined);
});

test("plainCopy() copies dates, maps, circles, deep and wide data too", () => {
  const circle: Record<string, unknown> = { at: new Date(0), map: new Map([[1, new Set([2])]]) };
  circle["self"] = circle;
  const { copy } = plainCopy(circle);
  assert.equal(copy["self"], copy);
  assert.deepEqual([copy["at"], copy["map"]], [new Date(0), new Map([[1, new Set([2])]])]);
  let deep: unknown[] = [];
  for (let level = 0; level < 500; level++) deep = [deep];
  assert.deepEqual(plainCopy(deep).copy, deep);
  let doubling: unknown[] = ["x"];
  for (let level = 0; level < 60; level++) doubling = [doubling, doubling];
  assert.ok(Array.isArray(plainCopy(doubling).copy));
});

test("plainCopy() throws for what cannot be copied", () => {
  for (const value of [() => {}, { f() {} }, [Symbol("s")], { a: [() => {}] }]) assert.throws(() => plainCopy(value));
});

test("plainCopy() weighs strings, lists and maps", () => {
  assert.equal(plainCopy({ ab: "xyz", c: [1, "d"] }).weight, 3 + 1 + 32 + 32);
});
