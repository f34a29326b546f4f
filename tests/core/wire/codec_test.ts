import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import {
  ContextParams,
  errorLine,
  invalidReason,
  kindOf,
  notificationLine,
  parseLine,
  parsePlainResult,
  requestLine,
  resultLine,
} from "../../../src/core/wire/codec.ts";
import { createRawPeer } from "./raw_peer.ts";

const corpora = new URL("../../corpora/", import.meta.url);
const kindOfLine = (line: string): string => {
  const value = parseLine(line);
  return value === undefined ? "noise" : kindOf(value);
};

test("K-005 kindOf() distinguishes requests, notifications, responses and batches", () => {
  const kinds: Record<string, string> = {
    '{"jsonrpc":"2.0","id":1,"method":"a.b"}': "request",
    '{"jsonrpc":"2.0","id":"x","method":"a.b","params":[]}': "request",
    '{"jsonrpc":"2.0","id":1.5,"method":"a.b"}': "request",
    '{"jsonrpc":"2.0","id":-0,"method":"a.b"}': "request",
    '{"jsonrpc":"2.0","method":"a.b","params":{}}': "notification",
    '{"jsonrpc":"2.0","id":1,"result":null}': "response",
    '{"jsonrpc":"2.0","id":1,"error":null}': "response",
    '{"jsonrpc":"2.0","id":null,"error":{}}': "response",
    '[{"jsonrpc":"2.0","id":1,"method":"a.b"}]': "batch",
    "[]": "batch",
    "hello": "noise",
  };
  for (const [line, kind] of Object.entries(kinds)) assert.equal(kindOfLine(line), kind, line);
});

test("invalidReason() names the broken rule", () => {
  const reasons: Record<string, string> = {
    "null": "not an object",
    "42": "not an object",
    '"text"': "not an object",
    "{}": 'jsonrpc is not "2.0"',
    '{"jsonrpc":2.0,"method":"a"}': 'jsonrpc is not "2.0"',
    '{"jsonrpc":"2.0"}': "neither method nor result nor error",
    '{"jsonrpc":"2.0","id":1,"result":1,"error":{}}': "both result and error",
    '{"jsonrpc":"2.0","id":1,"method":"a","result":1}': "both method and result or error",
    '{"jsonrpc":"2.0","id":{},"result":1}': "a response with an id that is no short text, exact number or null",
    '{"jsonrpc":"2.0","result":1}': "a response with an id that is no short text, exact number or null",
    '{"jsonrpc":"2.0","method":1}': "method is not a string",
    '{"jsonrpc":"2.0","method":"a","params":null}': "params are neither object nor array",
    '{"jsonrpc":"2.0","method":"a","params":"x"}': "params are neither object nor array",
    '{"jsonrpc":"2.0","method":"a","id":null}': "id is null",
    '{"jsonrpc":"2.0","method":"a","id":1e400}': "id is no short text and no exact number",
    '{"jsonrpc":"2.0","method":"a","id":9007199254740993}': "id is no short text and no exact number",
    '{"jsonrpc":"2.0","method":"a","id":[1]}': "id is no short text and no exact number",
  };
  for (const [line, reason] of Object.entries(reasons)) {
    assert.equal(kindOfLine(line), "invalid", line);
    assert.equal(invalidReason(JSON.parse(line)), reason, line);
  }
});

test("kindOf() takes no field from a __proto__ key", () => {
  assert.equal(kindOfLine('{"__proto__":{"jsonrpc":"2.0","id":1,"method":"a"}}'), "invalid");
  assert.equal(({} as Record<string, unknown>)["jsonrpc"], undefined);
});

test("parseLine() survives 100,000 brackets, open or closed", () => {
  const deep = "[".repeat(100_000);
  assert.equal(kindOfLine(deep), "noise");
  assert.match(kindOfLine(deep + "]".repeat(100_000)), /^(batch|noise)$/);
  const nested = `{"jsonrpc":"2.0","method":"a","params":${deep}${"]".repeat(100_000)}}`;
  assert.match(kindOfLine(nested), /^(notification|noise)$/);
});

test("parsePlainResult() reads the usual spelling and leaves every other line to the parser", () => {
  const plainOf = (line: string) => {
    const into = { id: 0, result: undefined as unknown };
    return parsePlainResult(`x\n${line}\ny`, 2, 2 + line.length, into) ? into : null;
  };
  assert.deepEqual(plainOf('{"jsonrpc":"2.0","id":12,"result":{"a":[1]}}'), { id: 12, result: { a: [1] } });
  assert.deepEqual(plainOf('{"jsonrpc":"2.0","id":1,"result":null}'), { id: 1, result: null });
  const others = [
    '{"jsonrpc":"2.0","id":1,"result":1,"error":{}}',
    '{"jsonrpc":"2.0","id":1,"result":1,"id":2}',
    '{"jsonrpc":"2.0","id":1,"result":}',
    '{"jsonrpc":"2.0","id":1,"result":1',
    '{"jsonrpc":"2.0","id":1,"result":12',
    '{"jsonrpc":"2.0","id":1,"result":',
    '{"jsonrpc":"2.0","id":1,"result":1}}',
    '{"jsonrpc":"2.0","id":0,"result":1}',
    '{"jsonrpc":"2.0","id":01,"result":1}',
    '{"jsonrpc":"2.0","id":-1,"result":1}',
    '{"jsonrpc":"2.0","id":,"result":1}',
    '{"jsonrpc":"2.0","id":1.5,"result":1}',
    '{"jsonrpc":"2.0","id":"1","result":1}',
    '{"jsonrpc":"2.0","id":9007199254740993,"result":1}',
    '{"jsonrpc":"1.0","id":1,"result":1}',
    '{"id":1,"jsonrpc":"2.0","result":1}',
    "{",
    "",
  ];
  for (const line of others) assert.equal(plainOf(line), null, line);
});

test("requestLine() writes what JSON.stringify would write", () => {
  for (const method of ["a.b", "x", 'quo"te', "new\nline", "ünï", "\ud800", ""]) {
    for (const params of [undefined, {}, [1], { text: 'a"\n\u0000\ud800é', __proto__x: 1 }]) {
      assert.equal(requestLine(7, method, params), `${JSON.stringify({ jsonrpc: "2.0", id: 7, method, params })}\n`);
      assert.equal(notificationLine(method, params), `${JSON.stringify({ jsonrpc: "2.0", method, params })}\n`);
    }
  }
});

test("requestLine() refuses params that are no JSON object or array", () => {
  const circle: Record<string, unknown> = {};
  circle["self"] = circle;
  for (const params of [circle, { big: 1n }, "text", 1, null, () => {}, { toJSON: () => undefined }]) {
    assert.throws(() => requestLine(1, "a.b", params), { code: "protocol.unserializable" });
  }
});

test("resultLine() and errorLine() repeat the id exactly", () => {
  assert.equal(resultLine(1.5, { a: 1 }), '{"jsonrpc":"2.0","id":1.5,"result":{"a":1}}\n');
  assert.equal(resultLine('x"', undefined), '{"jsonrpc":"2.0","id":"x\\"","result":null}\n');
  assert.equal(
    errorLine(null, { code: -32600, message: "no" }),
    '{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no"}}\n',
  );
  assert.equal(
    errorLine(1, { code: 1, message: "no", data: 1n }),
    '{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"no"}}\n',
  );
});

test("K-017 the JSON-RPC examples are classified as a peer without batches must", async () => {
  const frames = readFileSync(new URL("json-rpc/frames.jsonl", corpora), "utf8").trim().split("\n");
  assert.equal(frames.length, 15);
  for (const frame of frames) {
    const { line, expect, code } = JSON.parse(frame) as { line: string; expect: string; code?: number };
    if (expect !== "error") {
      assert.equal(kindOfLine(line), expect, line);
      continue;
    }
    const peer = createRawPeer();
    peer.send(line);
    const answers = await peer.sent();
    // A line that is no JSON is noise: reported, never answered.
    if (code === -32700) assert.deepEqual([answers, peer.irregularities[0]?.kind], [[], "noise"], line);
    else assert.deepEqual(answers.map(({ id, error }) => [id, (error as { code: number }).code]), [[null, code]], line);
  }
});

test("K-004 every file of the JSON parsing suite gets its verdict and none breaks the connection", async () => {
  const names = readdirSync(new URL("json-parsing/", corpora)).filter((name) => name.endsWith(".json"));
  assert.equal(names.length, 167);
  for (const name of names) {
    const peer = createRawPeer();
    // The suite's newlines are white space to JSON but end a line here.
    const bytes = readFileSync(new URL(`json-parsing/${encodeURIComponent(name)}`, corpora))
      .map((byte) => byte === 0x0a || byte === 0x0d ? 0x20 : byte);
    peer.connection.receive(bytes);
    peer.connection.receive(Uint8Array.of(0x0a));
    const kinds = peer.irregularities.map(({ kind }) => kind);
    const isEmpty = bytes.length === 0;
    if (name.startsWith("n_")) assert.deepEqual(kinds, isEmpty ? [] : ["noise"], name);
    else assert.equal(kinds.length, 1, name);
    if (name.startsWith("y_")) assert.match(kinds[0]!, /^(batch|invalid)$/, name);
    peer.send({ jsonrpc: "2.0", id: 1, method: "a.b", params: {} });
    assert.deepEqual((await peer.sent()).at(-1), { jsonrpc: "2.0", id: 1, result: {} }, name);
  }
});

test("params with a context are the text of a copy of both, whatever the params are", () => {
  const context = {
    operator_id: null,
    project_id: "p",
    agent_path: "primary",
    session_id: 'ses"1',
    request_id: "req_é",
  };
  class Point {
    x = 1;
    toJSON(): unknown {
      return "no object";
    }
  }
  const all = [{}, { a: 1, b: [{}] }, { a: undefined }, { _context: "mine", b: 2 }, new Point(), [1, 2], { toJSON: 7 }];
  for (const params of all as Record<string, unknown>[]) {
    for (const whole of [context, { ...context, agent_path: "other" }, { ...context, traceparent: "00-1" }]) {
      const line = requestLine(1, "a.b", new ContextParams(params, whole));
      const { params: sent } = JSON.parse(line) as { params: unknown };
      assert.equal(line.split('"_context":').length, 2, line);
      assert.deepEqual(sent, JSON.parse(JSON.stringify({ ...params, _context: whole })), JSON.stringify(params));
    }
  }
  const circle: Record<string, unknown> = {};
  circle["self"] = circle;
  assert.throws(() => requestLine(1, "a.b", new ContextParams(circle, context)), { code: "protocol.unserializable" });
});
