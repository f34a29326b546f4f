import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { test } from "node:test";
import { runInNewContext } from "node:vm";
import { jsonCopy } from "../../../src/core/values/json_copy.ts";
import { from, stage } from "./stage.ts";

const shown = (value: unknown, maxChars: number): unknown => jsonCopy(value, { maxChars, normalises: true });
const nested = (levels: number, core: unknown): unknown => levels === 0 ? core : { in: nested(levels - 1, core) };

/** The output that a handler of `PostToolUse` sees. */
async function seen(output: unknown): Promise<unknown> {
  const s = stage();
  const outputs: unknown[] = [];
  s.engine.register("PostToolUse", (event) => void outputs.push(event.output));
  const result = await s.fire("PostToolUse", { output });
  assert.equal(result.output, output);
  assert.equal(outputs.length, 1);
  return outputs[0];
}

test("N-004 an event may hold anything: each value has one form that JSON can hold", async () => {
  const cases: [unknown, unknown][] = [
    [new Date("2026-01-02T03:04:05.678Z"), "2026-01-02T03:04:05.678Z"],
    [new Date(NaN), null],
    [Buffer.from("hello"), { $base64: "aGVsbG8=" }],
    [new Uint16Array([1, 2]).subarray(1), { $base64: "AgA=" }],
    [new Uint8Array([7]).buffer, { $base64: "Bw==" }],
    [12345678901234567890n, "12345678901234567890"],
    [NaN, null],
    [[-Infinity, [undefined]], [null, [null]]],
    [new Map<unknown, unknown>([["a", 1], ["b", [2n]]]), { a: 1, b: ["2"] }],
    [new Map<unknown, unknown>([[{ k: 1 }, "v"]]), [[{ k: 1 }, "v"]]],
    [new Set(["a", new Set(["b"])]), ["a", ["b"]]],
    [{ left: undefined, out: () => 1, of: Symbol("x"), kept: null }, { kept: null }],
    [() => 1, null],
    [new TypeError("no", { cause: new Error("why") }), {
      name: "TypeError",
      message: "no",
      cause: { name: "Error", message: "why" },
    }],
    [{ toJSON: () => ({ at: new Date(0) }) }, { at: "1970-01-01T00:00:00.000Z" }],
    [runInNewContext("({ a: [1] })"), { a: [1] }],
    [JSON.parse('{"__proto__": {"x": 1}, "n": 1}'), JSON.parse('{"__proto__": {"x": 1}, "n": 1}')],
  ];
  for (const [value, wanted] of cases) {
    // As text: arrays of another realm are arrays of another class.
    assert.equal(JSON.stringify(await seen(value)), JSON.stringify(wanted));
    // Beside another odd value plain data takes the slower walk too.
    assert.equal(JSON.stringify(await seen([value, 1n])), JSON.stringify([wanted, "1"]));
  }
});

test("N-004 a circle, a getter that throws, and a thousand levels end in a mark", async () => {
  const circle: unknown[] = [1];
  circle.push(circle, { circle });
  assert.deepEqual(await seen(circle), [1, "[circular]", { circle: "[circular]" }]);
  const angry = {
    fine: 1,
    get bad(): never {
      throw new Error("gotcha");
    },
  };
  assert.deepEqual(await seen({ angry, next: 2 }), { angry: "[cut: a part cannot be read]", next: 2 });
  assert.deepEqual(await seen(nested(64, "core")), nested(64, "core"));
  assert.deepEqual(await seen(nested(65, "core")), nested(64, "[cut: nested deeper than 64 levels]"));
  assert.match(JSON.stringify(await seen(nested(5_000, "core"))), /\[cut: nested deeper than 64 levels\]/);
});

test("N-004 one value many times over, and text beyond the limit, are cut", () => {
  let wide: unknown = "x".repeat(10);
  for (let level = 0; level < 40; level++) wide = [wide, wide];
  assert.match(JSON.stringify(shown(wide, 10_000)), /\[cut: too large\]/);
  assert.equal(shown("abcdef", 4), "abcd[cut: too large]");
  assert.equal(shown(new Uint8Array(100), 50), "[cut: too large]");
  assert.deepEqual(shown({ a: "abc", b: "def", c: "ghi" }, 12), {
    a: "abc",
    b: "d[cut: too large]",
    c: "[cut: too large]",
  });
  assert.throws(() => jsonCopy({ a: "abc" }, { maxChars: 10 }), /It is too large/);
});

test("N-004 a policy that cannot see the whole event blocks; other handlers see the part, and a warning says so", async () => {
  const s = stage();
  const inputs: unknown[] = [];
  s.engine.register("PreToolUse", ({ input }) => void inputs.push(input), { priority: 1, ...from("looks on") });
  const end = s.engine.register("PreToolUse", () => null, { onFailure: "block", ...from("policy") });
  const hidden = { command: nested(64, "rm -rf /") };
  const { blocked, blockedBy, reason, warnings } = await s.fire("PreToolUse", { input: hidden });
  assert.deepEqual([blocked, blockedBy], [true, "policy"]);
  assert.match(reason!, /policy cannot judge PreToolUse: .* \(nested deeper than 64 levels\)$/);
  assert.equal(warnings[0], "Handlers saw a part of the event: nested deeper than 64 levels");
  assert.equal(inputs.length, 1);
  end();
  assert.equal((await s.fire("PreToolUse", { input: hidden })).blocked, false);
});

test("N-004 what a handler sets in is held to JSON: anything else is its failure", async () => {
  const s = stage();
  s.engine.register("PostToolUse", () => ({ action: "modify", modifiedOutput: { at: new Date(0) } }), from("dates"));
  const { output, warnings } = await s.fire("PostToolUse", { output: "kept" });
  assert.equal(output, "kept");
  assert.match(warnings[0]!, /"modifiedOutput": "at" is a Date, and no plain object/);
});
