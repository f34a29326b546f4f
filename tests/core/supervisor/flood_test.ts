import assert from "node:assert/strict";
import { access } from "node:fs/promises";
import { test } from "node:test";
import { detectRuntime } from "../../../src/adapters/default.ts";
import { openTrails } from "../../../src/core/audit/open_trails.ts";
import { readTrail } from "../../../src/core/audit/read_trail.ts";
import { verifyTrail } from "../../../src/core/audit/verify_trail.ts";
import { createStorage } from "../../../src/core/storage/storage.ts";
import { createFakeClock } from "../../support/fake_clock.ts";
import { requireOrSkip } from "../../support/require_or_skip.ts";
import { scratchDir } from "../../support/scratch_dir.ts";
import { supervised } from "../../support/supervised.ts";

const canCage = (): Promise<boolean> => access("/usr/bin/bwrap").then(() => true, () => false);

for (
  const [kind, text] of [["lines that are no JSON", "noise"], ["violations", "[]"], [
    "responses to nobody",
    '{"jsonrpc":"2.0","id":"x","result":1}',
  ]] as const
) {
  test(`a plugin that floods its stdout with ${kind} is ended, with plugin.flood, and started again after a delay`, async (t) => {
    if (!await requireOrSkip(t, "bubblewrap", canCage, "install bubblewrap")) return;
    await using s = await supervised();
    const id = await s.add("floods_stdout");
    await s.supervisor.start(id);
    await s.next("plugin.initialized");
    const flood = s.supervisor.call(id, "fixture.call", { lines: 1_000_000, text });
    await assert.rejects(flood, { code: "plugin.flood" });
    assert.deepEqual((await s.next("plugin.flood")).data, { lines: 10_001, seconds: 10 });
    assert.equal((await s.next("plugin.killed")).data.reason, "plugin.flood");
    assert.equal((await s.next("plugin.crashed")).data.reason, "plugin.flood");
    await s.pass(1_000);
    await s.next("plugin.initialized");
  });
}

test("N-009 a flood of noise pushes no earlier refusal out of the trail, and takes a bounded part of the disk", async (t) => {
  if (!await requireOrSkip(t, "bubblewrap", canCage, "install bubblewrap")) return;
  const runtime = { ...await detectRuntime(), clock: createFakeClock() };
  const { files } = runtime;
  const place = { home: await scratchDir(t), project: "music" };
  await using storage = createStorage({ runtime: await detectRuntime(), home: place.home });
  const sinks = [openTrails({ ...place, runtime })];
  const onRequest = storage.handle.bind(storage);
  {
    await using s = await supervised({ audit: sinks, storageAvailable: true, onRequest });
    const id = await s.add("floods_stdout", { manifest: { capabilities: ["kaged:storage:read"] } });
    await s.supervisor.start(id);
    await assert.rejects(s.supervisor.call(id, "fixture.call", { lines: 1_000_000 }), { code: "plugin.flood" });
    await s.next("plugin.crashed");
  }
  const types = ["plugin.storage_denied", "plugin.repeated", "plugin.flood"];
  const { events } = await readTrail(place, { types }, files);
  assert.deepEqual(events.map(({ type, data }) => [type, data.event ?? null, data.count ?? null]).sort(), [
    ["plugin.flood", null, null],
    ["plugin.repeated", "plugin.stdout_noise", 9_900],
    ["plugin.storage_denied", null, null],
  ]);
  assert.equal((await verifyTrail(place, files)).ok, true);
  const size = async (path: string): Promise<number> => (await files.info(path))?.size ?? 0;
  const taken = await size(`${place.home}/audit/music.jsonl`) + await size(`${place.home}/calls/music.jsonl`);
  assert.ok(taken < 100_000, `${taken} bytes`);
});

test("noise below the flood is survived for as long as it likes", async (t) => {
  if (!await requireOrSkip(t, "bubblewrap", canCage, "install bubblewrap")) return;
  await using s = await supervised();
  const id = await s.add("floods_stdout");
  await s.supervisor.start(id);
  for (let round = 0; round < 3; round++) {
    assert.deepEqual(await s.supervisor.call(id, "fixture.call", { lines: 9_000 }), { ok: true });
    s.clock.advance(10_000);
  }
  assert.equal(s.supervisor.plugin(id).status, "running");
});
