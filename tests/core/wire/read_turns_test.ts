import assert from "node:assert/strict";
import { test } from "node:test";
import { HostError } from "../../../src/core/errors/host_error.ts";
import { inTurns, ReadTurns, type Turn, type TurnRules } from "../../../src/core/wire/read_turns.ts";
import { createFakeClock } from "../../support/fake_clock.ts";
import { createRawPeer } from "./raw_peer.ts";

const RULES: TurnRules = { perTurn: 100, quantum: 20, alone: 1 };

/** Turns that the test takes by hand. */
function stage(rules: Partial<TurnRules> = {}) {
  const clock = createFakeClock();
  const due: (() => void)[] = [];
  const parts: (() => void)[] = [];
  const { monotonic } = clock;
  const soon = (run: () => void): void => void due.push(run);
  const turns = new ReadTurns({ next: (run) => void parts.push(run), soon, monotonic }, { ...RULES, ...rules });
  const next = (): boolean => {
    const run = due.shift();
    run?.();
    return run !== undefined;
  };
  return { turns, clock, due, parts, next };
}

/** One that always has something to send: pieces of `size`, noted by name. */
function flooder(turn: Turn, name: string, read: string[], size = 10): () => void {
  const on = (): void => {
    // Without turns it would never end.
    for (let piece = 0; piece < 1_000 && !turn.isWaiting; piece++) {
      read.push(name);
      turn.spend(size);
    }
  };
  turn.onTurn(on);
  return on;
}

const countOf = (read: readonly string[], name: string): number => read.filter((one) => one === name).length;

test("a process within its share never waits, and no turn is scheduled for it", () => {
  const { turns, clock, due } = stage();
  const turn = turns.join(1);
  for (let ms = 0; ms < 100; ms++) {
    assert.equal(turn.spend(90), true);
    clock.advance(1);
  }
  assert.deepEqual([turn.isWaiting, due.length], [false, 0]);
});

test("one that spends more than its share waits, and is read on in its turn", () => {
  const { turns, next, due } = stage();
  const read: string[] = [];
  flooder(turns.join(1), "a", read)();
  const first = read.length;
  assert.equal(due.length, 1);
  assert.ok(next());
  assert.ok(read.length > first);
  assert.equal(due.length, 1);
});

test("in one turn no more is read of all that wait than the turn has", () => {
  const { turns, next } = stage();
  const read: string[] = [];
  for (let at = 0; at < 10; at++) flooder(turns.join(1), `${at}`, read)();
  for (let turn = 0; turn < 50; turn++) {
    const before = read.length;
    next();
    assert.ok((read.length - before) * 10 <= RULES.perTurn + 10, `${read.length - before} pieces`);
  }
});

test("those that wait are read in rotation, each as much as its weight says, and none starves", () => {
  const { turns, next } = stage();
  const read: string[] = [];
  const weights = { a: 1, b: 1, c: 2, d: 20 };
  for (const [name, weight] of Object.entries(weights)) flooder(turns.join(weight), name, read)();
  read.length = 0;
  for (let turn = 0; turn < 480; turn++) next();
  const share = (name: string): number => Math.round(countOf(read, name) / countOf(read, "a"));
  assert.deepEqual(["b", "c", "d"].map(share), [1, 2, 20]);
  const gaps = read.join("").split("a").map(({ length }) => length);
  // A round is 24 quanta of two pieces.
  assert.ok(Math.max(...gaps) <= 50, `${Math.max(...gaps)} pieces between two of a`);
});

test("a message longer than a turn is paid for by the turns after it", () => {
  const { turns, next } = stage();
  const read: string[] = [];
  flooder(turns.join(1), "long", read, 1_000)();
  flooder(turns.join(1), "short", read)();
  read.length = 0;
  for (let turn = 0; turn < 100; turn++) next();
  const bytes = { long: countOf(read, "long") * 1_000, short: countOf(read, "short") * 10 };
  assert.ok(Math.abs(bytes.long - bytes.short) <= 1_000, JSON.stringify(bytes));
});

test("an answered call earns its process some requests of its own", () => {
  const { turns, due } = stage();
  const turn = turns.join(1);
  const calls = { size: 0, answered: 0 };
  turn.follow(calls);
  for (let call = 0; call < 1_000; call++) {
    calls.answered++;
    for (let request = 0; request < 8; request++) assert.equal(turn.spend(4_000), true);
  }
  assert.equal(due.length, 0);
});

test("more is read while nobody else answers calls", () => {
  const spentIn = (isCalled: boolean): number => {
    const { turns, clock, next } = stage({ alone: 8 });
    const calls = { size: 0, answered: 0 };
    turns.join(1).follow(calls);
    const read: string[] = [];
    flooder(turns.join(1), "a", read)();
    for (let turn = 0; turn < 1_000; turn++) {
      clock.advance(1);
      if (isCalled) calls.answered++;
      next();
    }
    return read.length * 10;
  };
  assert.ok(spentIn(true) <= 140_000, `${spentIn(true)} beside one that answers`);
  assert.ok(spentIn(false) >= 700_000, `${spentIn(false)} alone`);
});

test("its own answers make nobody wait; those of another one do", () => {
  const waits = (othersAnswer: boolean): boolean => {
    const { turns, clock } = stage({ perTurn: 100_000, quantum: 20_000, alone: 8 });
    const [own, other] = [turns.join(1), turns.join(1)];
    let answered = 0;
    const following = (count: () => number) => ({
      size: 0,
      get answered() {
        return count();
      },
    });
    own.follow(following(() => answered));
    other.follow(following(() => othersAnswer ? answered : 0));
    for (let ms = 0; ms < 200; ms++) {
      clock.advance(1);
      if (ms % 20 === 0) answered++;
      for (let piece = 0; piece < 40; piece++) if (!own.spend(10_000)) return true;
    }
    return false;
  };
  assert.deepEqual([waits(false), waits(true)], [false, true]);
});

test("a process that is gone is read to its end at once", () => {
  const { turns, next, due } = stage();
  const read: string[] = [];
  const gone = turns.join(1);
  let left = 500;
  gone.onTurn(() => {
    while (left > 0 && !gone.isWaiting) {
      left--;
      gone.spend(10);
    }
  });
  gone.spend(1_000);
  flooder(turns.join(1), "other", read)();
  assert.ok(gone.isWaiting);
  gone.free();
  assert.deepEqual([gone.isWaiting, left], [false, 0]);
  for (let turn = 0; turn < 10; turn++) next();
  assert.equal(due.length, 1);
});

test("a log is handed on whole, in order and in pieces, and its pipe flows while nothing waits", () => {
  const { turns, next } = stage({ perTurn: 4_000, quantum: 2_000 });
  const turn = turns.join(1);
  const taken: number[] = [];
  const flow: string[] = [];
  const pipe = { pause: () => void flow.push("pause"), resume: () => void flow.push("resume") };
  const push = inTurns(turn, (piece) => void taken.push(...piece), () => pipe);
  const sent = Uint8Array.from({ length: 40_000 }, (_, at) => at % 251);
  push(sent.subarray(0, 30_000));
  push(sent.subarray(30_000));
  assert.ok(taken.length < sent.length);
  for (let turn = 0; turn < 100 && taken.length < sent.length; turn++) next();
  assert.deepEqual(taken, [...sent]);
  assert.deepEqual(flow, ["pause", "resume"]);
});

test("a connection hands out a flood line by line in its turns: in order, none lost, with the wire stopped meanwhile", () => {
  const { turns, next } = stage({ perTurn: 3_000, quantum: 3_000 });
  const peer = createRawPeer({ turn: turns.join(1) });
  const methods = Array.from({ length: 100 }, (_, at) => `flood.n${at}`);
  peer.send(...methods.map((method) => ({ jsonrpc: "2.0", method })));
  const counts = [peer.notifications.length];
  assert.ok(peer.paused);
  while (peer.paused) {
    next();
    counts.push(peer.notifications.length);
  }
  assert.deepEqual(peer.notifications.map(({ method }) => method), methods);
  assert.ok(counts.length > 5, `${counts}`);
  for (const [at, count] of counts.entries()) assert.ok(count - (counts[at - 1] ?? 0) <= 11, `${counts}`);
});

test("answers to the host's own calls cost no turn; answers nobody asked for do", async () => {
  const { turns, due } = stage({ perTurn: 3_000, quantum: 3_000 });
  const peer = createRawPeer({ turn: turns.join(1) });
  const calls = Array.from({ length: 500 }, () => peer.connection.call("a.b"));
  peer.send(...calls.map((_, at) => ({ jsonrpc: "2.0", id: at + 1, result: at })));
  assert.deepEqual(await Promise.all(calls), calls.map((_, at) => at));
  assert.deepEqual([peer.paused, due.length], [false, 0]);
  // The answers have earned nothing that such a flood could not use up.
  peer.send(...Array.from({ length: 10_000 }, (_, at) => ({ jsonrpc: "2.0", id: 9_000 + at, result: at })));
  assert.ok(peer.paused);
});

test("a connection that is closed while it waits lets the wire flow to its end and takes nothing more", () => {
  const { turns, next } = stage({ perTurn: 3_000, quantum: 3_000 });
  const peer = createRawPeer({ turn: turns.join(1) });
  peer.send(...Array.from({ length: 100 }, () => ({ jsonrpc: "2.0", method: "flood.note" })));
  assert.ok(peer.paused);
  peer.connection.close(new HostError("protocol.closed", "The plugin has ended"));
  assert.equal(peer.paused, false);
  const taken = peer.notifications.length;
  next();
  assert.equal(peer.notifications.length, taken);
});

test("requests of one that waits for each answer cost less than those of one that does not", async () => {
  const { turns, clock } = stage({ perTurn: 8 * 1024, quantum: 2 * 1024 });
  const request = (id: number): object => ({ jsonrpc: "2.0", id, method: "storage.query", params: {} });
  const patient = createRawPeer({ turn: turns.join(1), onRequest: () => Promise.resolve(1) });
  for (let at = 0; at < 100; at++) {
    patient.send(request(at));
    assert.equal(patient.paused, false, `at ${at}`);
    await patient.sent();
    clock.advance(1 / 7);
  }
  // Many in one chunk, each answered at once; and each in a chunk of its own, none of them answered.
  const fresh = (): Turn => stage({ perTurn: 8 * 1024, quantum: 2 * 1024 }).turns.join(1);
  const hasty = createRawPeer({ turn: fresh(), onRequest: () => 1 });
  hasty.send(...Array.from({ length: 4 }, (_, at) => request(at)));
  const busy = createRawPeer({ turn: fresh(), onRequest: () => new Promise(() => {}) });
  for (let at = 0; at < 4; at++) busy.send(request(at));
  assert.deepEqual([hasty.paused, busy.paused], [true, true]);
});

test("many answers of one process are handed out in parts while another is called too: in order, none lost, with the wire stopped meanwhile", async () => {
  const { turns, parts, due } = stage();
  const peer = createRawPeer({ turn: turns.join(1) });
  const other = createRawPeer({ turn: turns.join(1) });
  const answered: number[] = [];
  const answer = (count: number): void => {
    const calls = Array.from({ length: count }, () => peer.connection.call("a.b") as Promise<number>);
    for (const call of calls) void call.then((at) => answered.push(at));
    peer.send(...calls.map((_, at) => ({ jsonrpc: "2.0", id: peer.connection.answered + at + 1, result: at })));
  };
  answer(500);
  assert.deepEqual([peer.paused, parts.length], [false, 0]);
  const open = other.connection.call("c.d");
  answer(500);
  const left: number[] = [];
  for (; parts.length > 0; parts.shift()!()) left.push(peer.connection.pending);
  assert.ok(left.length > 5, `${left}`);
  for (const [at, count] of left.entries()) assert.ok((left[at - 1] ?? 500) - count <= 60, `${left}`);
  assert.deepEqual([peer.paused, peer.connection.pending, due.length], [false, 0, 0]);
  await Promise.resolve();
  const once = Array.from({ length: 500 }, (_, at) => at);
  assert.deepEqual(answered, [...once, ...once]);
  other.send({ jsonrpc: "2.0", id: 1, result: null });
  await open;
});
