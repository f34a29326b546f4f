import assert from "node:assert/strict";
import { test } from "node:test";
import { supervised } from "../../support/supervised.ts";

test("K-010 a new config reaches a running plugin, and outlives its process", async () => {
  await using s = await supervised();
  const echo = await s.add("echo", { spec: { config: { level: 1 } } });
  await s.supervisor.start(echo);
  await s.supervisor.updateConfig(echo, { level: 2 });
  assert.deepEqual(await s.supervisor.call(echo, "echo.config"), { level: 2 });
  await assert.rejects(s.supervisor.call(echo, "echo.exit", { code: 1 }));
  await s.pass(1_000);
  await s.next("plugin.initialized");
  await s.next("plugin.initialized");
  assert.deepEqual(await s.supervisor.call(echo, "echo.config"), { level: 2 });
});

test("a config given to a plugin that is down is what its next start brings", async () => {
  await using s = await supervised();
  const echo = await s.add("echo", { spec: { config: { level: 1 } } });
  await s.supervisor.updateConfig(echo, { level: 2 });
  await s.supervisor.start(echo);
  assert.deepEqual(await s.supervisor.call(echo, "echo.config"), { level: 2 });
});

test("K-011 a config the plugin refuses changes nothing, now or later", async () => {
  await using s = await supervised();
  const id = await s.add("picky_config", { spec: { config: { level: 1 } } });
  await s.supervisor.start(id);
  await assert.rejects(s.supervisor.updateConfig(id, { level: 9 }), { code: "plugin.config_invalid", rpc: -32004 });
  assert.deepEqual(await s.supervisor.call(id, "fixture.call"), { level: 1 });
  await s.supervisor.stop(id);
  await s.supervisor.start(id);
  assert.deepEqual(await s.supervisor.call(id, "fixture.call"), { level: 1 });
});

test("a plugin that takes no config is audited when it is given some", async () => {
  await using s = await supervised();
  const id = await s.add("no_config");
  await s.supervisor.start(id);
  await s.supervisor.updateConfig(id, {});
  assert.ok(!s.types().includes("plugin.config_rejected"));
  await s.supervisor.updateConfig(id, { level: 2 });
  assert.equal((await s.next("plugin.config_rejected")).data.error_code, -32601);
});

test("K-011 a plugin with the feature hears of its projects when it is up and before it goes", async () => {
  await using s = await supervised();
  const id = await s.add("hears_projects", { spec: { projects: ["music"], config: { level: 1 } } });
  await s.supervisor.start(id);
  assert.deepEqual(await s.supervisor.call(id, "fixture.call"), {
    heard: [{ method: "projects.activated", params: { project: "music", config: { level: 1 } } }],
  });
  await s.supervisor.stop(id);
  assert.deepEqual(s.logs.map(({ line }) => line), [
    'projects.activated {"project":"music","config":{"level":1}}',
    'projects.deactivated {"project":"music"}',
  ]);
});

test("a plugin without the feature hears nothing of projects", async () => {
  await using s = await supervised();
  const echo = await s.add("echo", { spec: { projects: ["music"] } });
  await s.supervisor.start(echo);
  assert.deepEqual(await s.supervisor.call(echo, "echo.notifications"), ["initialized"]);
});

test("K-011 a plugin that is written to the document is asked about its projects, and need not answer", async () => {
  await using s = await supervised();
  const id = await s.add("asked_of_projects", { spec: { projects: ["music", "homelab"], config: { level: 1 } } });
  await s.supervisor.start(id);
  assert.deepEqual(await s.supervisor.call(id, "fixture.call"), {
    heard: ["music", "homelab"].map((project) => {
      return { method: "projects.activated", params: { project, config: { level: 1 } }, asked: true };
    }),
  });
  for (const fixture of ["echo", "never_answers"]) {
    const other = await s.add(fixture, { spec: { projects: ["music"] } });
    await s.supervisor.start(other);
    assert.equal(s.supervisor.plugin(other).status, "running", "a plugin that refuses or ignores it runs on");
  }
  assert.deepEqual(s.types().filter((type) => /violation|timeout|crashed/.test(type)), []);
});
