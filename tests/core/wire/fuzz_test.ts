import assert from "node:assert/strict";
import process from "node:process";
import { test } from "node:test";
import { HostError } from "../../../src/core/errors/host_error.ts";
import { createConnectionPair } from "../../support/memory_pair.ts";
import { createDice, type Dice } from "../../support/chance.ts";
import { createFakeClock } from "../../support/fake_clock.ts";

const FRAMES = Number(process.env["KAGED_FUZZ_FRAMES"] ?? 10_000);
const FRAMES_PER_ROUND = 100;
const MAX_QUEUED_BYTES = 64 * 1024;

const IDS = ["1", "2", "17", "-1", "1.5", "-0", "1e400", "null", '"1"', '""', "{}", "[]", "true", "9007199254740993"];
const VALUES = [
  "null",
  "{}",
  "[]",
  "1",
  '"x"',
  '{"id":1}',
  '{"__proto__":{"id":1}}',
  '{"id":3,"progress":1}',
  "[[[[]]]]",
];
const METHODS = [
  '"a.echo"',
  '"a.throw"',
  '"a.never"',
  '"system.cancel"',
  '"system.progress"',
  "1",
  "null",
  '"\\ud800"',
];
const ERRORS = ["null", "{}", '{"code":-32000,"message":"no"}', '{"code":"x"}', '{"code":1e400,"message":"m"}', "[]"];

/** A line that is right, wrong or broken, without its newline. */
function frame(dice: Dice): string {
  const fields = [dice.pick(['"jsonrpc":"2.0"', '"jsonrpc":"2.0"', '"jsonrpc":"2.0"', '"jsonrpc":"1.0"'])];
  if (dice.below(3) > 0) fields.push(`"id":${dice.below(2) ? dice.below(400) : dice.pick(IDS)}`);
  if (dice.below(2)) fields.push(`"method":${dice.pick(METHODS)}`);
  if (dice.below(3) === 0) fields.push(`"params":${dice.pick(VALUES)}`);
  if (dice.below(3) === 0) fields.push(`"result":${dice.pick(VALUES)}`);
  if (dice.below(6) === 0) fields.push(`"error":${dice.pick(ERRORS)}`);
  const line = `{${fields.join(",")}}`;
  switch (dice.below(12)) {
    case 0:
      return line.slice(0, dice.below(line.length));
    case 1:
      return `[${line}]`;
    case 2:
      return "[".repeat(dice.below(2000));
    case 3:
      return `${line}\r`;
    case 4:
      return dice.pick(["", " ", "\u0000", "\ufeff{}", "true", '"text"', "Segmentation fault", "\ud800", "NaN"]);
    default:
      return line;
  }
}

/** Bytes of a frame: mostly whole, at times with a byte gone wrong, at times without a newline. */
function bytesOfFrame(dice: Dice): Uint8Array {
  const bytes = new TextEncoder().encode(`${frame(dice)}${dice.below(30) ? "\n" : ""}`);
  if (bytes.length > 0 && dice.below(8) === 0) bytes[dice.below(bytes.length)] = dice.below(256);
  return bytes;
}

test("K-013 fuzzed frames crash nothing, leave no call unsettled and no timer behind", async () => {
  const dice = createDice();
  const clock = createFakeClock();
  const onRequest = ({ method, params, signal }: { method: string; params: unknown; signal: AbortSignal }) => {
    if (method === "a.throw") throw new Error("thrown by the handler");
    if (method !== "a.never") return dice.below(2) ? params : Promise.resolve(params);
    // Even a handler that waits for good ends when it is cancelled or the connection closes.
    return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  };
  const side = { onRequest, maxQueuedBytes: MAX_QUEUED_BYTES, maxIncoming: 16 };
  let frames = 0;
  let made = 0;
  let settled = 0;
  while (frames < FRAMES) {
    const { left, right, inject } = createConnectionPair({
      clock,
      left: side,
      right: side,
      chunk: function* (bytes) {
        for (let at = 0; at < bytes.length;) {
          const size = dice.below(4) ? 4096 : 1 + dice.below(40);
          yield bytes.slice(at, at + size);
          at += size;
        }
      },
    });
    left.features = right.features = new Set(["cancel", "progress"]);
    for (let count = 0; count < FRAMES_PER_ROUND; count++, frames++) {
      inject(dice.pick(["left", "right"]), bytesOfFrame(dice));
      if (dice.below(4)) continue;
      const controller = new AbortController();
      const call = dice.pick([left, right]).call(dice.pick(["a.echo", "a.throw", "a.never"]), { count }, {
        signal: controller.signal,
        timeoutMs: 1 + dice.below(50),
      });
      made++;
      call.then(() => settled++, (error) => {
        assert.ok(error instanceof HostError);
        settled++;
      });
      if (dice.below(4) === 0) controller.abort();
      if (dice.below(4) === 0) await null;
      if (dice.below(20) === 0) clock.advance(dice.below(20));
    }
    assert.ok(left.pending + right.pending <= FRAMES_PER_ROUND);
    clock.advance(60_000);
    assert.deepEqual([left.pending, right.pending], [0, 0], "every call has settled by its deadline");
    const reason = new HostError("protocol.closed", "The round is over");
    left.close(reason);
    right.close(reason);
    for (let hop = 0; hop < 20; hop++) await null;
    assert.equal(settled, made, "no call settled twice or never");
    assert.equal(clock.waiting, 0, "no timer is left");
  }
  assert.ok(made > FRAMES / 10);
});
