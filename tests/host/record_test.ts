import assert from "node:assert/strict";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { detectRuntime } from "../../src/adapters/default.ts";
import { parseTape } from "../../src/core/wire/tape/tape.ts";
import { hosted } from "../support/hosted.ts";
import { scratchDir } from "../support/scratch_dir.ts";

test("a host with the option record leaves a tape of each process, whole when it has stopped", async (t) => {
  const record = join(await scratchDir(t), "tapes");
  const { files } = await detectRuntime();
  const append = async (path: string, text: string): Promise<void> => { // A slow disk.
    for (let turn = 0; path.startsWith(record) && turn < 10_000; turn++) await new Promise(setImmediate);
    await files.append(path, text);
  };
  const options = { primary: { echo: {} }, fixtures: { "@test/echo": "echo" }, record };
  await using h = await hosted({ ...options, ports: { files: { ...files, append } } });
  await h.host.callMethod("echo", "echo.pid");
  await h.host.stop();
  const [name = "", ...rest] = await readdir(record);
  assert.deepEqual(rest, []);
  assert.match(name, /^echo@music_primary-20260101T000000Z-1\.jsonl$/);
  const { header, entries } = parseTape(await readFile(join(record, name), "utf8"), { file: name });
  assert.deepEqual([header.plugin, header.instance], ["echo", "echo@music/primary"]);
  const said = entries.flatMap((entry) => "message" in entry && entry.from === "host" ? [entry.message.method] : []);
  const [before, after] = [["initialize", "config.update", "initialized"], ["projects.deactivated", "shutdown"]];
  assert.deepEqual(said, [...before, "projects.activated", "echo.pid", ...after]);
  assert.deepEqual(entries.at(-1), { t: 0, from: "plugin", exit: { code: 0, signal: null } });
});

test("a host whose tapes cannot be written warns, and its plugins run on", async (t) => {
  const warnings: string[] = [];
  const file = join(await scratchDir(t), "file");
  await writeFile(file, "");
  const options = { primary: { echo: {} }, fixtures: { "@test/echo": "echo" }, record: join(file, "tapes") };
  await using h = await hosted({ ...options, onWarning: (message) => warnings.push(message) });
  assert.deepEqual(await h.host.callMethod("echo", "echo.config"), {});
  await h.host.stop();
  assert.equal(warnings.length, 1);
  assert.match(warnings[0]!, /^Recording has ended \[tape\.unwritable\]: /);
});
