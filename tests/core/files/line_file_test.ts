import assert from "node:assert/strict";
import { appendFile, readFile, writeFile } from "node:fs/promises";
import { test, type TestContext } from "node:test";
import { files } from "../../../src/adapters/shared/files.ts";
import { type LineFile, lineFile, lineQueue } from "../../../src/core/files/line_file.ts";
import type { Files } from "../../../src/core/ports/ports.ts";
import { createFakeClock } from "../../support/fake_clock.ts";
import { scratchDir } from "../../support/scratch_dir.ts";
import { until } from "../../support/until.ts";

/** A file on a disk that is full when told so: it takes the first bytes of what is written, then refuses. */
async function onSmallDisk(t: TestContext, onFull = async (_path: string): Promise<void> => {}) {
  const path = `${await scratchDir(t)}/lines`;
  const disk = { isFull: false, takes: 10 };
  const openToAppend: Files["openToAppend"] = async (path) => {
    const open = await files.openToAppend(path);
    return {
      close: () => open.close(),
      async append(bytes) {
        if (!disk.isFull) return await open.append(bytes);
        await open.append(bytes.slice(0, disk.takes));
        await onFull(path);
        throw Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });
      },
    };
  };
  const lossLine = (count: number, reason: string) => `${count} lost: ${reason.slice(0, 6)}`;
  const file: LineFile = lineFile({ path, files: { ...files, openToAppend }, lossLine });
  const write = async (...lines: string[]) => {
    for (const line of lines) file.write(line);
    await file.flush();
  };
  return { path, disk, file, write, read: () => readFile(path, "utf8") };
}

test("K-059 a full disk leaves no half of a line, and a line counts the lost ones", async (t) => {
  const { disk, file, write, read } = await onSmallDisk(t);
  await write("größer");
  disk.isFull = true;
  await write("lost, and longer than ten", "lost too");
  assert.deepEqual([file.lost, file.lastError], [2, "ENOSPC: no space left on device, write"]);
  assert.equal(await read(), "größer\n");
  disk.isFull = false;
  await write("again");
  assert.equal(await read(), "größer\n2 lost: ENOSPC\nagain\n");
});

test("K-059 a line that another program writes meanwhile is not cut away, and the half of a line before it ends", async (t) => {
  const { disk, write, read } = await onSmallDisk(t, (path) => appendFile(path, "theirs"));
  disk.isFull = true;
  await write("this is cut short");
  assert.equal(await read(), "this is cutheirs");
  disk.isFull = false;
  await write("again");
  assert.equal(await read(), "this is cutheirs\n1 lost: ENOSPC\nagain\n");
});

test("K-059 a line that a crash cut short does not take the next one with it", async (t) => {
  const { path, write, read } = await onSmallDisk(t);
  await writeFile(path, "whole\nhal");
  await write("next", "last");
  assert.equal(await read(), "whole\nhal\nnext\nlast\n");
});

test("with a clock, lines that come soon after a write go into one write; a flush, or many of them, wait for nothing", async () => {
  const clock = createFakeClock();
  const writes: string[][] = [];
  const append = (lines: readonly string[]): Promise<void> => Promise.resolve(void writes.push([...lines]));
  const queue = lineQueue({ append, lossLine: String, clock });
  queue.write("a");
  await until(() => writes.length === 1, "the first write", "turn");
  for (const line of ["b", "c"]) queue.write(line);
  await until(() => clock.keepingAlive === 1, "the rest before the next write", "turn");
  queue.write("d");
  clock.advance(20);
  await until(() => writes.length === 2, "the second write", "turn");
  queue.write("e");
  await queue.flush();
  assert.deepEqual(writes, [["a"], ["b", "c", "d"], ["e"]]);
  queue.write("f".repeat(40_000));
  await until(() => writes.length === 4, "a write of many characters", "turn");
  assert.equal(clock.waiting, 0);
});

test("a file stays open for many writes in a row, and is closed when there is nothing left to write", async (t) => {
  const path = `${await scratchDir(t)}/lines`;
  const counts = { opened: 0, closed: 0, writes: 0 };
  const openToAppend: Files["openToAppend"] = async (path) => {
    const open = await files.openToAppend(path);
    counts.opened++;
    return {
      async append(bytes) {
        counts.writes++;
        await open.append(bytes);
        if (counts.writes < 100) file.write(`line ${counts.writes}`); // The next one comes before this write is over.
      },
      async close() {
        counts.closed++;
        await open.close();
      },
    };
  };
  const file: LineFile = lineFile({ path, files: { ...files, openToAppend }, lossLine: String });
  file.write("line 0");
  await file.flush();
  assert.deepEqual(counts, { opened: 2, closed: 2, writes: 100 });
  const lines = (await readFile(path, "utf8")).trimEnd().split("\n");
  assert.deepEqual(lines, Array.from({ length: 100 }, (_, at) => `line ${at}`));
});
