import assert from "node:assert/strict";
import { mkdir, readdir, readFile, rename, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import type { AuditEvent } from "../../src/core/audit/events.ts";
import { createHost } from "../../src/create_host.ts";
import { fixturePlugin } from "../support/fixture_plugins.ts";
import { hosted } from "../support/hosted.ts";
import { scratchDir } from "../support/scratch_dir.ts";

test("K-046 start() reports what fails and what is missing, and starts the rest", async () => {
  await using h = await hosted({
    primary: { good: {}, dead: {}, absent: { source: "./plugins/absent", version: "^1" } },
    fixtures: { "@test/good": "echo", "@test/dead": "exits_on_initialize" },
    start: false,
  });
  const { running, failed, pending } = await h.host.start();
  assert.deepEqual(running, ["echo@music/primary"]);
  assert.deepEqual(failed.map(({ instance, error }) => [instance, error.code]), [
    ["absent@music/primary", "plugin.not_installed"],
    ["exits-on-initialize@music/primary", "plugin.unavailable"],
  ]);
  assert.deepEqual(pending.map(({ id: _id, error, ...request }) => ({ ...request, error: error?.code })), [{
    package: "@test/absent",
    source: "./plugins/absent",
    version: "^1",
    agents: ["primary"],
    step: "grant",
    state: "waiting",
    offer: null,
    error: "install.source_missing",
  }]);
  assert.deepEqual(h.host.plugins().map(({ key, state }) => [key, state]), [
    ["good", "running"],
    ["dead", "crashed"],
    ["absent", "refused"],
  ]);
});

test("start() a second time starts what is down and registers nothing twice", async () => {
  await using h = await hosted({ primary: { good: {} }, fixtures: { "@test/good": "echo" } });
  assert.deepEqual(await h.host.start(), { running: ["echo@music/primary"], resting: [], failed: [], pending: [] });
  await h.host.stop();
  assert.equal(h.host.plugins()[0]?.state, "stopped");
  assert.deepEqual(await h.host.start(), { running: ["echo@music/primary"], resting: [], failed: [], pending: [] });
  assert.equal(h.all("plugin.spawned").length, 2);
});

test("before start() everything is known and nothing runs", async () => {
  await using h = await hosted({
    primary: { memory: {} },
    fixtures: { "@test/memory": "answers_hooks" },
    start: false,
  });
  assert.deepEqual(
    h.host.plugins("primary").map(({ key, state, version, tools }) => [key, state, version, tools.length]),
    [
      ["memory", "stopped", "1.0.0", 2],
    ],
  );
  assert.equal(h.host.tools("primary").length, 2);
  assert.deepEqual(await h.host.openSession({ id: "ses_1" }).start("Prompt"), { systemPrompt: "Prompt", injected: [] });
  assert.equal(h.all("plugin.hook.failed").length, 1);
});

test("K-026 the second compactor of an agent is refused, audited, and not started", async () => {
  await using h = await hosted({
    primary: { one: {}, two: {} },
    fixtures: { "@test/one": "compacts", "@test/two": { fixture: "compacts", manifest: { name: "second-one" } } },
    start: false,
  });
  const { running, failed } = await h.host.start();
  assert.deepEqual([running, failed.map(({ error }) => error.code)], [
    ["compacts@music/primary"],
    ["project.second_compactor"],
  ]);
  const [violation] = h.all("plugin.role_violation");
  assert.deepEqual([violation?.name, violation?.data], ["second-one", {
    first: "compacts",
    second: "second-one",
    agent_path: "primary",
  }]);
});

test("K-033 config that does not fit is audited by side, without a value, and its plugin is left out", async () => {
  const config_schema = { type: "object", properties: { depth: { type: "integer" } }, additionalProperties: false };
  const system_config_schema = {
    type: "object",
    properties: { api_token: { type: "string" } },
    required: ["api_token"],
  };
  const picky = { fixture: "echo", manifest: { config_schema, system_config_schema } };
  await using h = await hosted({
    primary: { memory: { config: { depth: "hunter2" } } },
    fixtures: { "@test/memory": picky },
    start: false,
  });
  const { running, failed } = await h.host.start();
  assert.deepEqual([running, failed.length > 0], [[], true]);
  const refused = h.all("plugin.config_validation_failed");
  assert.deepEqual(
    refused.map(({ name, data }) => [name, data.side, data.agent_path, data.errors.map(({ path }) => path)]),
    [
      ["echo", "project", "primary", ["depth"]],
      ["echo", "system", "primary", ["api_token"]],
    ],
  );
  assert.doesNotMatch(JSON.stringify([h.events, failed]), /hunter2/);
});

test("K-032 secrets reach the plugin and nothing else", async () => {
  const system_config_schema = { type: "object", properties: { api_token: { type: "string" } } };
  const runtimeLogs: string[] = [];
  await using h = await hosted({
    local: '[plugins."@test/memory"]\napi_token = "s3cr3t"\n',
    primary: { memory: {} },
    fixtures: { "@test/memory": { fixture: "echo", manifest: { system_config_schema } } },
    onWarning: (message) => runtimeLogs.push(message),
  });
  assert.deepEqual(await h.host.callMethod("echo", "echo.config"), { api_token: "s3cr3t" });
  assert.doesNotMatch(JSON.stringify([h.events, h.host.plugins(), h.host.agents(), h.logs, runtimeLogs]), /s3cr3t/);
});

test("K-042 a manifest that is broken leaves its plugin out and names the file", async () => {
  await using h = await hosted({
    primary: { good: {}, bad: {} },
    fixtures: { "@test/good": "echo", "@test/bad": { fixture: "echo", files: { "kaged-plugin.yaml": "name: [" } } },
    start: false,
  });
  const { running, failed } = await h.host.start();
  assert.deepEqual([running, failed.map(({ instance, error }) => [instance, error.code])], [
    ["echo@music/primary"],
    [["bad@music/primary", "manifest.invalid"]],
  ]);
});

test("a project that is not there, or is broken, is an error of createHost()", async (t) => {
  const dir = await scratchDir(t);
  const options = { home: join(dir, "home"), audit: [] };
  await assert.rejects(createHost({ ...options, project: join(dir, "none") }), { code: "project.missing" });
  await assert.rejects(createHost({ ...options, project: dir }), { code: "project.missing" });
  await writeFile(join(dir, "project.yaml"), "primary:\n  plugins: [\n");
  await assert.rejects(createHost({ ...options, project: dir }), { code: "project.invalid" });
  await writeFile(join(dir, "project.yaml"), "primary: {}\n");
  await writeFile(join(dir, "home/local.toml"), "= broken");
  await assert.rejects(createHost({ ...options, project: dir }), { code: "local.invalid" });
});

test("two folders with one project id under one home are refused, whichever comes first", async (t) => {
  const root = await scratchDir(t);
  const home = join(root, "home");
  for (const name of ["a", "b"]) {
    await mkdir(join(root, name));
    await writeFile(join(root, name, "project.yaml"), "id: music\nprimary: {}\n");
  }
  const open = (name: string, at = home) => createHost({ project: join(root, name), home: at, audit: [] });
  await open("a");
  await open("a"); // The same folder, as often as one likes.
  await symlink(join(root, "a"), join(root, "link"));
  await open("link");
  await assert.rejects(open("b"), (error: { code: string; http: number; data: unknown }) => {
    assert.deepEqual([error.code, error.http], ["project.duplicate_id", 409]);
    assert.deepEqual(error.data, { id: "music", dir: join(root, "b"), other: join(root, "a") });
    return true;
  });
  await open("b", join(root, "other-home"));
  await rename(join(root, "a"), join(root, "moved"));
  await open("b"); // What was moved away no longer counts.
  await assert.rejects(open("moved"), { code: "project.duplicate_id" });
  await writeFile(join(root, "b/project.yaml"), "id: songs\nprimary: {}\n");
  await open("moved");
  assert.deepEqual((await readdir(join(home, "run/projects"))).sort(), ["music.json"]);
});

test("K-059 the audit is kept in the operator's folder, by project", async (t) => {
  const root = await scratchDir(t);
  await mkdir(join(root, "music"));
  await writeFile(join(root, "music/project.yaml"), 'primary: { plugins: { e: { package: "@test/e" } } }\n');
  await using plugin = await fixturePlugin("echo");
  const home = join(root, "home");
  {
    await using host = await createHost({ project: join(root, "music"), home, plugins: { "@test/e": plugin.dir } });
    await host.start();
  }
  const lines = (await readFile(join(home, "audit/music.jsonl"), "utf8")).trim().split("\n");
  const types = lines.map((line) => (JSON.parse(line) as AuditEvent).type);
  assert.deepEqual(types, ["plugin.spawned", "plugin.initialized", "plugin.stopped"]);
});
