import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { createConsoleLogger, createFileLogger } from "../../src/addons/mod.ts";
import type { HostError } from "../../src/core/errors/host_error.ts";
import { createHost } from "../../src/create_host.ts";
import { createEmitter } from "../../src/events/mod.ts";
import type { HostOptions } from "../../src/host/types.ts";
import { scratchDir } from "../support/scratch_dir.ts";

const emitter = createEmitter({ level: "trace", clock: Date });
const wrong = (value: unknown) => value as never;

test("T-002 T-012 a wrong level or format is an error that names what may be passed", () => {
  assert.throws(() => createEmitter({ level: wrong("verbose"), clock: Date }), {
    name: "TypeError",
    message: 'There is no level "verbose" of events: pass "summary" or "trace"',
  });
  assert.throws(() => createEmitter({ level: "trace", clock: Date, maxWaiting: 0 }), RangeError);
  assert.throws(() => createConsoleLogger(emitter, { format: wrong("xml") }), {
    code: "addons.invalid_option",
    hint: 'Pass "pretty" or "json"',
  });
  assert.throws(() => createConsoleLogger(emitter, wrong({ formt: "json" })), { hint: 'Did you mean "format"?' });
  for (const options of [{ rotation: "weekly" }, { rotation: {} }, { maxWaiting: "8mb" }, { onWarning: "print" }]) {
    assert.throws(() => createFileLogger(emitter, wrong({ dir: "logs", ...options })), {
      code: "addons.invalid_option",
    });
  }
});

test("T-002 createHost() refuses an option that there is not and one that cannot have its value, all at once", async (t) => {
  const project = await scratchDir(t);
  await writeFile(join(project, "project.yaml"), "primary: {}\n");
  const create = (options: object) =>
    createHost({ project, home: join(project, "home"), control: false, ...options } as HostOptions);
  const cases: readonly (readonly [object, readonly string[]])[] = [
    [{ events: { level: "verbose" } }, ["events.level"]],
    [{ events: "trace" }, ["events"]],
    [{ evnets: {}, idleWindowMs: -5, limits: { memory: 5 } }, ["evnets", "idleWindowMs", "limits.memory"]],
    [{ mcp: { offers: ["everything"] } }, ["mcp.offers"]],
    [{ plugins: ["./notes"], waitUntil: true }, ["plugins", "waitUntil"]],
  ];
  for (const [options, expected] of cases) {
    await assert.rejects(create(options), (error: HostError) => {
      assert.equal(error.code, "host.option_invalid");
      const { issues } = error.data as { issues: { option: string }[] };
      assert.deepEqual(issues.map(({ option }) => option), expected);
      return true;
    });
  }
  const host = await create({ events: {}, home: join(project, "home"), onLog: undefined });
  await host.stop();
});
