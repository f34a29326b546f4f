import assert from "node:assert/strict";
import { chmod, readFile, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { detectRuntime } from "../../src/adapters/default.ts";
import type { FileInfo, Files } from "../../src/core/ports/ports.ts";
import { createHost } from "../../src/create_host.ts";
import { fixturePlugin } from "../support/fixture_plugins.ts";
import { hosted } from "../support/hosted.ts";
import { putInstalled } from "../support/installed.ts";
import { until } from "../support/until.ts";

test("K-052 files that changed since install are not started, at the first start and at every later one", async () => {
  await using plugin = await fixturePlugin("echo");
  await using h = await hosted({ yaml: { primary: { plugins: { e: { package: "@test/echo" } } } }, start: false });
  const place = await putInstalled(h.home, "echo", plugin.dir, "local = true\nenabled = true");
  await using host = await createHost({ project: h.dir, home: h.home, audit: [] });
  assert.deepEqual((await host.start()).running, ["echo@music/primary"]);
  await host.stop();

  const program = join(place, "index.js");
  const text = await readFile(program, "utf8");
  await chmod(program, 0o600);
  await writeFile(program, `${text}\n// more\n`);
  await chmod(program, 0o444);
  const { running, failed } = await host.start();
  assert.deepEqual([running, failed.map(({ error }) => error.code)], [[], ["plugin.tampered"]]);
  assert.match(failed[0]!.error.hint ?? "", /install the plugin again/);
  assert.equal(host.plugins()[0]?.state, "failed");

  await chmod(program, 0o600);
  await writeFile(program, text);
  // Who may run, change or be stood in for by it is part of what was agreed to.
  for (const mode of [0o555, 0o644, 0o464, 0o445, 0o4444, 0o2444]) {
    await chmod(program, mode);
    await assert.rejects(host.enable("echo"), { code: "plugin.tampered" }, mode.toString(8));
  }
  await chmod(program, 0o400);
  await host.enable("echo");
  assert.equal(host.plugins()[0]?.state, "running");
});

test("K-052 a host reads the files of a plugin once and lists them at later starts, and finds a change whose length and time were set back", async () => {
  const { files: real } = await detectRuntime();
  const reads: string[] = [];
  // The files are years old.
  const aged = (info: FileInfo): FileInfo => ({ ...info, changedMs: info.changedMs - 100_000_000_000 });
  const files: Files = {
    ...real,
    fileSystem: () => Promise.resolve(0xef53),
    info: async (path) => await real.info(path).then((info) => info && aged(info)),
    async digest(path, options) {
      reads.push(path);
      const digest = await real.digest(path, options);
      return { ...digest, file: aged(digest.file) };
    },
  };
  await using plugin = await fixturePlugin("echo");
  await using h = await hosted({ yaml: { primary: { plugins: { e: { package: "@test/echo" } } } }, start: false });
  const place = await putInstalled(h.home, "echo", plugin.dir, "local = true\nenabled = true");
  const runtime = { ...await detectRuntime(), files };
  await using host = await createHost({ project: h.dir, home: h.home, audit: [], runtime });
  await host.start();
  const first = reads.length;
  assert.ok(first > 0);
  await host.restart("echo");
  await host.reload("echo");
  assert.equal(reads.length, first);

  const program = join(place, "index.js");
  const { atimeMs, mtimeMs } = await stat(program);
  const text = await readFile(program, "utf8");
  const tick = async () => Math.trunc((await real.info(program))!.changedMs);
  const before = await tick();
  await until(async () => {
    await chmod(program, 0o600);
    return await tick() > before;
  }, "the next tick of the file system's clock");
  await writeFile(program, text.replace("import", "/*port"));
  await utimes(program, atimeMs / 1000, mtimeMs / 1000);
  await chmod(program, 0o444);
  await assert.rejects(host.restart("echo"), { code: "plugin.tampered" });
  assert.ok(reads.length > first);
});
