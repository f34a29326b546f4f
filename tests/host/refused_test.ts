import assert from "node:assert/strict";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import type { HostError } from "../../src/core/errors/host_error.ts";
import { changePlugin, fixturePlugin } from "../support/fixture_plugins.ts";
import { type Hosted, hosted } from "../support/hosted.ts";
import { putInstalled } from "../support/installed.ts";
import { FAULTS, FAULTY } from "../support/refused_plugins.ts";

const REFUSED = FAULTS.filter(([, , state]) => state === "refused");
const at = { agent: "primary", session: "ses_1" };
const stateOf = (h: Hosted, plugin: string): unknown =>
  h.host.plugins().filter((one) => one.plugin === plugin).map(({ state, error }) => [state, error?.code ?? null]);

test("N-014 K-042 every plugin that a project declares is listed, with the reason where the host refuses it", async () => {
  await using h = await hosted({ ...FAULTY, start: false });
  const { running, failed } = await h.host.start();
  assert.deepEqual(running.toSorted(), ["compacts@music/primary", "echo@music/primary"]);
  assert.deepEqual(
    failed.map(({ instance, error }) => [instance.split("@")[0], error.code]).toSorted(),
    REFUSED.map(([, plugin, , code]) => [plugin, code]).toSorted(),
  );
  const rows = h.host.plugins("primary");
  assert.deepEqual(
    rows.map(({ key, plugin, state, error }) => [key, plugin, state, error?.code ?? null]),
    FAULTS,
  );
  assert.deepEqual(h.host.agents()[0]?.plugins, FAULTS.map(([key]) => key));
  const all = h.host.plugins();
  assert.deepEqual(all.map(({ plugin }) => plugin).toSorted(), FAULTS.map(([, plugin]) => plugin).toSorted());
  assert.equal(new Set(all.map(({ instance }) => instance)).size, all.length);
});

test("K-042 K-059 each refused plugin leaves an event with its reason, at the first start and not again", async () => {
  await using h = await hosted(FAULTY);
  const told = () => h.all("plugin.refused").map(({ name, data }) => [name, data.error_code, data.agent_path]);
  assert.deepEqual(told().toSorted(), REFUSED.map(([, plugin, , code]) => [plugin, code, "primary"]).toSorted());
  assert.match(h.all("plugin.refused").find(({ name }) => name === "unread")!.data.error_message, /API version: 7/);
  assert.deepEqual(h.all("plugin.role_violation").map(({ name }) => name), ["second-one"]);
  assert.deepEqual(h.all("plugin.config_validation_failed").map(({ name, data }) => [name, data.side]), [
    ["bad-config", "project"],
    ["no-secret", "system"],
  ]);
  await h.host.stop();
  await h.host.start();
  assert.equal(told().length, REFUSED.length);
  assert.doesNotMatch(JSON.stringify([h.events, h.host.plugins()]), /hunter2/);
});

test("a call of a refused plugin's tool or method answers with the reason", async () => {
  await using h = await hosted(FAULTY);
  h.host.openSession({ id: "ses_1" });
  const isWhy = (code: string | null, words: RegExp) => (error: HostError) => {
    assert.deepEqual([error.code, (error.data as { reason: string }).reason], ["plugin.refused", code]);
    return words.test(error.message);
  };
  const line =
    /project\.yaml:8:16: .*depth: Expected integer, got string; line 9: colour: Expected string, got number$/;
  await assert.rejects(h.host.callTool("bad-config.look", {}, at), isWhy("project.config_invalid", line));
  await assert.rejects(h.host.callTool("bad-config__look", {}, at), isWhy("project.config_invalid", line));
  await assert.rejects(h.host.callMethod("bad-config", "fixture.call"), isWhy("project.config_invalid", line));
  await assert.rejects(h.host.callMethod("unread", "unread.x"), isWhy("manifest.invalid", /API version: 7/));
  await assert.rejects(h.host.callMethod("no-secret", "x", {}, at), isWhy("project.config_invalid", /api_token/));
  await assert.rejects(h.host.setKnob("primary", "config", "k", 1), isWhy("project.config_invalid", line));
  await assert.rejects(h.host.enable("second-one"), isWhy("project.second_compactor", /has a compactor already/));
  await assert.rejects(h.host.callTool("nobody.look", {}, at), { code: "tool.unknown" });
  await assert.rejects(h.host.callMethod("nobody", "x"), { code: "plugin.unknown" });
});

test("K-070 a refused plugin runs once its cause is mended and it is reloaded, whatever the cause was", async () => {
  await using h = await hosted(FAULTY);
  await assert.rejects(h.host.reload("unread"), { code: "plugin.refused", message: /API version: 7/ });
  const dir = h.host.view.plugin("bad-config").dir!;
  await changePlugin(dir, { manifest: { config_schema: { type: "object" } } });
  await h.host.reload("bad-config");
  assert.deepEqual(stateOf(h, "bad-config"), [["running", null]]);
  await writeFile(join(h.home, "local.toml"), '[plugins."@test/no-secret"]\napi_token = "abc"\n');
  await h.host.restart("no-secret");
  assert.deepEqual(stateOf(h, "no-secret"), [["running", null]]);
  assert.equal(h.all("plugin.refused").length, REFUSED.length);
});

test("K-070 a plugin whose config a reload makes invalid is refused, listed and audited, until another mends it", async () => {
  const config_schema = { type: "object", properties: { depth: { type: "integer" } } };
  const yaml = (depth: unknown) =>
    JSON.stringify({ primary: { plugins: { a: { package: "@test/a", config: { depth } } } } });
  await using h = await hosted({
    yaml: yaml(1),
    fixtures: { "@test/a": { fixture: "echo", manifest: { config_schema } } },
  });
  await writeFile(join(h.dir, "project.yaml"), yaml("deep"));
  await assert.rejects(h.host.reload("echo"), { code: "plugin.reload_failed" });
  assert.deepEqual(stateOf(h, "echo"), [["running", "plugin.reload_failed"]]);
  assert.equal(h.all("plugin.refused").length, 0);
  await h.host.reload();
  assert.deepEqual(stateOf(h, "echo"), [["refused", "project.config_invalid"]]);
  assert.deepEqual(h.all("plugin.refused").map(({ name, instance }) => [name, instance]), [
    ["echo", "echo@music/primary"],
  ]);
  await assert.rejects(h.host.restart("echo"), { code: "plugin.refused" });
  assert.equal(h.all("plugin.refused").length, 1);
  await writeFile(join(h.dir, "project.yaml"), yaml(2));
  await h.host.reload();
  assert.deepEqual(stateOf(h, "echo"), [["running", null]]);
  assert.deepEqual(await h.host.callMethod("echo", "echo.config"), { depth: 2 });
  await writeFile(join(h.dir, "project.yaml"), yaml("deep"));
  await assert.rejects(h.host.restart("echo"), { code: "plugin.refused", message: /depth/ });
  assert.deepEqual(stateOf(h, "echo"), [["refused", "project.config_invalid"]]);
});

test("K-070 a plugin that goes on while its manifest cannot be read says so, and leaves an event", async () => {
  await using h = await hosted({
    primary: { a: {}, b: {} },
    fixtures: { "@test/a": "echo", "@test/b": "answers_hooks" },
  });
  const dir = h.host.view.plugin("echo").dir!;
  await changePlugin(dir, { manifest: { kaged_api: 7 as never } });
  await h.host.reload();
  assert.deepEqual(stateOf(h, "echo"), [["running", "plugin.reload_failed"]]);
  assert.deepEqual(h.all("plugin.reload_failed").map(({ name, data }) => [name, data.error_code]), [
    ["echo", "manifest.invalid"],
  ]);
  await h.host.reload();
  assert.equal(h.all("plugin.reload_failed").length, 1);
  await changePlugin(dir, { manifest: { kaged_api: 1 } });
  await h.host.reload();
  assert.deepEqual(stateOf(h, "echo"), [["running", null]]);
});

test("a refused plugin can be disabled, also when its files are gone", async () => {
  await using h = await hosted(FAULTY);
  await rm(h.host.view.plugin("bad-config").dir!, { recursive: true });
  await assert.rejects(h.host.reload("bad-config"), { code: "plugin.refused", message: /kaged-plugin\.yaml/ });
  await h.host.disable("bad-config");
  assert.deepEqual(stateOf(h, "bad-config"), [["refused", "manifest.missing"]]);
});

test("K-042 a plugin whose manifest breaks before the host starts is refused too, and starts once it is mended", async () => {
  await using h = await hosted({ primary: { a: {} }, fixtures: { "@test/a": "echo" }, start: false });
  const dir = h.host.view.plugin("echo").dir!;
  await changePlugin(dir, { manifest: { kaged_api: 7 as never } });
  const { failed } = await h.host.start();
  assert.deepEqual(failed.map(({ instance, error }) => [instance, error.code]), [
    ["echo@music/primary", "manifest.invalid"],
  ]);
  assert.deepEqual(stateOf(h, "echo"), [["refused", "manifest.invalid"]]);
  assert.deepEqual(h.all("plugin.refused").map(({ name, data }) => [name, data.error_code]), [
    ["echo", "manifest.invalid"],
  ]);
  await changePlugin(dir, { manifest: { kaged_api: 1 } });
  await h.host.reload("echo");
  assert.deepEqual(stateOf(h, "echo"), [["running", null]]);
});

test("K-063 a plugin of the operator's that no agent declares is refused in sight when its secret is missing", async () => {
  const system_config_schema = { type: "object", properties: { token: { type: "string" } }, required: ["token"] };
  await using plugin = await fixturePlugin("echo", { manifest: { system_config_schema } });
  await using h = await hosted({ start: false });
  await putInstalled(h.home, "echo", plugin.dir, "local = true\nenabled = true");
  await h.host.start();
  await h.host.reload();
  const [row] = h.host.plugins();
  assert.deepEqual([row?.instance, row?.key, row?.agents, row?.state], ["echo", null, [], "refused"]);
  assert.deepEqual(h.all("plugin.refused").map(({ instance, data }) => [instance, data.agent_path]), [["echo", ""]]);
  await assert.rejects(h.host.callMethod("echo", "echo.pid"), { code: "plugin.refused", message: /token/ });
  const local = await readFile(join(h.home, "local.toml"), "utf8");
  await writeFile(join(h.home, "local.toml"), `${local}token = "abc"\n`);
  await h.host.reload("echo");
  assert.deepEqual(stateOf(h, "echo"), [["running", null]]);
});
