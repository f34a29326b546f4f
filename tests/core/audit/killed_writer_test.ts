import assert from "node:assert/strict";
import { once } from "node:events";
import process from "node:process";
import { test } from "node:test";
import { readTrail } from "../../../src/core/audit/read_trail.ts";
import { verifyTrail } from "../../../src/core/audit/verify_trail.ts";
import { createDice } from "../../support/chance.ts";
import { runScript } from "../../support/run_script.ts";
import { moment } from "../../support/until.ts";
import { runtime, trailGround } from "./trail_ground.ts";

const SCRIPT = new URL("./fixtures/writes_events.ts", import.meta.url);
const { files } = runtime;

/** Kills enough for one of them to come in the middle of a line, whatever the machine's pace. */
const MAX_KILLS = 300;

test("verify passes after 20 kills in the middle of writing, each mended by the next start, which says so", async (t) => {
  const { place, open, store, folder } = await trailGround(t);
  const dice = createDice();
  let torn = 0;
  for (let kills = 0; kills < 20 || (torn === 0 && kills < MAX_KILLS); kills++) {
    const writer = runScript(SCRIPT, [place.home, place.project]);
    await once(writer.stdout!, "data");
    for (let moments = dice.below(12); moments > 0; moments--) await moment();
    const gone = once(writer, "close");
    process.kill(writer.pid!, "SIGKILL");
    await gone;
    const [last] = await files.readTail(`${folder}/music.jsonl`, 1).catch(() => []);
    if (last !== undefined && last !== 0x0a) torn++;
  }
  await store(open().audit, 1);
  assert.ok(torn > 0, "no kill tore a line");
  const verdict = await verifyTrail(place, files);
  assert.deepEqual([verdict.ok, verdict.broken, verdict.torn_bytes, verdict.lost], [true, null, 0, 0]);
  const { events } = await readTrail(place, { types: ["audit.mended"] }, files);
  assert.deepEqual([events.length, verdict.mended], [torn, torn]);
});
