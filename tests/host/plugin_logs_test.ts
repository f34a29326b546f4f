import assert from "node:assert/strict";
import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { detectRuntime } from "../../src/adapters/default.ts";
import { pluginLogs, readPluginLog } from "../../src/host/plugin_logs.ts";
import { createFakeClock } from "../support/fake_clock.ts";
import { hosted } from "../support/hosted.ts";
import { scratchDir } from "../support/scratch_dir.ts";

const runtime = { ...await detectRuntime(), clock: createFakeClock() };
const timestamp = "2026-01-01T00:00:00.000Z";

test("what a plugin logs is in <home>/logs after the host has stopped", async () => {
  await using h = await hosted({ primary: { echo: {} }, fixtures: { "@test/echo": "echo" } });
  await h.host.callMethod("echo", "echo.log", { text: "one\ntwo\n" });
  await h.logged(2);
  await h.host.stop();
  const page = await readPluginLog({ home: h.home, plugin: "echo" }, { limit: 10 }, runtime.files);
  const items = ["one", "two"].map((line) => ({ timestamp, instance: "echo@music/primary", line }));
  assert.deepEqual(page, { items, next: null });
  assert.equal((await stat(join(h.home, "logs"))).mode & 0o777, 0o700);
  assert.equal((await stat(join(h.home, "logs", "echo.jsonl"))).mode & 0o777, 0o600);
});

test("a plugin that logs without end fills no disk: its file is set aside by size, and two of those are kept", async (t) => {
  const home = await scratchDir(t);
  const logs = pluginLogs({ home, runtime });
  const line = "x".repeat(4000);
  for (let round = 0; round < 20; round++) {
    for (let at = 0; at < 250; at++) logs.write({ plugin: "echo", instance: "echo", line });
    await logs.close();
  }
  const names = (await readdir(join(home, "logs"))).sort();
  assert.deepEqual(names, ["echo.jsonl", "echo.jsonl.1", "echo.jsonl.2"]);
  for (const name of names) assert.ok((await stat(join(home, "logs", name))).size < 6 * 1024 * 1024, name);
});

test("readPluginLog() reads the newest lines across files, and leaves out what is no entry", async (t) => {
  const home = await scratchDir(t);
  const { files } = runtime;
  const place = { home, plugin: "echo" };
  assert.deepEqual(await readPluginLog(place, { limit: 5 }, files), { items: [], next: null });
  await mkdir(join(home, "logs"));
  const entry = (line: string) => JSON.stringify({ timestamp, instance: "echo", line });
  await writeFile(join(home, "logs", "echo.jsonl.1"), `${entry("1")}\n${entry("2")}\n`);
  await writeFile(join(home, "logs", "echo.jsonl"), `${entry("3")}\nhalf a li\n[]\nnull\n${entry("4")}\n`);
  const lines = async (limit: number) => (await readPluginLog(place, { limit }, files)).items.map(({ line }) => line);
  assert.deepEqual([await lines(9), await lines(3), await lines(1), await lines(0)], [
    ["1", "2", "3", "4"],
    ["2", "3", "4"],
    ["4"],
    [],
  ]);
});

test("pages of a log lead back to its first line while lines are added and files are rotated", async (t) => {
  const home = await scratchDir(t);
  const logs = pluginLogs({ home, runtime });
  const place = { home, plugin: "echo" };
  const write = async (...lines: string[]): Promise<void> => {
    for (const line of lines) {
      logs.write({ plugin: "echo", instance: "echo", line });
      await logs.close();
    }
  };
  // As much as a file takes: it is set aside before the next line.
  const full = Array.from({ length: 5 }, (_, at) => `${at}${"x".repeat(900_000)}`);
  const asked = async (cursor: string | null) => {
    const page = await readPluginLog(place, { limit: 2, ...(cursor !== null && { cursor }) }, runtime.files);
    return { lines: page.items.map(({ line }) => line.slice(0, 2)), next: page.next };
  };
  await write("1", "2", "3", ...full, "4", "5");
  const newest = await asked(null);
  assert.deepEqual(newest.lines, ["4", "5"]);
  await write("6", ...full, "7"); // Now the file with the older lines has the name .2.
  const pages = [];
  for (let { next } = newest; next !== null;) {
    const page = await asked(next);
    pages.push(page.lines);
    next = page.next;
  }
  assert.deepEqual(pages, [["3x", "4x"], ["1x", "2x"], ["3", "0x"], ["1", "2"]]);

  await write(...full, "8"); // Now that file is deleted.
  for (const cursor of [newest.next, "0000000000000000.7", "1"]) {
    await assert.rejects(asked(cursor), { code: "http.cursor_gone", hint: "Start again without a cursor" });
  }
});

test("logs that cannot be written are counted, and nothing else suffers", async (t) => {
  const home = await scratchDir(t);
  let isFull = true;
  const files = {
    ...runtime.files,
    openToAppend: (path: string) =>
      isFull ? Promise.reject(new Error("No space left")) : runtime.files.openToAppend(path),
  };
  const logs = pluginLogs({ home, runtime: { ...runtime, files } });
  logs.write({ plugin: "echo", instance: "echo", line: "lost" });
  assert.equal(logs.of("echo").after(0).entries.length, 1);
  await logs.close();
  isFull = false;
  logs.write({ plugin: "echo", instance: "echo", line: "kept" });
  await logs.close();
  const text = await readFile(join(home, "logs", "echo.jsonl"), "utf8");
  assert.deepEqual(text.trimEnd().split("\n").map((line) => JSON.parse(line).line), [
    "1 lines lost: No space left",
    "kept",
  ]);
});
