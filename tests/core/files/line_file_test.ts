import assert from "node:assert/strict";
import { appendFile, readFile, writeFile } from "node:fs/promises";
import { test, type TestContext } from "node:test";
import { files } from "../../../src/adapters/shared/files.ts";
import { type LineFile, lineFile } from "../../../src/core/files/line_file.ts";
import type { Files } from "../../../src/core/ports/ports.ts";
import { scratchDir } from "../../support/scratch_dir.ts";

/** A file on a disk that is full when told so: it takes the first bytes of what is written, then refuses. */
async function onSmallDisk(t: TestContext, onFull = async (_path: string): Promise<void> => {}) {
  const path = `${await scratchDir(t)}/lines`;
  const disk = { isFull: false, takes: 10 };
  const append: Files["append"] = async (path, text) => {
    if (!disk.isFull) return await files.append(path, text);
    await files.append(path, text.slice(0, disk.takes));
    await onFull(path);
    throw Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });
  };
  const lossLine = (count: number, reason: string) => `${count} lost: ${reason.slice(0, 6)}`;
  const file: LineFile = lineFile({ path, files: { ...files, append }, lossLine });
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
