import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { detectRuntime } from "../../../../src/adapters/default.ts";
import { firstDifference, parsePointer } from "../../../../src/operator/replay/first_difference.ts";
import { parseTape, readTape } from "../../../../src/core/wire/tape/tape.ts";
import { scratchDir } from "../../../support/scratch_dir.ts";

const HEADER = {
  format: "kaged-tape",
  format_version: 1,
  plugin: "model",
  version: "1.0.0",
  hash: null,
  dir: "/plugins/model",
  instance: "model",
  api_version: 1,
  started: "2026-01-01T00:00:00.000Z",
};
const PING = { t: 1, from: "host", message: { jsonrpc: "2.0", id: 1, method: "ping" } };
const PONG = { t: 2, from: "plugin", message: { jsonrpc: "2.0", id: 1, result: {} } };
const text = (...lines: unknown[]): string => lines.map((line) => `${JSON.stringify(line)}\n`).join("");
const parse = (tape: string) => parseTape(tape, { file: "a.jsonl" });

test("parseTape() reads the header and every entry", () => {
  const exit = { t: 3, from: "plugin", exit: { code: 0, signal: null } };
  const rest = [PING, PONG, { t: 2, from: "plugin", noise: "hi" }, { t: 2, from: "host", closed: true }, exit];
  assert.deepEqual(parse(text(HEADER, ...rest)), { header: HEADER, entries: rest, isCut: false });
});

test("parseTape() leaves out a last line that was cut off in the middle, wherever that was", () => {
  const whole = text(HEADER, PING, PONG);
  for (let cut = text(HEADER, PING).length + 1; cut < whole.length - 1; cut++) {
    assert.deepEqual(parse(whole.slice(0, cut)), { header: HEADER, entries: [PING], isCut: true }, `${cut}`);
  }
  assert.equal(parse(whole.slice(0, -1)).isCut, false, "only its newline is missing");
});

test("parseTape() names the line of what is no tape", () => {
  const cases: readonly (readonly [string, number])[] = [
    ["", 1],
    ["hello\n", 1],
    [text(PING), 1],
    [text({ ...HEADER, plugin: 7 }), 1],
    [`${text(HEADER, PING)}{"t":1\n${text(PONG)}`, 3],
    [text(HEADER, PING, { t: 1, from: "nobody", message: {} }), 3],
    [text(HEADER, { t: 1, from: "host", message: [] }, PING), 2],
    [text(HEADER, { from: "host", message: {} }, PING), 2],
  ];
  for (const [tape, line] of cases) {
    assert.throws(() => parse(tape), (error: { code: string; message: string; data: { line: number } }) => {
      assert.deepEqual([error.code, error.data.line], ["tape.invalid", line], tape);
      assert.match(error.message, new RegExp(`"a\\.jsonl": line ${line}: `));
      return true;
    });
  }
});

test("parseTape() refuses another version of the format, and says both", () => {
  assert.throws(() => parse(text({ ...HEADER, format_version: 2 })), {
    code: "tape.version",
    message: 'Cannot read the tape "a.jsonl": its format has version 2, and this is version 1',
  });
});

test("readTape() says what is wrong with a path", async (t) => {
  const dir = await scratchDir(t);
  const { files } = await detectRuntime();
  await mkdir(join(dir, "folder"));
  await writeFile(join(dir, "a.jsonl"), text(HEADER, PING));
  await assert.rejects(readTape(join(dir, "absent"), files), { code: "tape.unreadable", message: /no such file$/ });
  await assert.rejects(readTape(join(dir, "folder"), files), { code: "tape.unreadable", message: /it is no file$/ });
  assert.deepEqual((await readTape(join(dir, "a.jsonl"), files)).entries, [PING]);
});

test("firstDifference() points to the first place that differs, in the order of what was expected", () => {
  const cases: readonly (readonly [unknown, unknown, string | null])[] = [
    [{ a: 1, b: [{ c: 2 }] }, { b: [{ c: 2 }], a: 1 }, null],
    [{ a: 1 }, { a: "1" }, "/a"],
    [{ a: [1, 2] }, { a: [1] }, "/a/1"],
    [{ a: [1] }, { a: [1, 2] }, "/a/1"],
    [{ a: {} }, { a: [] }, "/a"],
    [{ a: null }, {}, "/a"],
    [{}, { "x/y~z": 1 }, "/x~1y~0z"],
    [{ z: 1, a: 1 }, { z: 2, a: 2 }, "/z"],
    [1, 2, ""],
  ];
  for (const [expected, came, pointer] of cases) assert.equal(firstDifference(expected, came), pointer);
});

test("firstDifference() passes over ignored places, and a star is any one segment", () => {
  const rows = (time: number) => ({ result: { rows: [{ id: 1, time }, { id: 2, time }], time } });
  const ignoring = (...pointers: string[]) => firstDifference(rows(1), rows(2), pointers.map(parsePointer));
  assert.equal(ignoring("/result/time"), "/result/rows/0/time");
  assert.equal(ignoring("/result/rows/*/time"), "/result/time");
  assert.equal(ignoring("/result/rows/*/time", "/result/time"), null);
  assert.equal(ignoring("/result/rows", "/result/time"), null);
  assert.equal(firstDifference({}, { "a/b": 1 }, [parsePointer("/a~1b")]), null);
});

test("firstDifference() looks 500 levels deep, and no deeper", () => {
  const nested = (levels: number): unknown => JSON.parse("[".repeat(levels) + "]".repeat(levels));
  assert.equal(firstDifference(nested(500), nested(500)), null);
  assert.equal(firstDifference(nested(100_000), nested(100_000)), "/0".repeat(500));
});

test("parsePointer() refuses what is no JSON pointer", () => {
  for (const pointer of ["result", "", "/a~2"]) assert.throws(() => parsePointer(pointer), { code: "host.misuse" });
});
