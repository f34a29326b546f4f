/**
 * Promises that were broken to servers and clients of the real world.
 */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { fixturePlugin } from "../support/fixture_plugins.ts";
import { canCage } from "../support/hook_repo.ts";
import { hosted } from "../support/hosted.ts";
import { hasPython } from "../support/python_plugin.ts";
import { runKaged } from "../support/run_kaged.ts";
import { scratchDir } from "../support/scratch_dir.ts";
import { until } from "../support/until.ts";

const BLOCKED = `
import threading
from kaged_sdk import Plugin
plugin = Plugin("echo", "1.0.0")
@plugin.method("echo.line")
def wait(params, context):
    threading.Event().wait()
plugin.method("echo.pid")(lambda params, context: "quick")
plugin.start()
`;

// All eight threads of the SDK waited for ever; it answered pings and no call, and was never started again.
test("N-016 a Python plugin whose threads all wait is started again, although it answers pings", async (t) => {
  if (!await hasPython(t) || !await canCage(t)) return;
  const sdk = await readFile(new URL("../../sdk/python/kaged_sdk.py", import.meta.url), "utf8");
  const manifest = { command: ["python3", "-B", "./plugin.py"], methods: ["echo.line", "echo.pid"] };
  const files = { "plugin.py": BLOCKED, "kaged_sdk.py": sdk };
  await using h = await hosted({
    primary: { echo: {} },
    fixtures: { "@test/echo": { fixture: "echo", manifest: { ...manifest, notifications: [] }, files } },
  });
  const call = (method: string) => h.host.callMethod("echo", method, {}, { timeoutMs: 1_000 });
  const calls = [...Array.from({ length: 8 }, () => call("echo.line")), call("echo.pid")];
  const ends = Promise.all(calls.map((one) => assert.rejects(one, { code: "protocol.timeout" })));
  await h.pass(1_000);
  await ends;
  // It may need its SIGKILL, 2 s after SIGTERM; at no other time does the clock move, or pings would time out.
  const isEnded = () => {
    if (h.clock.isDueIn(2_000)) h.clock.advance(2_000);
    return h.all("plugin.crashed").length === 1;
  };
  await until(isEnded, "the end of the plugin that is stuck", "moment", 4_000);
  await h.pass(1_000); // The wait before a restart.
  await until(() => h.all("plugin.initialized").length === 2, "the second start of the plugin");
  assert.equal(await call("echo.pid"), "quick");
});

// Nothing said which grant was missing where a plugin had no net: grant at all, and 127.0.0.1 became localhost.
test("N-021 kaged plugin check --trace lists the host that a plugin without any net: grant asked for, as a grant that works", async (t) => {
  if (!await canCage(t)) return;
  await using plugin = await fixturePlugin("fetches");
  const home = await scratchDir(t);
  const urls = ["https://api.example.com/x", "http://127.0.0.1:9211/x"];
  const asked = urls.flatMap((url) => ["--call", `fixture.call=${JSON.stringify({ url })}`]);
  const { stdout } = await runKaged(["plugin", "check", plugin.dir, "--trace", ...asked, "--home", home, "--json"]);
  const { denied } = JSON.parse(stdout).trace as { denied: { kind: string; capability: string }[] };
  const grants = denied.filter(({ kind }) => kind === "net").map(({ capability }) => capability);
  assert.deepEqual(grants.toSorted(), ["net:127.0.0.1:9211", "net:api.example.com:443"]);
});
