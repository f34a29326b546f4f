import assert from "node:assert/strict";
import { appendFile, mkdir, readdir, readFile, stat, symlink, unlink } from "node:fs/promises";
import { test, type TestContext } from "node:test";
import { files } from "../../src/adapters/shared/files.ts";
import { createFileLogger, type FileLogger, type FileLoggerOptions } from "../../src/addons/mod.ts";
import type { Files } from "../../src/core/ports/ports.ts";
import { scratchDir } from "../support/scratch_dir.ts";
import { TOLD, type Told, toldEvents } from "../support/told_events.ts";
import { until } from "../support/until.ts";

interface Logged extends Told {
  readonly dir: string;
  readonly logger: FileLogger;
  readonly warnings: string[];
  /** Files by name, each as its parsed lines; a line that is no JSON throws. */
  readonly read: () => Promise<Record<string, Record<string, unknown>[]>>;
}

async function logged(
  t: TestContext,
  { files: broken, in: place, ...options }: Partial<FileLoggerOptions> & {
    readonly files?: Partial<Files>;
    readonly in?: string;
  } = {},
): Promise<Logged> {
  const told = toldEvents();
  const dir = place ?? `${await scratchDir(t)}/logs`;
  const warnings: string[] = [];
  const logger = createFileLogger(told.emitter, {
    dir,
    onWarning: (message) => warnings.push(message),
    ...options,
    runtime: { clock: told.clock, files: { ...files, ...broken } },
  });
  const read = async () => {
    const names = (await readdir(dir)).sort();
    const texts = await Promise.all(names.map((name) => readFile(`${dir}/${name}`, "utf8")));
    return Object.fromEntries(names.map((name, at) => {
      assert.ok(texts[at]!.endsWith("\n"), `${name} ends within a line`);
      return [name, texts[at]!.trimEnd().split("\n").map((line) => JSON.parse(line))];
    }));
  };
  return { ...told, dir, logger, warnings, read };
}

/** A disk that is full when told so: it takes the first bytes of what is written, then refuses. */
function smallDisk() {
  const disk = { isFull: false, takes: 10 };
  const append: Files["append"] = async (path, text) => {
    if (!disk.isFull) return await files.append(path, text);
    await files.append(path, text.slice(0, disk.takes));
    throw Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });
  };
  return { disk, files: { append } };
}

test("T-012 the file logger writes each event as a line of JSON that only its user can read", async (t) => {
  const { tell, logger, read, dir } = await logged(t);
  await tell("agent:start", "agent:end");
  await logger.close();
  const timestamp = "2026-01-01T00:00:00.000Z";
  assert.deepEqual(await read(), {
    "events-2026-01-01.jsonl": [
      { type: "agent:start", ...TOLD["agent:start"], timestamp },
      { type: "agent:end", ...TOLD["agent:end"], timestamp },
    ],
  });
  assert.equal((await stat(`${dir}/events-2026-01-01.jsonl`)).mode & 0o777, 0o600);
  assert.equal((await stat(dir)).mode & 0o777, 0o700);
});

test("T-012 with daily rotation each day has its file, and a line goes to the day of its event", async (t) => {
  const { tell, clock, logger, read } = await logged(t, { rotation: "daily", events: ["job:cancelled"] });
  for (let day = 0; day < 3; day++) {
    await tell("job:cancelled", "agent:start");
    clock.advance(24 * 3600_000);
  }
  await logger.close();
  const lines = Object.entries(await read()).map(([name, rows]) => [name, rows.map((row) => row.timestamp)]);
  assert.deepEqual(lines, [
    ["events-2026-01-01.jsonl", ["2026-01-01T00:00:00.000Z"]],
    ["events-2026-01-02.jsonl", ["2026-01-02T00:00:00.000Z"]],
    ["events-2026-01-03.jsonl", ["2026-01-03T00:00:00.000Z"]],
  ]);
});

test("T-012 under load no line is lost, torn or out of order, and no file is larger than it may be", async (t) => {
  const { emitter, logger, read, dir } = await logged(t, { rotation: { maxSize: "4kb" } });
  const count = 5000;
  for (let at = 0; at < count; at++) {
    emitter.emit("job:cancelled", { jobId: `é${at}`, agentName: "x".repeat(at % 200), duration: at });
    if (at % 100 === 0) await new Promise(setImmediate);
  }
  await new Promise(setImmediate);
  await logger.close();
  const found = Object.values(await read()).flat().map(({ duration }) => duration);
  assert.deepEqual(found, Array.from({ length: count }, (_, at) => at));
  const sizes = await Promise.all((await readdir(dir)).map(async (name) => (await stat(`${dir}/${name}`)).size));
  assert.ok(sizes.length > 100);
  assert.deepEqual(sizes.filter((size) => size > 4096), []);
});

test("T-012 by size a log goes on in the newest file, and a line longer than a file has one of its own", async (t) => {
  const dir = `${await scratchDir(t)}/logs`;
  const first = await logged(t, { rotation: { maxSize: "300b" }, in: dir });
  await first.tell("job:cancelled");
  await first.logger.close();
  const second = await logged(t, { rotation: { maxSize: "300b" }, in: dir });
  await second.tell("job:cancelled");
  second.emitter.emit("job:cancelled", { jobId: "j".repeat(500), agentName: "a", duration: 1 });
  await second.tell("job:cancelled");
  await second.logger.close();
  const rows = Object.entries(await second.read()).map(([name, lines]) => [name, lines.length]);
  assert.deepEqual(rows, [["events-000001.jsonl", 2], ["events-000002.jsonl", 1], ["events-000003.jsonl", 1]]);
});

test("T-012 while the disk is full events wait, and are written whole when there is room", async (t) => {
  const { disk, files } = smallDisk();
  const { tell, logger, read, clock, warnings } = await logged(t, { files });
  await tell("job:start");
  await logger.flush();
  disk.isFull = true;
  await tell("job:end", "job:error");
  await logger.flush();
  assert.equal(logger.lastError, "ENOSPC: no space left on device, write");
  disk.isFull = false;
  clock.advance(30_000);
  await logger.flush();
  const types = Object.values(await read()).flat().map(({ type }) => type);
  assert.deepEqual(types, ["job:start", "job:end", "job:error"]);
  assert.deepEqual([logger.lost, logger.lastError], [0, null]);
  assert.equal(warnings.length, 2);
  assert.match(warnings[0]!, /^Cannot write events to ".*", they wait: ENOSPC/);
  assert.match(warnings[1]!, /^Events are written to ".*" again$/);
});

test("T-012 events beyond the limit are dropped while the disk is full, and a line counts them where they are missing", async (t) => {
  const { disk, files } = smallDisk();
  const { tell, logger, read } = await logged(t, { files, maxWaiting: 300 });
  disk.isFull = true;
  await tell("job:cancelled", "job:cancelled", "job:cancelled", "job:cancelled", "job:cancelled");
  await logger.flush();
  assert.equal(logger.lost, 3);
  disk.isFull = false;
  await logger.flush();
  await tell("job:start");
  await logger.close();
  const rows = Object.values(await read()).flat();
  assert.deepEqual(rows.map(({ type }) => type), ["job:cancelled", "job:cancelled", "log:lost", "job:start"]);
  assert.deepEqual(rows[2], {
    type: "log:lost",
    timestamp: "2026-01-01T00:00:00.000Z",
    count: 3,
    reason: "ENOSPC: no space left on device, write",
  });
});

test("T-012 the line that counts losses stands where they happened, also when events come while it is due", async (t) => {
  let appended = 0;
  const append: Files["append"] = async (path, text) => {
    if (++appended === 2) await tell("job:start"); // There is room again, and the losses are not told yet.
    await files.append(path, text);
  };
  const { tell, logger, read } = await logged(t, { files: { append }, rotation: { maxSize: "150b" }, maxWaiting: 300 });
  await tell("job:cancelled", "job:cancelled", "job:cancelled");
  await logger.flush();
  const types = Object.values(await read()).flat().map(({ type }) => type);
  assert.deepEqual(types, ["job:cancelled", "job:cancelled", "log:lost", "job:start"]);
});

test("T-012 events that come faster than they can be written are counted too", async (t) => {
  const { tell, logger, read } = await logged(t, { maxWaiting: 100 });
  await tell("job:cancelled", "job:cancelled", "job:cancelled");
  await logger.close();
  const rows = Object.values(await read()).flat();
  assert.deepEqual(rows.map(({ type, count, reason }) => [type, count, reason]), [
    ["job:cancelled", undefined, undefined],
    ["log:lost", 2, "events came faster than they could be written"],
  ]);
  assert.equal(logger.lost, 2);
});

test("T-012 a device that is really full reaches nobody but the operator", async (t) => {
  const dir = await scratchDir(t);
  const path = `${dir}/events-2026-01-01.jsonl`;
  await symlink("/dev/full", path);
  const { tell, logger, read, warnings, clock } = await logged(t, { in: dir });
  await tell("job:start", "job:end");
  await logger.flush();
  assert.match(warnings[0]!, /ENOSPC|no space/i);
  await unlink(path);
  clock.advance(60_000);
  await logger.flush();
  assert.deepEqual(Object.values(await read()).flat().map(({ type }) => type), ["job:start", "job:end"]);
});

test("T-012 a logger that tries again waits longer each time, up to 30 s", async (t) => {
  const { disk, files } = smallDisk();
  disk.isFull = true;
  const { tell, logger, clock } = await logged(t, { files });
  await tell("job:start");
  const waits: (number | null)[] = [];
  for (let tries = 0; tries < 7; tries++) {
    await until(() => clock.nextInMs !== null, "a timer", "turn");
    waits.push(clock.nextInMs);
    clock.advance(clock.nextInMs!);
  }
  assert.deepEqual(waits, [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
  await logger.close();
  assert.deepEqual([logger.lost, clock.waiting], [1, 0]);
});

test("T-012 a line that a crash cut short does not take the next one with it", async (t) => {
  const dir = await scratchDir(t);
  const path = `${dir}/events-2026-01-01.jsonl`;
  await appendFile(path, '{"type":"job:st');
  const { tell, logger } = await logged(t, { in: dir });
  await tell("job:end");
  await logger.close();
  const [torn, whole] = (await readFile(path, "utf8")).split("\n");
  assert.deepEqual([torn, JSON.parse(whole!).type], ['{"type":"job:st', "job:end"]);
});

test("T-012 a folder that goes away while it is logged to is made again", async (t) => {
  const { tell, logger, read, dir } = await logged(t);
  await tell("job:start");
  await logger.flush();
  await files.remove(dir);
  await tell("job:end");
  await logger.flush();
  await logger.flush();
  assert.deepEqual(Object.values(await read()).flat().map(({ type }) => type), ["job:end"]);
});

test("T-012 a place that cannot be a folder is reported, and its events count as lost", async (t) => {
  const dir = await scratchDir(t);
  await mkdir(`${dir}/a`);
  await appendFile(`${dir}/a/file`, "");
  const { tell, logger, warnings } = await logged(t, { in: `${dir}/a/file/logs` });
  await tell("job:start");
  await logger.close();
  assert.equal(logger.lost, 1);
  assert.equal(warnings.length, 2);
});

test("a size that is none is refused before anything is written", async (t) => {
  for (const maxSize of ["ten", "10", "10 mib", "0mb", "-1mb", "1e9gb", ""]) {
    await assert.rejects(logged(t, { rotation: { maxSize } }), { code: "addons.invalid_option" });
  }
});
