import assert from "node:assert/strict";
import { test } from "node:test";
import type { SqlValue } from "../../../src/core/ports/ports.ts";
import { ACTION, mayAccess } from "../../../src/core/storage/authorizer.ts";
import { ownerOf, tablePrefix, withoutPrefix } from "../../../src/core/storage/names.ts";
import { parseStorageRequest, shapeOf } from "../../../src/core/storage/requests.ts";
import { Patience } from "../../../src/core/storage/patience.ts";
import {
  bindParams,
  columnFacts,
  encodeRows,
  fromWire,
  rowObjects,
  toWire,
  type WireValue,
} from "../../../src/core/storage/values.ts";
import { createFakeClock } from "../../support/fake_clock.ts";
import { errorOf } from "./support/world.ts";

const VALUES: readonly (readonly [wire: unknown, value: SqlValue])[] = [
  [null, null],
  [1, 1n],
  [1.5, 1.5],
  ["text", "text"],
  [{ $int: "9223372036854775807" }, 9223372036854775807n],
  [{ $int: "-9223372036854775808" }, -9223372036854775808n],
  [{ $real: "Infinity" }, Infinity],
  [{ $base64: "AP8=" }, new Uint8Array([0, 255])],
];

test("values travel both ways unchanged", () => {
  for (const [wire, value] of VALUES) {
    assert.deepEqual(fromWire(wire, "1"), value);
    assert.deepEqual(toWire(value), wire);
  }
});

test("fromWire() binds booleans as 0 and 1, and integral numbers as integers", () => {
  assert.deepEqual([true, false, 3, -0, 2 ** 53].map((value) => fromWire(value, "1")), [1n, 0n, 3n, 0n, 2n ** 53n]);
});

test("fromWire() says which parameter is wrong", () => {
  assert.match(
    errorOf(() => fromWire({ $int: "9223372036854775808" }, "2")),
    /^storage.params_invalid: Parameter 2 does not fit/,
  );
  assert.match(errorOf(() => fromWire([1], "3")), /^storage.params_invalid: Parameter 3 /);
  assert.match(
    errorOf(() => fromWire({ $base64: "?" }, ":name")),
    /^storage.params_invalid: Parameter :name is no base64/,
  );
});

test("bindParams() refuses one too few and one too many, and says which", () => {
  const statement = { parameterCount: 2, parameterNames: new Map<string, number>() };
  assert.match(errorOf(() => bindParams(statement, [1])), /Parameter 2 is missing/);
  assert.match(errorOf(() => bindParams(statement, [1, 2, 3])), /Parameter 3 is one too many/);
  assert.deepEqual(bindParams(statement, [1, "x"]), [1n, "x"]);
});

test("bindParams() takes names with and without their first character", () => {
  const statement = { parameterCount: 2, parameterNames: new Map([[":a", 1], ["@b", 2]]) };
  assert.deepEqual(bindParams(statement, { a: 1, "@b": 2 }), [1n, 2n]);
  assert.match(errorOf(() => bindParams(statement, { a: 1 })), /Parameter @b is missing/);
  assert.match(errorOf(() => bindParams(statement, { a: 1, b: 2, c: 3 })), /no parameter "c"/);
});

test("rowObjects() names a repeated column apart and keeps __proto__ a name", () => {
  const { columns, rows } = encodeRows(columnFacts(["id", "id", "__proto__"]), [[1n, 2n, 3n]], {
    maxRows: 9,
    maxResultBytes: 999,
  });
  assert.deepEqual(columns, ["id", "id:1", "__proto__"]);
  const [object] = rowObjects({ columns, rows: rows as WireValue[][] });
  assert.deepEqual(JSON.parse(JSON.stringify(object)), JSON.parse('{"id":1,"id:1":2,"__proto__":3}'));
});

test("ownerOf() gives an object to the longest prefix that fits", () => {
  assert.equal(tablePrefix("oh-my-pi"), "plugin_oh_my_pi_");
  assert.equal(ownerOf("plugin_p_x_notes", ["p", "p-x"]), "p-x");
  assert.equal(ownerOf("PLUGIN_P_Y", ["p", "p-x"]), "p");
  assert.equal(ownerOf("plugin_px_t", ["p"]), null);
  assert.equal(ownerOf("host_sessions", ["p"]), null);
});

test("withoutPrefix() takes the prefix out in whichever case", () => {
  assert.equal(withoutPrefix("no such table: PLUGIN_p_t, plugin_p_u", "plugin_p_"), "no such table: t, u");
});

test("shapeOf() keeps names and drops values and comments", () => {
  assert.equal(
    shapeOf(`SELECT v, 'secret''s', 42, "id", "my secret" FROM t /* secret */ WHERE a = x'00' -- secret`),
    'SELECT v, ?, ?, "id", "?" FROM t WHERE a = x?',
  );
  assert.ok(shapeOf("SELECT " + "a, ".repeat(5000)).length < 600);
});

test("mayAccess() denies an unknown access", () => {
  const rules = { owns: () => true, kind: "write", writes: true } as const;
  for (const action of [3, 4, 5, 6, 12, 13, 14, 15, 22, 24, 25, 28, 32, 99]) {
    assert.equal(mayAccess(rules, { action, first: "t", second: null, schema: "main" }), false, String(action));
  }
});

test("mayAccess() lets a query write nothing, and only own names be read", () => {
  const rules = { owns: (name: string) => name === "mine", kind: "select", writes: false } as const;
  const may = (action: number, first: string | null, second: string | null = "", schema: string | null = "main") =>
    mayAccess(rules, { action, first, second, schema });
  assert.equal(may(ACTION.READ, "mine"), true);
  assert.equal(may(ACTION.READ, "theirs"), false);
  assert.equal(may(ACTION.READ, "theirs", "", null), false);
  assert.equal(may(ACTION.READ, "mine", "", "temp"), false);
  assert.equal(may(ACTION.READ, "sqlite_master"), false);
  for (const action of [ACTION.INSERT, ACTION.UPDATE, ACTION.DELETE]) assert.equal(may(action, "mine"), false);
  assert.equal(may(ACTION.FUNCTION, null, "lower"), true);
  assert.equal(may(ACTION.FUNCTION, null, "load_extension"), false);
  assert.equal(may(ACTION.PRAGMA, "user_version"), false);
});

test("parseStorageRequest() names the fault of a request", () => {
  const parse = (method: string, params: unknown) => () =>
    parseStorageRequest(`kaged.storage.${method}`, params, { maxBatch: 2, sqlOfHandle: () => "" });
  assert.match(errorOf(parse("query", [])), /^storage.params_invalid: The params must be an object/);
  assert.match(errorOf(parse("query", {})), /^storage.params_invalid: "sql" must be a string/);
  assert.match(errorOf(parse("query", { sql: "", extra: 1 })), /^storage.params_invalid: There is no "extra"/);
  assert.match(errorOf(parse("query", { sql: "", rows_as: "x" })), /^storage.params_invalid: "rows_as"/);
  assert.match(errorOf(parse("batch", { statements: [{}, {}, {}] })), /^storage.params_invalid: "statements" has more/);
  assert.match(errorOf(parse("batch", { statements: [{ sql: 1 }] })), /^storage.params_invalid: "statements\[0\].sql"/);
  assert.match(errorOf(parse("begin", {})), /^protocol.method_unknown/);
});

test("Patience doubles the wait from the second stop on, and forgives after a success", () => {
  const clock = createFakeClock();
  const patience = new Patience(clock, 5_000);
  const isWaiting = (): boolean => errorOf(() => patience.expect("p")).startsWith("storage.busy");
  patience.lose("p");
  assert.equal(isWaiting(), false);
  patience.lose("p");
  assert.equal(isWaiting(), true);
  clock.advance(5_000);
  assert.equal(isWaiting(), false);
  patience.lose("p");
  clock.advance(9_999);
  assert.equal(isWaiting(), true);
  clock.advance(1);
  patience.restore("p");
  patience.lose("p");
  assert.equal(isWaiting(), false);
});
