import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { appendFile, readFile, truncate, writeFile } from "node:fs/promises";
import { test } from "node:test";
import { openTrails } from "../../../src/core/audit/open_trails.ts";
import { createAudit } from "../../../src/core/audit/audit.ts";
import type { AuditEvent } from "../../../src/core/audit/events.ts";
import { runtime, subject, trailGround } from "./trail_ground.ts";

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
const DAY_MS = 86_400_000;

test("each line of the audit trail holds its number and the SHA-256 of the line before", async (t) => {
  const { open, store, folder } = await trailGround(t);
  const { audit } = open();
  await store(audit, 1, 2);
  await store(audit, 3);
  const lines = (await readFile(`${folder}/music.jsonl`, "utf8")).trimEnd().split("\n");
  const links = lines.map((line) => JSON.parse(line)).map(({ seq, prev }) => [seq, prev]);
  assert.deepEqual(links, [[1, "0".repeat(64)], [2, sha256(lines[0]!)], [3, sha256(lines[1]!)]]);
  assert.equal(await readFile(`${folder}/music.head`, "utf8"), `3:${sha256(lines[2]!)}\n`);
});

test("a full file is sealed, read-only, under the number of its first event, and none is deleted for its size", async (t) => {
  const { open, store, names, lines, folder } = await trailGround(t);
  const { audit } = open({ maxBytes: 1 });
  for (let rate = 1; rate <= 9; rate++) await store(audit, rate);
  const sealed = (await names()).filter((name) => /\.[0-9]+\.jsonl$/.test(name));
  assert.deepEqual(sealed, Array.from({ length: 8 }, (_, at) => `music.00000000000${at + 1}.jsonl`));
  assert.deepEqual((await lines()).map(({ seq }) => seq), [9]);
  assert.equal((await runtime.files.info(`${folder}/${sealed[0]}`))?.mode, 0o400);
});

test("calls and noise go to a trail of their own, and a listener hears both in order", async (t) => {
  const { place, clock, lines } = await trailGround(t);
  const audit = createAudit({ clock, sinks: [openTrails({ ...place, runtime: { ...runtime, clock } })] });
  const heard: string[] = [];
  audit.on(({ type }) => heard.push(type));
  audit.emit("plugin.stdout_noise", subject, { line: "hello" });
  audit.emit("plugin.storage_denied", subject, { sql: "SELECT", reason: "another's" });
  audit.emit("plugin.method_returned", subject, { method: "a.b", duration_ms: 1, success: true });
  await audit.flush();
  assert.deepEqual(heard, ["plugin.stdout_noise", "plugin.storage_denied", "plugin.method_returned"]);
  assert.deepEqual((await lines()).map(({ type }) => type), ["plugin.storage_denied"]);
  const calls = await lines("../calls/music.jsonl");
  assert.deepEqual(calls.map(({ type }) => type), ["plugin.stdout_noise", "plugin.method_returned"]);
});

test("a line that a crash tore is cut off at the next start, and an event says so", async (t) => {
  const { open, store, lines, folder } = await trailGround(t);
  await store(open().audit, 1);
  await appendFile(`${folder}/music.jsonl`, '{"seq":2,"prev":"12');
  const { audit } = open();
  const heard: AuditEvent[] = [];
  audit.on((event) => heard.push(event));
  await store(audit, 2);
  const found = (await lines()).map(({ seq, type, data }) => [seq, type, data]);
  assert.deepEqual(found[1], [2, "audit.mended", { reason: "torn_line", cut_bytes: 19 }]);
  assert.deepEqual(found.map(([seq]) => seq), [1, 2, 3]);
  assert.deepEqual(heard.map(({ type }) => type).sort(), ["audit.mended", "plugin.health_fail"]);
});

test("a trail cut at its end goes on behind the head, so that the missing lines stay visible", async (t) => {
  const { open, store, lines, folder } = await trailGround(t);
  await store(open().audit, 1, 2, 3);
  const first = (await readFile(`${folder}/music.jsonl`, "utf8")).indexOf("\n") + 1;
  await truncate(`${folder}/music.jsonl`, first);
  await store(open().audit, 4);
  const found = (await lines()).map(({ seq, type, data }) => [seq, type, data]);
  assert.deepEqual(found[1], [4, "audit.gap", { after_seq: 1, head_seq: 3 }]);
});

test("files are deleted when their newest event is older than the retention, and an event says which", async (t) => {
  const { open, store, clock, names, lines } = await trailGround(t);
  const { audit } = open({ maxBytes: 1, retention_days: 10 });
  await store(audit, 1);
  await store(audit, 2);
  clock.advance(9 * DAY_MS);
  await store(audit, 3);
  assert.equal((await names()).filter((name) => name.endsWith(".jsonl")).length, 3);
  clock.advance(2 * DAY_MS);
  await store(audit, 4);
  assert.deepEqual((await names()).filter((name) => name.endsWith(".jsonl")), [
    "music.000000000003.jsonl",
    "music.jsonl",
  ]);
  const [first, second, event] = await lines();
  assert.deepEqual([first.type, second.type, event.type], ["audit.expired", "audit.expired", "plugin.health_fail"]);
  const { last_hash, ...data } = second.data;
  assert.match(last_hash, /^[0-9a-f]{64}$/);
  assert.deepEqual(data, { file: "music.000000000002.jsonl", first_seq: 2, last_seq: 2, reason: "age" });
});

test("a small file is sealed after a month, so that retention reaches it", async (t) => {
  const { open, store, clock, names } = await trailGround(t);
  const { audit } = open();
  await store(audit, 1);
  clock.advance(31 * DAY_MS);
  await store(audit, 2);
  assert.ok((await names()).includes("music.000000000001.jsonl"));
});

test("when the disk runs low, the oldest sealed file goes, one at a time, with an event", async (t) => {
  const { open, store, names, lines } = await trailGround(t);
  const disk = { free: 1e12 };
  const { audit } = open({ maxBytes: 1, min_free_mb: 10 }, { freeBytes: () => Promise.resolve(disk.free) });
  for (const rate of [1, 2, 3]) await store(audit, rate);
  disk.free = 5e6;
  await store(audit, 4);
  assert.deepEqual((await names()).filter((name) => name.endsWith(".jsonl")), [
    "music.000000000002.jsonl",
    "music.000000000003.jsonl",
    "music.jsonl",
  ]);
  assert.deepEqual((await lines()).map(({ type, data }) => [type, data.reason]), [
    ["audit.expired", "disk"],
    ["plugin.health_fail", undefined],
  ]);
});

test("events that a full disk refuses are counted, and leave no half of a line", async (t) => {
  const { open, store, lines, folder } = await trailGround(t);
  const disk = { isFull: false };
  const { audit } = open({}, {
    async append(path, text) {
      if (!disk.isFull) return await runtime.files.append(path, text);
      await runtime.files.append(path, text.slice(0, 30));
      throw Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" });
    },
  });
  await store(audit, 1);
  const before = await readFile(`${folder}/music.jsonl`, "utf8");
  disk.isFull = true;
  await store(audit, 2, 3);
  assert.equal(await readFile(`${folder}/music.jsonl`, "utf8"), before);
  disk.isFull = false;
  await store(audit, 4);
  assert.deepEqual((await lines()).map(({ seq, type, data }) => [seq, type, data.count]), [
    [1, "plugin.health_fail", undefined],
    [2, "audit.lost", 2],
    [3, "plugin.health_fail", undefined],
  ]);
});

test("a trail from before the chain is set aside as it is, and the new chain begins with an event that says so", async (t) => {
  const { open, store, lines, folder, place } = await trailGround(t);
  await runtime.files.makeDir(`${place.home}/audit`, { recursive: true });
  const old = '{"type":"plugin.enabled","timestamp":"2025-01-01T00:00:00.000Z","name":"echo"}\n{"ty';
  await writeFile(`${folder}/music.jsonl`, old);
  await store(open().audit, 1);
  assert.equal(await readFile(`${folder}/music.unchained.jsonl`, "utf8"), old);
  const [first, second] = await lines();
  assert.deepEqual([first.seq, first.type, first.data], [1, "audit.set_aside", { file: "music.unchained.jsonl" }]);
  assert.equal(second.type, "plugin.health_fail");
});
