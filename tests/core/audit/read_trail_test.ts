import assert from "node:assert/strict";
import { appendFile } from "node:fs/promises";
import { test } from "node:test";
import { createAudit } from "../../../src/core/audit/audit.ts";
import { jsonlFile } from "../../../src/core/audit/jsonl_file.ts";
import { openTrails } from "../../../src/core/audit/open_trails.ts";
import { readTrail, type TrailQuery } from "../../../src/core/audit/read_trail.ts";
import { callsPath } from "../../../src/core/audit/trail_files.ts";
import { runtime, subject, type TrailGround, trailGround } from "./trail_ground.ts";

const { files } = runtime;

/** Reads every page; the numbers of the events, page by page. */
async function pages({ place }: TrailGround, query: TrailQuery, between = async (): Promise<void> => {}) {
  const found: unknown[][] = [];
  let cursor: string | null | undefined;
  do {
    const page = await readTrail(place, { ...query, ...(cursor && { cursor }) }, files);
    found.push(page.events.map(({ data }) => data.consecutive_failures ?? data.rate));
    cursor = page.next;
    await between();
  } while (cursor !== null);
  return found;
}

test("readTrail() returns the newest events first, over all files of the trail, page by page", async (t) => {
  const ground = await trailGround(t);
  const { audit } = ground.open({ maxBytes: 500 });
  for (let rate = 1; rate <= 10; rate++) await ground.store(audit, rate);
  assert.deepEqual(await pages(ground, { limit: 4 }), [[10, 9, 8, 7], [6, 5, 4, 3], [2, 1]]);
  assert.deepEqual(await pages(ground, { limit: 5 }), [[10, 9, 8, 7, 6], [5, 4, 3, 2, 1]]);
});

test("a cursor stays right while events are added and the files of both trails are rotated", async (t) => {
  const ground = await trailGround(t);
  const { audit } = ground.open({ maxBytes: 500 });
  for (let rate = 1; rate <= 6; rate++) await ground.store(audit, rate);
  const newer = () => ground.store(audit, 99, 98, 97);
  assert.deepEqual(await pages(ground, { limit: 2 }, newer), [[6, 5], [4, 3], [2, 1]]);

  await files.makeDir(`${ground.place.home}/calls`);
  const sink = jsonlFile({ path: callsPath(ground.place), files, clock: ground.clock, maxBytes: 300, keep: 9 });
  const calls = createAudit({ clock: ground.clock, sinks: [sink] });
  const call = async (rate: number) => {
    calls.emit("plugin.notification_flood", subject, { rate });
    await calls.flush();
  };
  for (let rate = 1; rate <= 6; rate++) await call(rate);
  assert.deepEqual(await pages(ground, { trail: "calls", limit: 2 }, () => call(99)), [[6, 5], [4, 3], [2, 1]]);
});

test("readTrail() finds events by type, plugin, agent, session, time and text", async (t) => {
  const { place, clock } = await trailGround(t);
  const audit = createAudit({ clock, sinks: [openTrails({ ...place, runtime: { ...runtime, clock } })] });
  const at = { agent_path: "primary.subagents.a", session_id: "ses_1" };
  audit.emit("plugin.storage_denied", subject, { sql: 'SELECT "Größe"', reason: "another's" });
  clock.advance(60_000);
  const injected = { hook: "pre_prompt", returned_bytes: 1, bytes: 1, sha256: "", cut: false, escaped_tags: 0 };
  audit.emit("plugin.hook.injected", { name: "notes", instance: "notes@music/primary" }, { ...injected, ...at });
  audit.emit("plugin.hook.fired", subject, { hook: "pre_prompt", ...at });
  await audit.flush();
  const types = async (query: TrailQuery) => (await readTrail(place, query, files)).events.map(({ type }) => type);
  const [denied, hooked] = ["plugin.storage_denied", "plugin.hook.injected"];
  assert.deepEqual(await types({}), [hooked, denied]);
  assert.deepEqual(await types({ trail: "calls" }), ["plugin.hook.fired"]);
  assert.deepEqual(await types({ types: [denied] }), [denied]);
  assert.deepEqual(await types({ types: ["plugin.hook.*"] }), [hooked]);
  assert.deepEqual(await types({ plugin: "notes" }), [hooked]);
  assert.deepEqual(await types({ agent: "primary.subagents.a" }), [hooked]);
  assert.deepEqual(await types({ agent: "primary" }), [denied]);
  assert.deepEqual(await types({ session: "ses_1" }), [hooked]);
  assert.deepEqual(await types({ text: '"größe"' }), [denied]);
  assert.deepEqual(await types({ since: "2026-01-01T00:01:00Z" }), [hooked]);
  assert.deepEqual(await types({ until: "2026-01-01T00:01:00Z" }), [denied]);
  assert.deepEqual(await types({ plugin: "notes", text: "größe" }), []);
});

test("a line that is torn, damaged or endless costs no event beside it, and is not held in memory whole", async (t) => {
  const ground = await trailGround(t);
  const { audit } = ground.open();
  await ground.store(audit, 1);
  await appendFile(`${ground.folder}/music.jsonl`, `not JSON\n${"x".repeat(6_000_000)}\n`);
  await ground.store(audit, 2);
  await appendFile(`${ground.folder}/music.jsonl`, '{"type":"plugin.ena');
  let largest = 0;
  const watched = {
    ...files,
    async readRange(path: string, from: number, count: number) {
      largest = Math.max(largest, count);
      return await files.readRange(path, from, count);
    },
  };
  const { events } = await readTrail(ground.place, { plugin: "echo" }, watched);
  assert.deepEqual(events.map(({ data }) => data.consecutive_failures), [2, 1]);
  assert.ok(largest <= 65_536, `${largest}`);
});

test("a home without a trail has no events; a cursor or a time that is none is refused with the field", async (t) => {
  const { place } = await trailGround(t);
  assert.deepEqual(await readTrail(place, {}, files), { events: [], next: null });
  const refused = (query: TrailQuery, field: string) =>
    assert.rejects(readTrail(place, query, files), { code: "audit.invalid_query", data: { field } });
  await refused({ cursor: "../../etc" }, "cursor");
  await refused({ since: "yesterday" }, "since");
  await refused({ until: "" }, "until");
});
