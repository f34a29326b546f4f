import assert from "node:assert/strict";
import { access } from "node:fs/promises";
import { test } from "node:test";
import { detectRuntime } from "../../../src/adapters/default.ts";
import { REQUEST_COST, TURN_RULES } from "../../../src/core/wire/read_turns.ts";
import { hostLimits } from "../../../src/host/host_limits.ts";
import { createFakeClock } from "../../support/fake_clock.ts";
import { requireOrSkip } from "../../support/require_or_skip.ts";
import { supervised } from "../../support/supervised.ts";

const canCage = (): Promise<boolean> => access("/usr/bin/bwrap").then(() => true, () => false);
const FLOODERS = 10;
const REQUESTS = 300;

test("N-043 beside ten plugins that flood the host every call of another one is answered, and of the floods no more than their share is read in a turn", async (t) => {
  if (!await requireOrSkip(t, "bubblewrap", canCage, "install bubblewrap")) return;
  const real = await detectRuntime();
  const turns: number[] = [0];
  // The clock stands still: turns come from the event loop itself.
  const soon = (run: () => void): void =>
    real.soon(() => {
      turns.push(0);
      run();
    });
  await using s = await supervised({
    runtime: { ...real, clock: createFakeClock(), soon },
    onRequest: () => ({ taken: ++turns[turns.length - 1]! }),
  });
  const names = Array.from({ length: FLOODERS }, (_, at) => `flooder-${at}`);
  const flooders = await Promise.all(names.map((name) => s.add("floods_requests", { manifest: { name } })));
  const sibling = await s.add("echo");
  await s.supervisor.startAll();
  const floods = Promise.all(flooders.map((id) => s.supervisor.call(id, "fixture.call", { count: REQUESTS })));
  floods.catch(() => {}); // Awaited below.
  const answers = [];
  for (let call = 0; call < 100; call++) answers.push(await s.supervisor.call(sibling, "echo.params", { call }));
  assert.deepEqual(
    answers.map((answer) => (answer as { params: { call: number } }).params.call),
    answers.map((_, at) => at),
  );
  // Nothing of the floods is lost, and none of them starves.
  assert.deepEqual(await floods, names.map(() => ({ answered: REQUESTS, refused: 0 })));
  const share = TURN_RULES.perTurn * TURN_RULES.alone / REQUEST_COST;
  // Beside their share they use what the few answers of their handshakes have earned, 8 requests each.
  const earned = FLOODERS * 4 * 8;
  assert.ok(turns.length * share + earned >= FLOODERS * REQUESTS, `only ${turns.length} turns of ${share} requests`);
});

test("N-043 an MCP server waits for its turns, though the process that found out its greeting has ended", async (t) => {
  if (!await requireOrSkip(t, "bubblewrap", canCage, "install bubblewrap")) return;
  const real = await detectRuntime();
  let turns = 0;
  const soon = (run: () => void): void => (turns++, real.soon(run));
  await using s = await supervised({ runtime: { ...real, clock: createFakeClock(), soon } });
  const id = await s.add("mcp_floods");
  await s.supervisor.start(id);
  await s.supervisor.call(id, "mcp-floods.flood");
  assert.ok(turns > 10, `${turns} turns for 10,000 messages`);
});

test("N-043 a weight is set for every plugin, or for one of them", () => {
  const { weight } = hostLimits({}, {
    limits: { weight: 2 },
    pluginLimits: { notes: { weight: 30 }, other: { pids: 9 } },
  });
  assert.deepEqual([weight("notes"), weight("other"), weight("constructor")], [30, 2, 2]);
  assert.equal(hostLimits({}, { limits: {}, pluginLimits: {} }).weight("notes"), 1);
});

test("the last words of a plugin that ends while it waits for its turn are read", async (t) => {
  if (!await requireOrSkip(t, "bubblewrap", canCage, "install bubblewrap")) return;
  await using s = await supervised();
  const id = await s.add("logs_and_ends");
  await s.supervisor.start(id);
  await assert.rejects(s.supervisor.call(id, "fixture.call", { lines: 3_000 }), { code: "plugin.unavailable" });
  const { last_stderr } = (await s.next("plugin.crashed")).data;
  assert.equal(last_stderr.at(-1), "line 2999");
  assert.deepEqual(s.logs.map(({ line }) => line), Array.from({ length: 3_000 }, (_, at) => `line ${at}`));
});
