import assert from "node:assert/strict";
import { chmod, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { createHost } from "../../src/create_host.ts";
import { fixturePlugin } from "../support/fixture_plugins.ts";
import { hosted } from "../support/hosted.ts";
import { putInstalled } from "../support/installed.ts";

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
