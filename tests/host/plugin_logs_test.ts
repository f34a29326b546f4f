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
  const entries = await readPluginLog(h.home, "echo", { files: runtime.files, tail: 10 });
  assert.deepEqual(entries, ["one", "two"].map((line) => ({ timestamp, instance: "echo@music/primary", line })));
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
  assert.deepEqual(await readPluginLog(home, "echo", { files, tail: 5 }), []);
  await mkdir(join(home, "logs"));
  const entry = (line: string) => JSON.stringify({ timestamp, instance: "echo", line });
  await writeFile(join(home, "logs", "echo.jsonl.1"), `${entry("1")}\n${entry("2")}\n`);
  await writeFile(join(home, "logs", "echo.jsonl"), `${entry("3")}\nhalf a li\n[]\nnull\n${entry("4")}\n`);
  const lines = async (tail: number) => (await readPluginLog(home, "echo", { files, tail })).map(({ line }) => line);
  assert.deepEqual([await lines(9), await lines(3), await lines(1), await lines(0)], [
    ["1", "2", "3", "4"],
    ["2", "3", "4"],
    ["4"],
    [],
  ]);
});

test("logs that cannot be written are counted, and nothing else suffers", async (t) => {
  const home = await scratchDir(t);
  let isFull = true;
  const files = {
    ...runtime.files,
    append: (path: string, text: string) =>
      isFull ? Promise.reject(new Error("No space left")) : runtime.files.append(path, text),
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
