/**
 * A plugin whose calls keep timing out is started again, although it answers pings.
 */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { SDK_PY } from "../../../src/cli/generated/python_sdk_source.ts";
import { hostLimits } from "../../../src/host/host_limits.ts";
import { hasPython } from "../../support/python_plugin.ts";
import { scratchDir } from "../../support/scratch_dir.ts";
import { type Supervised, supervised } from "../../support/supervised.ts";

/** Lets one call time out. */
async function timeOut(s: Supervised, id: string, method = "fixture.call"): Promise<void> {
  const call = s.supervisor.call(id, method, {}, { timeoutMs: 1_000 });
  await s.pass(1_000);
  await assert.rejects(call, { code: "protocol.timeout" });
}

test("N-016 a plugin whose third call in a row times out is stuck: it is ended and started again", async () => {
  await using s = await supervised();
  const id = await s.add("never_answers");
  await s.supervisor.start(id);
  await timeOut(s, id);
  await timeOut(s, id);
  assert.deepEqual(await s.supervisor.call(id, "ping"), { status: "ok" });
  assert.equal(s.supervisor.plugin(id).status, "running");
  const open = s.supervisor.call(id, "fixture.call", {}, { timeoutMs: 60_000 });
  const refused = assert.rejects(open, { code: "plugin.unavailable", message: /is stuck: 3 calls in a row timed out/ });
  await timeOut(s, id);
  const { data } = await s.next("plugin.stuck");
  assert.deepEqual(data, { timeouts: 3, last_method: "fixture.call", timeout_ms: 1_000 });
  await refused;
  assert.equal((await s.next("plugin.crashed")).data.reason, "plugin.unavailable");
  await s.next("plugin.initialized");
  await s.pass(1_000); // The wait before a restart.
  await s.next("plugin.initialized");
  assert.equal(s.supervisor.plugin(id).restarts, 1);
  assert.equal(s.types(id).filter((type) => type === "plugin.stuck").length, 1);
});

test("calls that time out together count one by one, and one event reports them", async () => {
  await using s = await supervised();
  const id = await s.add("never_answers");
  await s.supervisor.start(id);
  const calls = Array.from({ length: 8 }, () => s.supervisor.call(id, "fixture.call", {}, { timeoutMs: 1_000 }));
  const ends = Promise.all(calls.map((call) => assert.rejects(call)));
  await s.pass(1_000);
  await ends;
  assert.equal((await s.next("plugin.stuck")).data.timeouts, 3);
  await s.next("plugin.crashed");
  assert.equal(s.types(id).filter((type) => type === "plugin.stuck").length, 1);
});

test("a call that is answered, even late or with an error, begins the count of time-outs anew", async () => {
  await using s = await supervised();
  const id = await s.add("honours_cancel"); // It answers a call that was cancelled with an error, after its time-out.
  await s.supervisor.start(id);
  for (let count = 0; count < 5; count++) {
    await timeOut(s, id);
    await s.supervisor.call(id, "fixture.cancelled"); // Behind that answer on the wire.
  }
  assert.deepEqual([s.supervisor.plugin(id).status, s.types(id).includes("plugin.stuck")], ["running", false]);
});

test("[limits] timeouts sets after how many a plugin is stuck, and [plugin_limits] for one of them", async () => {
  const { maxTimeouts } = hostLimits({}, {
    limits: { timeouts: 5 },
    pluginLimits: { "never-answers": { timeouts: 1 } },
  });
  assert.deepEqual([maxTimeouts("notes"), maxTimeouts("never-answers")], [5, 1]);
  assert.equal(hostLimits({}, { limits: {}, pluginLimits: {} }).maxTimeouts("notes"), 3);
  await using s = await supervised({ maxTimeouts });
  const id = await s.add("never_answers");
  await s.supervisor.start(id);
  await timeOut(s, id);
  assert.equal((await s.next("plugin.stuck")).data.timeouts, 1);
});

const BLOCKED = `
import threading
from kaged_sdk import Plugin
plugin = Plugin("blocked", "1.0.0")
@plugin.method("blocked.wait")
def wait(params, context):
    threading.Event().wait()
plugin.method("blocked.quick")(lambda params, context: "quick")
plugin.start()
`;

test("a Python plugin whose threads all wait is started again, and answers then", async (t) => {
  if (!await hasPython(t)) return;
  const dir = await scratchDir(t);
  const manifest = {
    name: "blocked",
    version: "1.0.0",
    kaged_api: 1,
    description: "Waits for ever in every thread",
    command: ["python3", "-B", "./plugin.py"],
    capabilities: [],
    methods: ["blocked.wait", "blocked.quick"],
  };
  await writeFile(join(dir, "kaged-plugin.yaml"), JSON.stringify(manifest));
  await writeFile(join(dir, "kaged_sdk.py"), SDK_PY);
  await writeFile(join(dir, "plugin.py"), BLOCKED);
  await using s = await supervised({ maxTimeouts: () => 9 });
  const { instance: id } = await s.supervisor.register({ dir });
  await s.supervisor.start(id);
  await s.next("plugin.initialized");
  assert.equal(await s.supervisor.call(id, "blocked.quick"), "quick");
  // Eight threads, each in a call that never ends; the ninth call finds none.
  const calls = Array.from({ length: 8 }, () => s.supervisor.call(id, "blocked.wait", {}, { timeoutMs: 1_000 }));
  const ends = Promise.all(calls.map((call) => assert.rejects(call, { code: "protocol.timeout" })));
  await s.pass(1_000);
  await ends;
  assert.deepEqual(await s.supervisor.call(id, "ping"), { status: "ok" });
  await timeOut(s, id, "blocked.quick");
  assert.equal((await s.next("plugin.stuck")).data.last_method, "blocked.quick");
  await s.pass(2_000); // SIGKILL: its threads keep it from ending.
  await s.next("plugin.crashed");
  await s.pass(1_000);
  await s.next("plugin.initialized");
  assert.equal(await s.supervisor.call(id, "blocked.quick"), "quick");
});
