import assert from "node:assert/strict";
import { test } from "node:test";
import { HostError } from "../../../src/core/errors/host_error.ts";
import { parsePointer } from "../../../src/operator/replay/first_difference.ts";
import { type ReplayReport, replayTape } from "../../../src/operator/replay/replay_tape.ts";
import type { Tape, TapeEntry } from "../../../src/core/wire/tape/tape.ts";
import { createFakeClock } from "../../support/fake_clock.ts";
import { type Message, modelManifest, modelWire, type Steps } from "../../support/model_plugin.ts";
import { untilSettled } from "../../support/until.ts";

const host = (message: Message, t = 0): TapeEntry => ({ t, from: "host", message: { jsonrpc: "2.0", ...message } });
const plugin = (message: Message, t = 0): TapeEntry => ({ t, from: "plugin", message: { jsonrpc: "2.0", ...message } });
const IDENTITY = { name: "model", version: "1.0.0" };
const HELLO: readonly TapeEntry[] = [
  host({ id: 1, method: "initialize", params: {} }),
  plugin({ id: 1, result: IDENTITY }),
];
const BYE: readonly TapeEntry[] = [
  host({ method: "shutdown", params: {} }),
  { t: 0, from: "plugin", exit: { code: 0, signal: null } },
];
const greet: Steps = { initialize: (model, { id }) => model.reply(id, IDENTITY) };
const SYSTEM = { type: "object", properties: { api_key: { type: "string" } } };

interface Playing {
  readonly ignore?: readonly string[];
  readonly secrets?: Message;
}

/** Replays entries at a plugin in memory; whenever nothing happens any more, the clock goes to its next timer. */
async function replayed(
  entries: readonly TapeEntry[],
  steps: Steps,
  { ignore = [], secrets = {} }: Playing = {},
): Promise<ReplayReport> {
  const clock = createFakeClock();
  const report = replayTape({
    tape: { header: {} as Tape["header"], entries, isCut: false },
    manifest: await modelManifest({ system_config_schema: SYSTEM }),
    open: modelWire({ ...greet, ...steps }),
    clock,
    ignored: ignore.map(parsePointer),
    secrets,
  });
  const meanwhile = (): void => clock.advance(clock.nextInMs ?? 0);
  return await untilSettled(report, "the report", { step: "turn", meanwhile });
}

const LIST = [host({ id: 2, method: "model.list", params: {} }), plugin({ id: 2, result: { notes: ["a", "b"] } })];

test("replayTape() sends what the host said, and a plugin that answers as it did is as on the tape", async () => {
  const steps: Steps = { "model.list": (model, { id }) => model.reply(id, { notes: ["a", "b"] }) };
  const report = await replayed([...HELLO, ...LIST, ...BYE], steps);
  assert.deepEqual(report, { ok: true, sent: 3, matched: 2, difference: null });
});

test("replayTape() shows the first difference: line, place, what was expected and what came", async () => {
  const steps: Steps = { "model.list": (model, { id }) => model.reply(id, { notes: ["a", "c"] }) };
  const { ok, difference } = await replayed([...HELLO, ...LIST, ...BYE], steps);
  assert.equal(ok, false);
  assert.deepEqual(difference, {
    line: 5,
    kind: "differs",
    at: "/result/notes/1",
    detail: "the answer to 2 differs",
    expected: { jsonrpc: "2.0", id: 2, result: { notes: ["a", "b"] } },
    came: { jsonrpc: "2.0", id: 2, result: { notes: ["a", "c"] } },
  });
  const ignoring = await replayed([...HELLO, ...LIST, ...BYE], steps, { ignore: ["/result/notes/*"] });
  assert.equal(ignoring.ok, true);
});

test("replayTape() says what is missing when a plugin is silent, or has ended", async () => {
  const silent = await replayed([...HELLO, ...LIST, ...BYE], { "model.list": () => {} });
  const dead = await replayed([...HELLO, ...LIST, ...BYE], { "model.list": (model) => model.exit(3) });
  assert.deepEqual([silent.difference?.kind, silent.difference?.line, silent.difference?.detail], [
    "missing",
    5,
    "It was silent for 10 s before the answer to 2",
  ]);
  assert.equal(dead.difference?.detail, "It ended with exit code 3 before the answer to 2");
});

test("replayTape() gives a message that took long then as long again, and more", async () => {
  const slow = [host({ id: 2, method: "model.list", params: {} }, 100), plugin({ id: 2, result: {} }, 30_100)];
  const { difference } = await replayed([...HELLO, ...slow], { "model.list": () => {} });
  assert.equal(difference?.detail, "It was silent for 70 s before the answer to 2");
});

test("replayTape() answers the plugin's own requests from the tape, under the ids they have now", async () => {
  const query = (id: number, sql: string) => plugin({ id, method: "kaged.storage.query", params: { sql } });
  const entries = [
    ...HELLO,
    host({ id: 2, method: "model.list", params: {} }),
    query(1, "A"),
    query(2, "B"),
    host({ id: 2, result: { rows: ["b"] } }),
    host({ id: 1, result: { rows: ["a"] } }),
    plugin({ id: 2, result: "a then b" }),
    ...BYE,
  ];
  const steps = (first: string, second: string): Steps => {
    const answers: Message = {};
    return {
      "model.list": (model) => {
        model.send({ id: 70, method: "kaged.storage.query", params: { sql: first } });
        model.send({ id: 71, method: "kaged.storage.query", params: { sql: second } });
      },
      "response": (model, { id, result }) => {
        answers[id] = result.rows[0];
        if (Object.keys(answers).length === 2) model.reply(2, `${answers[70]} then ${answers[71]}`);
      },
    };
  };
  assert.deepEqual(await replayed(entries, steps("A", "B")), { ok: true, sent: 5, matched: 4, difference: null });
  const swapped = await replayed(entries, steps("B", "A"));
  assert.equal(swapped.difference?.at, "/result", "each request gets its own answer, in whatever order they come");
  const other = await replayed(entries, steps("A", "C"));
  assert.deepEqual([other.difference?.line, other.difference?.at], [6, "/params/sql"]);
});

test("replayTape() takes independent messages in any order, and what comes sooner than then", async () => {
  const entries = [
    ...HELLO,
    host({ id: 2, method: "model.list", params: {} }),
    host({ id: 3, method: "model.add", params: {} }),
    plugin({ id: 3, result: 3 }),
    host({ id: 4, method: "ping", params: {} }),
    plugin({ method: "model.listed", params: {} }),
    plugin({ id: 2, result: 2 }),
    plugin({ id: 4, result: { status: "ok" } }),
    ...BYE,
  ];
  const { ok, matched } = await replayed(entries, {
    "model.list": (model, { id }) => [model.send({ method: "model.listed", params: {} }), model.reply(id, id)],
    "model.add": (model, { id }) => model.reply(id, id),
  });
  assert.deepEqual([ok, matched], [true, 5]);
});

test("replayTape() shows a message that the tape does not have, and passes over lines that are none", async () => {
  const chatty: Steps = {
    "model.list": (model, { id }) => {
      model.print("no message");
      model.send({ method: "model.other", params: {} });
      model.reply(id, { notes: ["a", "b"] });
    },
  };
  const { difference } = await replayed([...HELLO, ...LIST, ...BYE], chatty);
  assert.deepEqual([difference?.kind, difference?.line, difference?.detail], [
    "unexpected",
    5,
    'It sent the notification "model.other"',
  ]);
  const noisy: Steps = {
    "model.list": (model, { id }) => [model.print("no message"), model.reply(id, { notes: ["a", "b"] })],
  };
  assert.equal((await replayed([...HELLO, ...LIST, ...BYE], noisy)).ok, true);
});

test("replayTape() survives a message that is nested too deeply", async () => {
  const deep = "[".repeat(200_000) + "]".repeat(200_000);
  const config = host({ id: 9, method: "config.update", params: { api_key: "[secret:api_key]" } });
  const entries = [...HELLO, config, plugin({ id: 9, result: {} }), ...LIST, ...BYE];
  const steps: Steps = {
    "model.list": (model, { id }) => model.print(`{"jsonrpc":"2.0","id":${id},"result":${deep}}`),
  };
  const { ok, difference } = await replayed(entries, steps, { secrets: { api_key: "s3cret" } });
  // How deep a runtime can follow is its own affair.
  assert.deepEqual([ok, difference?.kind], [false, difference?.at === undefined ? "unexpected" : "differs"]);
});

test("replayTape() compares how the process ends, where it ended by itself", async () => {
  const stays = await replayed([...HELLO, ...BYE], { shutdown: () => {} });
  assert.equal(stays.difference?.detail, "It ended with exit code 0 then, and is still there");
  const fails = await replayed([...HELLO, ...BYE], { shutdown: (model) => model.exit(1) });
  assert.deepEqual([fails.difference?.kind, fails.difference?.detail], [
    "exit",
    "It ended with exit code 0 then, and with exit code 1 now",
  ]);
  const closed: TapeEntry[] = [{ t: 0, from: "host", closed: true }, BYE[1]!];
  assert.equal((await replayed([...HELLO, ...closed], {})).ok, true, "its stdin is closed where it was then");
  const killed: TapeEntry = { t: 0, from: "plugin", exit: { code: null, signal: "SIGKILL" } };
  assert.equal((await replayed([...HELLO, killed], {})).ok, true);
});

test("a tape that ends in the middle is replayed as far as it goes", async () => {
  assert.deepEqual(await replayed([...HELLO, LIST[0]!], {}), { ok: true, sent: 2, matched: 1, difference: null });
});

test("K-032 secrets are given again: the plugin gets them, and what it says of them is compared without them", async () => {
  const entries = [
    ...HELLO,
    host({ id: 2, method: "config.update", params: { api_key: "[secret:api_key]" } }),
    plugin({ id: 2, result: { key: "[secret:api_key]" } }),
  ];
  const got: unknown[] = [];
  const steps: Steps = {
    "config.update": (model, { id, params }) => [got.push(params), model.reply(id, { key: params.api_key })],
  };
  const report = await replayed(entries, steps, { secrets: { api_key: "another one" } });
  assert.deepEqual([report.ok, got], [true, [{ api_key: "another one" }]]);
});

test("K-044 a plugin is sent nothing more when its cage cannot be trusted; a replay can be ended early", async () => {
  const heard: string[] = [];
  const ending = new AbortController();
  const steps: Steps = { ...greet, "model.list": () => heard.push("list") };
  const options = {
    tape: { header: {} as Tape["header"], entries: [...HELLO, ...LIST], isCut: false },
    manifest: await modelManifest(),
    clock: createFakeClock(),
    secrets: {},
  };
  const fault = new HostError("cage.walls_missing", "Cannot trust the cage");
  const untrusted = replayTape({
    ...options,
    open: async (listeners) =>
      Object.assign(await modelWire(steps)(listeners), { verify: () => Promise.reject(fault) }),
  });
  await assert.rejects(untrusted, fault);
  assert.deepEqual(heard, []);
  const open = modelWire({ ...greet, "model.list": () => ending.abort(new HostError("host.interrupted", "Stopped")) });
  await assert.rejects(replayTape({ ...options, open, signal: ending.signal }), /Stopped/);
});
