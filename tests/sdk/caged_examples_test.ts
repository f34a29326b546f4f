import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { detectRuntime } from "../../src/adapters/default.ts";
import { createStorage } from "../../src/core/storage/storage.ts";
import { requireOrSkip } from "../support/require_or_skip.ts";
import { scratchDir } from "../support/scratch_dir.ts";
import { supervised } from "../support/supervised.ts";

const exampleDir = (name: string): string => fileURLToPath(new URL(`../../examples/plugins/${name}`, import.meta.url));

const context = { project_id: "music", agent_path: "primary", session_id: "ses_1" };

test("K-043 hello-bash finds bash and jq in its cage, and nothing else", async (t) => {
  const tools = existsSync("/usr/bin/bwrap") && existsSync("/usr/bin/jq");
  if (!await requireOrSkip(t, "bubblewrap and jq", tools, "install the packages bubblewrap and jq")) return;
  await using host = await supervised();
  await host.supervisor.register({ dir: exampleDir("hello-bash"), config: { greeting: "Hi" } });
  await host.supervisor.start("hello-bash");
  const greeted = await host.supervisor.call("hello-bash", "hello-bash.greet", { name: "Ada" }, { context });
  assert.deepEqual(greeted, { text: "Hi, Ada!", agent: "primary" });
  assert.deepEqual(host.logs.map(({ line }) => line), ["greeting number 1"]);
  await host.supervisor.stop("hello-bash");
  assert.equal((await host.next("plugin.stopped")).data.exit_code, 0);
});

test("K-043 hello-python finds python3 and its library in its cage", async (t) => {
  const tools = existsSync("/usr/bin/bwrap") && existsSync("/usr/bin/python3");
  if (!await requireOrSkip(t, "bubblewrap and python3", tools, "install the packages bubblewrap and python3")) return;
  await using host = await supervised();
  const heard: unknown[] = [];
  host.supervisor.onNotification(({ method, params }) => heard.push([method, params]));
  await host.supervisor.register({ dir: exampleDir("hello-python") });
  await host.supervisor.start("hello-python");
  assert.deepEqual(await host.supervisor.call("hello-python", "hello.greet", { name: "Ada" }), { text: "Hello, Ada!" });
  assert.deepEqual(heard, [["hello.greeted", { name: "Ada" }]]);
  await host.supervisor.stop("hello-python");
  assert.equal((await host.next("plugin.stopped")).data.exit_code, 0);
});

test("K-065 tasks, with the Python SDK, keeps its rows in the host's storage and reminds new sessions", async (t) => {
  const tools = existsSync("/usr/bin/bwrap") && existsSync("/usr/bin/python3");
  if (!await requireOrSkip(t, "bubblewrap and python3", tools, "install the packages bubblewrap and python3")) return;
  await using storage = createStorage({ runtime: await detectRuntime(), home: await scratchDir(t) });
  await using host = await supervised({
    storageAvailable: true,
    onRequest: (client, request, audit) => storage.handle(client, request, audit),
  });
  const heard: unknown[] = [];
  host.supervisor.onNotification(({ method, params }) => heard.push([method, params]));
  await host.supervisor.register({ dir: exampleDir("tasks"), config: { max_injected: 1 } });
  await host.supervisor.start("tasks");
  const call = (method: string, params: Record<string, unknown>): Promise<unknown> =>
    host.supervisor.call("tasks", method, params, { context });
  assert.equal(await call("kaged.hook.on_session_start", {}), null);
  assert.deepEqual(await call("tasks.import", { titles: ["Mix", "Master"] }), { added: 2 });
  assert.deepEqual(await call("tasks.add", { title: "Grüße", due: "2030-01-31" }), { id: 3 });
  assert.deepEqual(await call("kaged.hook.on_session_start", {}), {
    inject: "Open tasks:\n- 3: Grüße (due 2030-01-31)\n- and 2 more",
  });
  assert.deepEqual(await call("tasks.done", { id: 3 }), { finished: "Grüße" });
  assert.deepEqual(heard, [["tasks.finished", { id: 3, title: "Grüße" }]]);
  await assert.rejects(call("tasks.done", { id: 3 }), /No open task has the number 3/);
  await assert.rejects(call("tasks.add", { title: "x", due: "soon" }), { rpc: -32602 });
  assert.deepEqual(await call("tasks.list", {}), {
    tasks: [{ id: 1, title: "Mix", due: null }, { id: 2, title: "Master", due: null }],
  });
  assert.deepEqual(host.supervisor.plugin("tasks").features, ["cancel", "progress", "projects"]);
  await host.supervisor.stop("tasks");
  assert.equal((await host.next("plugin.stopped")).data.exit_code, 0);
});

test("K-058 notes runs in its cage on the runtime of the host", async (t) => {
  const bwrap = existsSync("/usr/bin/bwrap");
  if (!await requireOrSkip(t, "bubblewrap", bwrap, "install the package bubblewrap")) return;
  await using host = await supervised();
  const info = await host.supervisor.register({ dir: exampleDir("notes"), config: { max_injected: 1 } });
  assert.deepEqual(info.manifest.knobs.max_injected?.binds_to, "config.max_injected");
  await host.supervisor.start("notes");
  assert.deepEqual(await host.supervisor.call("notes", "notes.add", { text: "Uses Bun" }, { context }), { count: 1 });
  assert.deepEqual(await host.supervisor.call("notes", "kaged.hook.on_session_start", {}, { context }), {
    inject: "Notes so far:\n- Uses Bun",
  });
  assert.deepEqual(host.supervisor.plugin("notes").features, ["cancel", "progress", "projects"]);
  await host.supervisor.stop("notes");
  assert.equal((await host.next("plugin.stopped")).data.exit_code, 0);
});
