import assert from "node:assert/strict";
import { cp, mkdir, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { detectRuntime } from "../../src/adapters/default.ts";
import type { HostError } from "../../src/core/errors/host_error.ts";
import type { Manifest } from "../../src/core/manifest/manifest.ts";
import { readLocalConfig } from "../../src/core/project/local_config.ts";
import { createHost } from "../../src/create_host.ts";
import type { Host } from "../../src/host/types.ts";
import { changeGrants } from "../../src/packages/install/change_installed.ts";
import { fixturePlugin } from "../support/fixture_plugins.ts";
import { scratchDir } from "../support/scratch_dir.ts";
import { until } from "../support/until.ts";

const runtime = await detectRuntime();

/** A folder with a file to read, a server to connect to, and projects that declare the plugin echo of a folder. */
async function ground(t: TestContext) {
  const root = await scratchDir(t);
  const home = join(root, "home");
  const data = join(root, "data");
  await mkdir(data);
  await writeFile(join(data, "a.txt"), "secret plans");
  const server = createServer((socket) => socket.end()).listen(0, "127.0.0.1");
  await new Promise<void>((resolve) => server.once("listening", () => resolve()));
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const read = `read:fs:${data}`;
  const net = `net:127.0.0.1:${port}`;
  return {
    home,
    file: join(data, "a.txt"),
    port,
    read,
    net,
    all: [read, net, "kaged:storage:write"],
    record: async () => (await readLocalConfig(home, runtime.files)).records.get("echo"),
    /** Puts a version of the plugin into the folder of a project, which asks for exactly that version. */
    async project(name: string, manifest: Partial<Manifest>): Promise<Host> {
      const { version = "1.0.0" } = manifest;
      const dir = join(root, name);
      await mkdir(dir, { recursive: true });
      await using plugin = await fixturePlugin("echo", { manifest });
      await cp(plugin.dir, join(dir, `echo-${version}`), { recursive: true });
      const plugins = { e: { package: "echo", source: `./echo-${version}`, version } };
      await writeFile(join(dir, "project.yaml"), JSON.stringify({ id: name, primary: { plugins } }));
      return await createHost({ project: dir, home, audit: [], onWarning: () => {} });
    },
  };
}

/** Answers the only request of a host: what is not granted is withheld. */
async function approve(host: Host, grant: readonly string[], withhold: readonly string[]) {
  const [request] = host.consents();
  return await host.approve(request!.id, { hash: request!.offer!.hash, grant, withhold });
}

const call = (host: Host, method: string, params: Record<string, unknown> = {}): Promise<unknown> =>
  host.callMethod("echo", `echo.${method}`, params);
const failure = (answer: Promise<unknown>): Promise<HostError> =>
  answer.then(() => assert.fail("It was let through"), (error: HostError) => error);
const hint = (...capabilities: string[]): string =>
  `${capabilities.join(", ")}: withheld by the operator. Grant with kaged plugin grant echo ` +
  capabilities.map((one) => `'${one}'`).join(" ");

test("N-028 a plugin with one path withheld starts, learns what it has, and its cage lacks the path; the failure says who withheld it", async (t) => {
  const { project, all, read, net, file, port, record } = await ground(t);
  await using host = await project("music", { capabilities: all });
  await host.start();
  assert.equal((await approve(host, [net, "kaged:storage:write"], [read])).state, "installed");
  assert.equal(host.plugins()[0]?.state, "running");
  assert.deepEqual((await record())?.withheld, [read]);
  const { capabilities } = await call(host, "initialize") as { capabilities: string[] };
  assert.deepEqual(capabilities, [net, "kaged:storage:write"]);
  const lost = await failure(call(host, "read", { path: file }));
  assert.match(lost.message, /ENOENT/);
  assert.equal(lost.hint, hint(read));
  assert.deepEqual(await call(host, "connect", { host: "127.0.0.1", port }), { connected: true });
  const view = host.view.plugin("echo");
  assert.deepEqual([view.capabilities, view.withheld].map((list) => list.map((one) => one.capability)), [
    [net, "kaged:storage:write"],
    [read],
  ]);
});

test("N-028 a plugin with its host or its storage withheld is refused there, with the way to grant it", async (t) => {
  const { project, all, read, net, file, port } = await ground(t);
  await using host = await project("music", { capabilities: all });
  await host.start();
  await approve(host, [read], [net, "kaged:storage:write"]);
  assert.deepEqual(await call(host, "read", { path: file }), { text: "secret plans" });
  const unreached = await failure(call(host, "connect", { host: "127.0.0.1", port }));
  assert.equal(unreached.hint, hint(net));
  const { storage_available } = await call(host, "initialize") as { storage_available: boolean };
  assert.equal(storage_available, false);
  const asked = await call(host, "storage", { sql: "SELECT 1" }) as {
    error: { message: string; data: { hint: string } };
  };
  assert.match(JSON.stringify(asked), /storage\.denied/);
  assert.match(JSON.stringify(asked), /withheld by the operator\. Grant with kaged plugin grant echo/);
});

test("N-028 a plugin that claims a withheld capability as used still starts: its author wrote that list", async (t) => {
  const { home, project, read } = await ground(t);
  await using host = await project("music", { capabilities: [read] });
  await using claims = await fixturePlugin("echo", { manifest: { capabilities: [read] } });
  const source = `import { identity, serve, reply } from "./wire.js";
serve({ initialize: ({ id }) => reply(id, { ...identity, capabilities_used: ${JSON.stringify([read])} }) });\n`;
  await writeFile(join(claims.dir, "index.js"), source);
  await cp(claims.dir, join(home, "../music/echo-1.0.0"), { recursive: true });
  await host.start();
  await approve(host, [], [read]);
  assert.deepEqual(host.plugins().map(({ state, error }) => [state, error]), [["running", null]]);
});

test("N-028 an upgrade keeps what was withheld, and asks anew for a capability that covers it, by name", async (t) => {
  const { project, read, net, file, record } = await ground(t);
  {
    await using host = await project("music", { capabilities: [read, net] });
    await host.start();
    await approve(host, [net], [read]);
  }
  {
    await using host = await project("music", { version: "2.0.0", capabilities: [read, net] });
    await host.start();
    const [{ offer }] = host.consents() as [ReturnType<Host["consents"]>[0]];
    assert.deepEqual([offer?.added, offer?.withheld.map(({ capability }) => capability)], [[], [read]]);
    await approve(host, [], []);
    assert.deepEqual((await call(host, "initialize") as { capabilities: string[] }).capabilities, [net]);
  }
  const wider = `write:${read.slice("read:".length)}`;
  await using host = await project("music", { version: "3.0.0", capabilities: [wider, net] });
  await host.start();
  const [{ offer }] = host.consents() as [ReturnType<Host["consents"]>[0]];
  assert.deepEqual([offer?.added, offer?.withheld], [[wider], []]);
  const danger = offer!.capabilities.find(({ capability }) => capability === wider)?.danger;
  assert.match(String(danger), new RegExp(`It covers ${read}, which you withheld`));
  assert.equal((await failure(approve(host, [], []))).code, "install.consent_missing");
  await approve(host, [wider], []);
  assert.deepEqual((await record())?.withheld, []);
  assert.deepEqual(await call(host, "read", { path: file }), { text: "secret plans" });
});

test("N-028 another project gets the plugin without what was withheld, unless its answer names it, and hosts that run follow", async (t) => {
  const { project, read, net, record } = await ground(t);
  await using first = await project("music", { capabilities: [read, net] });
  await first.start();
  await approve(first, [net], [read]);
  await using second = await project("homelab", { capabilities: [read, net] });
  await second.start();
  const [{ id, offer }] = second.consents() as [ReturnType<Host["consents"]>[0]];
  assert.deepEqual([offer?.added, offer?.withheld.map(({ capability }) => capability)], [[net], [read]]);
  await second.approve(id, { hash: offer!.hash, grant: [net] });
  assert.deepEqual((await call(second, "initialize") as { capabilities: string[] }).capabilities, [net]);
  assert.deepEqual((await record())?.projects, ["music", "homelab"]);

  await using third = await project("garden", { capabilities: [read, net] });
  await third.start();
  await approve(third, [net, read], []);
  assert.deepEqual((await record())?.withheld, []);
  for (const host of [third, first, second]) {
    await until(async () => {
      const { capabilities } = await call(host, "initialize").catch(() => ({})) as { capabilities?: string[] };
      return capabilities?.includes(read) ? true : null;
    }, `${read} in every host`);
  }
});

test("N-028 grants that change reach a running host with its next reload, without a gap in between", async (t) => {
  const { home, project, read, net, file } = await ground(t);
  await using host = await project("music", { capabilities: [read, net] });
  await host.start();
  await approve(host, [net], [read]);
  const audit = { emit: () => {} };
  const ports = { runtime, home, audit };
  await changeGrants("echo", { granted: [read] }, ports);
  await host.reload("echo");
  assert.deepEqual(await call(host, "read", { path: file }), { text: "secret plans" });
  await changeGrants("echo", { granted: [], withhold: [read] }, ports);
  await host.reload("echo");
  assert.equal((await failure(call(host, "read", { path: file }))).hint, hint(read));
  await assert.rejects(changeGrants("echo", { granted: ["net:*"] }, ports), { code: "install.capability_unknown" });
});

test("N-028 a secret whose hosts are all withheld stays in the host: the plugin starts with its placeholder", async (t) => {
  const { home, project } = await ground(t);
  await mkdir(home, { recursive: true });
  await writeFile(join(home, "local.toml"), '[plugins.echo]\ntoken = "the value itself"\n', { mode: 0o600 });
  const hosts = ["a.example:443", "b.example:443"];
  const capabilities = hosts.map((host) => `net:${host}`);
  const system_config_schema = { type: "object", properties: { token: { type: "string" } }, required: ["token"] };
  const manifest = { capabilities, system_config_schema, secrets: { token: { hosts } } };
  await using host = await project("music", manifest as Partial<Manifest>);
  await host.start();
  await approve(host, [], capabilities);
  assert.deepEqual(host.plugins().map(({ state, error }) => [state, error]), [["running", null]]);
  const { token } = await call(host, "config") as { token: string };
  assert.match(token, /^kaged_secret_[0-9a-f]{32}$/);
  assert.deepEqual(host.view.plugin("echo").secrets, ["Cannot use your token: its hosts are withheld"]);
});
