import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { detectRuntime } from "../../../src/adapters/default.ts";
import { type CallAudit, createAudit } from "../../../src/core/audit/audit.ts";
import type { Files } from "../../../src/core/ports/ports.ts";
import { createSupervisor } from "../../../src/core/supervisor/supervisor.ts";
import { fixturePlugin } from "../../support/fixture_plugins.ts";

test("N-041 instances at rest make nothing for calls before the first one, and their folder is read once for all", async () => {
  const runtime = await detectRuntime();
  const reads: string[] = [];
  const files: Files = {
    ...runtime.files,
    readHead(path, count) {
      reads.push(path);
      return runtime.files.readHead(path, count);
    },
  };
  const audit = createAudit({ clock: runtime.clock });
  const made: string[] = [];
  const counted: CallAudit = Object.assign(Object.create(audit), {
    callLines(...given: Parameters<CallAudit["callLines"]>) {
      made.push(given[0].instance);
      return audit.callLines(...given);
    },
  });
  await using plugin = await fixturePlugin("echo");
  const home = await mkdtemp(join(tmpdir(), "kaged-home-"));
  const supervisor = createSupervisor({ runtime: { ...runtime, files }, home }, counted);
  try {
    const names = Array.from({ length: 100 }, (_, at) => `echo@a/agent${at}`);
    const specs = names.map((instance) => ({ dir: plugin.dir, instance, onDemand: { idleStopMs: 60_000 } }));
    assert.deepEqual(new Set(await supervisor.registerAll(specs)), new Set([null]));
    assert.deepEqual(reads, [join(plugin.dir, "kaged-plugin.yaml")]);
    assert.deepEqual((await supervisor.startAll()).resting, names);
    assert.equal(supervisor.plugins().length, 100);
    await supervisor.wake(names[0]!, "test");
    assert.deepEqual(made, [names[0]]);
    await supervisor.call(names[7]!, "echo.pid");
    assert.deepEqual(made, [names[0], names[7]]);
    await supervisor.stopAll();
    assert.equal(made.length, 2);
  } finally {
    await supervisor.stopAll();
    await rm(home, { recursive: true, force: true });
  }
});
