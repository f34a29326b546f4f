import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { detectRuntime } from "../../../src/adapters/default.ts";
import { createAudit } from "../../../src/core/audit/audit.ts";
import type { AuditEvent } from "../../../src/core/audit/events.ts";
import { jsonlFile } from "../../../src/core/audit/jsonl_file.ts";
import { createFakeClock } from "../../support/fake_clock.ts";

const subject = { name: "echo", instance: "echo@music" };
const { files } = await detectRuntime();

async function temporaryFolder(): Promise<AsyncDisposable & { path: string }> {
  const path = await mkdtemp(join(tmpdir(), "kaged-audit-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

const linesOf = async (path: string) =>
  (await readFile(path, "utf8")).trimEnd().split("\n").map((line) => JSON.parse(line));

test("K-059 createAudit() stamps every event with time, plugin, instance and request", () => {
  const clock = createFakeClock();
  const audit = createAudit({ clock });
  const seen: AuditEvent[] = [];
  audit.on((event) => seen.push(event));
  audit.emit("plugin.health_fail", subject, { consecutive_failures: 2, error: "silence" }, "req_7");
  clock.advance(1);
  audit.emit("plugin.enabled", subject, {});
  assert.deepEqual(seen, [
    {
      type: "plugin.health_fail",
      timestamp: "2026-01-01T00:00:00.000Z",
      ...subject,
      request_id: "req_7",
      data: { consecutive_failures: 2, error: "silence" },
    },
    { type: "plugin.enabled", timestamp: "2026-01-01T00:00:00.001Z", ...subject, request_id: null, data: {} },
  ]);
});

test("createAudit() survives a listener that throws, and counts it", () => {
  const audit = createAudit({ clock: createFakeClock() });
  const seen: string[] = [];
  audit.on(() => {
    throw new Error("broken");
  });
  audit.on((event) => seen.push(event.type));
  audit.emit("plugin.enabled", subject, {});
  assert.deepEqual(seen, ["plugin.enabled"]);
  assert.equal(audit.listenerErrors, 1);
});

test("createAudit() is active only while someone listens, and ends a listener by its own handle", () => {
  const audit = createAudit({ clock: createFakeClock() });
  const seen: string[] = [];
  const listener = (event: AuditEvent) => void seen.push(event.type);
  assert.equal(audit.active, false);
  const ends = [audit.on(listener), audit.on(listener)];
  audit.emit("plugin.enabled", subject, {});
  ends[0]!();
  audit.emit("plugin.enabled", subject, {});
  ends[1]!();
  audit.emit("plugin.enabled", subject, {});
  assert.equal(seen.length, 3);
  assert.equal(audit.active, false);
});

test("jsonlFile() writes one JSON line per event, in order", async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "audit.jsonl");
  const sink = jsonlFile({ path, files, clock: createFakeClock() });
  const audit = createAudit({ clock: createFakeClock(), sinks: [sink] });
  for (let rate = 0; rate < 100; rate++) audit.emit("plugin.notification_flood", subject, { rate });
  await audit.flush();
  assert.deepEqual((await linesOf(path)).map((event) => event.data.rate), Array.from({ length: 100 }, (_, i) => i));
});

test("jsonlFile() sets a full file aside and keeps as many as asked", async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "audit.jsonl");
  const sink = jsonlFile({ path, files, clock: createFakeClock(), maxBytes: 1, keep: 2 });
  const audit = createAudit({ clock: createFakeClock(), sinks: [sink] });
  for (let rate = 1; rate <= 5; rate++) {
    audit.emit("plugin.notification_flood", subject, { rate });
    await audit.flush();
  }
  assert.deepEqual((await readdir(folder.path)).sort(), ["audit.jsonl", "audit.jsonl.1", "audit.jsonl.2"]);
  const rates = async (suffix: string) => (await linesOf(path + suffix)).map((event) => event.data.rate);
  assert.deepEqual([await rates(""), await rates(".1"), await rates(".2")], [[5], [4], [3]]);
});

test("jsonlFile() continues a file that is there already", async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "audit.jsonl");
  for (const rate of [1, 2]) {
    const audit = createAudit({
      clock: createFakeClock(),
      sinks: [jsonlFile({ path, files, clock: createFakeClock() })],
    });
    audit.emit("plugin.notification_flood", subject, { rate });
    await audit.flush();
  }
  assert.equal((await linesOf(path)).length, 2);
});

test("jsonlFile() counts what it cannot write and says so in the file once it can again", async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "missing", "audit.jsonl");
  const sink = jsonlFile({ path, files, clock: createFakeClock() });
  const audit = createAudit({ clock: createFakeClock(), sinks: [sink] });
  audit.emit("plugin.enabled", subject, {});
  await audit.flush();
  assert.equal(sink.lost, 1);
  assert.match(sink.lastError ?? "", /ENOENT/);
  await files.makeDir(join(folder.path, "missing"));
  audit.emit("plugin.enabled", subject, {});
  await audit.flush();
  const [loss, event] = await linesOf(path);
  assert.equal(loss.type, "audit.lost");
  assert.equal(loss.data.count, 1);
  assert.equal(event.type, "plugin.enabled");
  assert.equal(sink.lastError, null);
});

test("jsonlFile() drops events above its bound instead of growing", async () => {
  await using folder = await temporaryFolder();
  const sink = jsonlFile({ path: join(folder.path, "a.jsonl"), files, clock: createFakeClock(), maxWaiting: 300 });
  const audit = createAudit({ clock: createFakeClock(), sinks: [sink] });
  for (let rate = 0; rate < 100; rate++) audit.emit("plugin.notification_flood", subject, { rate });
  await audit.flush();
  assert.ok(sink.lost >= 97, `lost ${sink.lost}`);
  const lines = await linesOf(join(folder.path, "a.jsonl"));
  const told = lines.filter(({ type }) => type === "audit.lost").map(({ data }) => data.count);
  assert.equal(told.reduce((sum, count) => sum + count, 0), sink.lost);
  assert.equal(lines.length - told.length + sink.lost, 100);
});
