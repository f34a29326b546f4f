import assert from "node:assert/strict";
import { access, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { detectRuntime } from "../../../src/adapters/default.ts";
import { createStorage } from "../../../src/core/storage/storage.ts";
import type { SupervisorOptions } from "../../../src/core/supervisor/types.ts";
import { SDK_JS } from "../../../src/cli/generated/sdk_source.ts";
import { canUseTerminal, onTerminal } from "../../support/pty.ts";
import { runKaged } from "../../support/run_kaged.ts";
import { requireOrSkip } from "../../support/require_or_skip.ts";
import { scratchDir } from "../../support/scratch_dir.ts";
import { supervised } from "../../support/supervised.ts";
import { fixturePlugin } from "../../support/fixture_plugins.ts";
import { guideBlock } from "../../docs/support/guides.ts";

const canCage = (): Promise<boolean> => access("/usr/bin/bwrap").then(() => true, () => false);
const WRITES = { capabilities: ["kaged:storage:write"] };

test("a plugin in its cage uses storage over the wire, and a refusal reaches the supervisor's audit (K-057)", async (t) => {
  if (!await requireOrSkip(t, "bubblewrap", canCage, "install bubblewrap")) return;
  const home = await scratchDir(t);
  await using storage = createStorage({ runtime: await detectRuntime(), home });
  const onRequest: SupervisorOptions["onRequest"] = (client, request, audit) => storage.handle(client, request, audit);
  await using s = await supervised({ onRequest, storageAvailable: true });
  const instance = await s.add("echo", { manifest: WRITES });
  await s.supervisor.start(instance);
  const ask = (method: string, statement: object) =>
    s.supervisor.call(instance, "echo.storage", { method, ...statement });
  await ask("exec", { sql: "CREATE TABLE t(a)" });
  await ask("exec", { sql: "INSERT INTO t VALUES (?)", values: [7] });
  const answer = JSON.stringify(await ask("query", { sql: "SELECT a FROM t" }));
  assert.match(answer, /"rows":\[\{"a":7\}\]/);
  const refused = JSON.stringify(await ask("query", { sql: "SELECT * FROM sqlite_schema" }));
  assert.match(refused, /-32003/);
  const { data } = await s.next("plugin.storage_denied");
  assert.deepEqual(data, { sql: "SELECT * FROM sqlite_schema", reason: 'Cannot use the name "sqlite_schema"' });
});

test("the plugin of docs/storage.md keeps its rows from one kaged plugin call to the next; info and export show them", async (t) => {
  if (!await requireOrSkip(t, "bubblewrap", canCage, "install bubblewrap")) return;
  const home = await scratchDir(t);
  await using plugin = await fixturePlugin("echo", {
    manifest: {
      ...WRITES,
      name: "notes",
      version: "0.1.0",
      command: ["js", "./notes.mjs"],
      methods: ["notes.add", "notes.list"],
      notifications: [],
    },
    files: { "notes.mjs": await guideBlock("docs/storage.md", "js"), "kaged_sdk.js": SDK_JS },
  });
  const call = async (...args: string[]) => {
    const { code, stdout, stderr } = await runKaged(["plugin", ...args, "--home", home, "--json"]);
    assert.deepEqual([code, stderr], [0, ""], stdout);
    return JSON.parse(stdout);
  };
  assert.deepEqual(await call("call", plugin.dir, "notes.add", '{"text":"red"}'), { result: { id: 1 } });
  assert.deepEqual(await call("call", plugin.dir, "notes.add", '{"text":"blue"}'), { result: { id: 2 } });
  const rows = [{ id: 1, body: "red" }, { id: 2, body: "blue" }];
  assert.deepEqual(await call("call", plugin.dir, "notes.list"), { result: rows });
  const storage = { tables: [{ name: "notes", rows: 2, bytes: 4096 }], bytes: 4096 };
  await writeFile(join(home, "config.toml"), "[plugin_limits.notes]\nmemory_mb = 700\n");
  const { limits: { tier, ...limits }, ...info } = await call("info", "notes");
  assert.deepEqual(info, { name: "notes", installed: null, running: [], storage, pins: null });
  assert.deepEqual(limits, { memory_mb: 700, cpu_shares: 256, pids: 100 });
  assert.match(tier, /^(cgroup2|systemd|cgroup1|watchdog)$/);
  const file = `${home}/out.sqlite`;
  assert.deepEqual(await call("export", "notes", "-o", file), { file, tables: ["notes"] });
  if (!await canUseTerminal(t)) return;
  const terminal = await onTerminal(["plugin", "export", "notes", "-o", `${home}/again.sqlite`, "--home", home], []);
  assert.equal(terminal.code, 0);
  assert.match(terminal.shown, /Written[^]*again\.sqlite: notes/);
  const twice = await onTerminal(["plugin", "export", "notes", "-o", file, "--home", home], []);
  assert.match(twice.shown, /Not written[^]*error\[/);
});

test("kaged plugin info and export report a wrong name, home and file", async (t) => {
  const home = await scratchDir(t);
  const nothing = await runKaged(["plugin", "info", "notes", "--home", home]);
  assert.deepEqual([nothing.code, nothing.stdout], [1, ""]);
  assert.match(nothing.stderr, /^error\[plugin\.unknown\]: No plugin "notes" is known here/);
  const badName = await runKaged(["plugin", "info", "Notes_1", "--home", home]);
  assert.match(badName.stderr, /^error\[host\.misuse\]: "Notes_1" is no name of a plugin/);
  const noFile = await runKaged(["plugin", "export", "notes"]);
  assert.equal(noFile.code, 2);
});
