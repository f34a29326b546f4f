import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmod, cp, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { detectRuntime } from "../../src/adapters/default.ts";
import type { AuditEvent } from "../../src/core/audit/events.ts";
import type { ConsentRequest } from "../../src/packages/install/consent_types.ts";
import { readLocalConfig } from "../../src/core/project/local_config.ts";
import { createHost } from "../../src/create_host.ts";
import type { Host } from "../../src/host/types.ts";
import { fixturePlugin } from "../support/fixture_plugins.ts";
import { gitServer } from "../support/git_server.ts";
import { scratchDir } from "../support/scratch_dir.ts";
import { putInstalled } from "../support/installed.ts";

const { files } = await detectRuntime();

/** A project that declares plugins by these fields, and a host for it. */
async function projectWith(root: string, name: string, plugins: Record<string, object>): Promise<Host> {
  const dir = join(root, name);
  await mkdir(dir, { recursive: true });
  await writeFile(join(dir, "project.yaml"), JSON.stringify({ id: name, primary: { plugins } }));
  return await createHost({ project: dir, home: join(root, "home"), audit: [] });
}

/** Versions, states and reasons of a host's plugins. */
const lackingIn = (host: Host) => host.plugins().map(({ version, state, error }) => [version, state, error?.code]);

const recordIn = async (root: string, name: string) =>
  (await readLocalConfig(join(root, "home"), files)).records.get(name);

test("N-037 a plugin in an archive of the project is offered and installed, and what was unpacked goes", async (t) => {
  const root = await scratchDir(t);
  await using plugin = await fixturePlugin("echo");
  await mkdir(join(root, "music"));
  execFileSync("tar", ["-czf", join(root, "music/echo.tgz"), "-C", plugin.dir, "."]);
  const unpacked = async () => (await readdir(join(root, "home/run"))).filter((name) => name.startsWith("fetch"));
  {
    await using host = await projectWith(root, "music", { e: { package: "@test/echo", source: "./echo.tgz" } });
    const { pending: [request] } = await host.start();
    assert.deepEqual([request?.step, request?.error, request?.offer?.source], [
      "grant",
      null,
      join(root, "music/echo.tgz"),
    ]);
    assert.equal((await unpacked()).length, 1);
    await host.approve(request!.id, { hash: request!.offer!.hash });
    assert.equal(host.plugins()[0]?.state, "running");
  }
  assert.deepEqual(await unpacked(), []);
  assert.equal((await recordIn(root, "echo"))?.source, join(root, "music/echo.tgz"));
});

test("K-053 a plugin of the project's own folder is offered, granted by name, installed for that project and started", async (t) => {
  const root = await scratchDir(t);
  const capabilities = ["kaged:storage:write", "net:[]"];
  await using plugin = await fixturePlugin("echo", { manifest: { capabilities, license: "MIT" } });
  await mkdir(join(root, "music/plugins"), { recursive: true });
  await cp(plugin.dir, join(root, "music/plugins/echo"), { recursive: true });
  await using host = await projectWith(root, "music", {
    e: { package: "@test/echo", source: "./plugins/echo", version: "^1" },
  });
  const { running, failed, pending: [request] } = await host.start();
  assert.deepEqual([running, failed.map(({ error }) => error.code)], [[], ["plugin.not_installed"]]);
  const { id, offer, ...rest } = request!;
  assert.deepEqual(rest, {
    package: "@test/echo",
    source: "./plugins/echo",
    version: "^1",
    agents: ["primary"],
    step: "grant",
    state: "waiting",
    error: null,
  });
  assert.deepEqual([offer?.name, offer?.version, offer?.license, offer?.installed], ["echo", "1.0.0", "MIT", null]);
  assert.deepEqual(offer?.capabilities.map(({ text }) => text), [
    "Can keep rows in tables of its own",
    "Has no network",
  ]);
  assert.deepEqual(offer?.added, ["kaged:storage:write"]);

  const { hash } = offer!;
  await assert.rejects(host.approve(id, { hash }), { code: "install.consent_missing" });
  await assert.rejects(host.approve(id, { hash: "sha256:0", grant: offer!.added }), { code: "install.changed" });
  assert.equal(host.consents()[0]?.error?.code, "install.changed");
  assert.equal((await host.approve(id, { hash, grant: offer!.added })).state, "installed");
  assert.deepEqual(host.consents(), []);
  assert.deepEqual(host.plugins().map(({ instance, state }) => [instance, state]), [["echo@music/primary", "running"]]);
  const record = await recordIn(root, "echo");
  assert.deepEqual([record?.local, record?.projects, record?.enabled, record?.package], [
    false,
    ["music"],
    true,
    "@test/echo",
  ]);
  assert.deepEqual((await host.start()).pending, []);
  await assert.rejects(host.approve(id), { code: "consent.unknown" });
});

test("K-053 nothing is fetched before the first yes, and nothing granted before the second", async (t) => {
  const root = await scratchDir(t);
  await using plugin = await fixturePlugin("echo", { manifest: { capabilities: ["kaged:storage:read"] } });
  await using server = await gitServer(join(root, "srv"));
  const source = await server.publish("echo", plugin.dir, "v1.0.0");
  await using host = await projectWith(root, "music", { e: { package: "@test/echo", source, version: "^1" } });
  const { pending: [request] } = await host.start();
  assert.deepEqual([request?.step, request?.source, request?.offer], ["fetch", source, null]);
  assert.deepEqual(server.requests, []);
  await assert.rejects(host.approve(request!.id), { code: "install.http_refused" });
  assert.deepEqual(server.requests, []);

  const fetched = await host.approve(request!.id, { allowHttp: true });
  assert.deepEqual([fetched.step, fetched.offer?.added], ["grant", ["kaged:storage:read"]]);
  assert.deepEqual(lackingIn(host), [[null, "refused", "plugin.not_installed"]]);
  const { hash, added: grant } = fetched.offer!;
  await host.approve(request!.id, { hash, grant });
  assert.equal(host.plugins()[0]?.state, "running");
  assert.equal((await recordIn(root, "echo"))?.source, source);
  assert.deepEqual((await readdir(join(root, "home/run"))).filter((name) => name.startsWith("fetch-")), []);
});

test("K-053 a source that cannot be reached leaves the project pending with the reason, and can be tried again", async (t) => {
  const root = await scratchDir(t);
  await using plugin = await fixturePlugin("echo");
  await using server = await gitServer(join(root, "srv"));
  const source = `${server.url}/echo.git`;
  await using host = await projectWith(root, "music", { e: { package: "@test/echo", source } });
  const { pending: [request] } = await host.start();
  const { id } = request!;
  await assert.rejects(host.approve(id, { allowHttp: true }), { code: "install.source_unreachable" });
  assert.deepEqual(host.consents().map(({ step, state, error }) => [step, state, error?.code]), [
    ["fetch", "waiting", "install.source_unreachable"],
  ]);
  await server.publish("echo", plugin.dir);
  const { offer } = await host.approve(id, { allowHttp: true });
  await host.approve(id, { hash: offer!.hash });
  assert.deepEqual([host.consents(), host.plugins()[0]?.state], [[], "running"]);
});

test("K-053 a no leaves the project pending, removes what was fetched, and can be taken back", async (t) => {
  const root = await scratchDir(t);
  await using plugin = await fixturePlugin("echo");
  await using server = await gitServer(join(root, "srv"));
  const source = await server.publish("echo", plugin.dir);
  await using host = await projectWith(root, "music", { e: { package: "@test/echo", source } });
  const { pending: [request] } = await host.start();
  const { id } = request!;
  const fetches = async () =>
    (await readdir(join(root, "home/run"))).filter((name) => name.startsWith("fetch-")).length;
  await host.approve(id, { allowHttp: true });
  assert.equal(await fetches(), 1);
  const declined = await host.decline(id);
  assert.deepEqual([declined.state, declined.step, declined.offer, await fetches()], ["declined", "fetch", null, 0]);
  assert.deepEqual([host.consents().length, await recordIn(root, "echo")], [1, undefined]);
  assert.deepEqual(lackingIn(host), [[null, "refused", "plugin.not_installed"]]);
  assert.deepEqual((await host.start()).pending.map(({ state }) => state), ["declined"]);
  await host.approve(id, { allowHttp: true });
  assert.equal(await fetches(), 1);
  await host.stop();
  assert.equal(await fetches(), 0);
});

test("K-054 without a source the operator supplies one", async (t) => {
  const root = await scratchDir(t);
  await using plugin = await fixturePlugin("echo");
  await using host = await projectWith(root, "music", { e: { package: "@test/echo" } });
  const { pending: [request] } = await host.start();
  const { id, step, source } = request!;
  assert.deepEqual([step, source], ["source", null]);
  await assert.rejects(host.approve(id), { code: "install.source_unspecified", message: /source not specified/ });
  const { offer } = await host.approve(id, { source: plugin.dir });
  await host.approve(id, { hash: offer!.hash });
  assert.equal(host.plugins()[0]?.state, "running");
});

test("K-053 K-063 a plugin that is not the declared one is not offered", async (t) => {
  const root = await scratchDir(t);
  await using plugin = await fixturePlugin("echo");
  for (
    const [name, fields, code] of [
      ["other", { package: "@test/other" }, "project.package_mismatch"],
      ["newer", { package: "@test/echo", version: "^2" }, "install.version_unfit"],
    ] as const
  ) {
    await mkdir(join(root, name), { recursive: true });
    await cp(plugin.dir, join(root, name, "p"), { recursive: true });
    await using host = await projectWith(root, name, { e: { ...fields, source: "./p" } });
    const { pending: [request] } = await host.start();
    assert.deepEqual([request?.offer, request?.error?.code], [null, code]);
  }
});

test("K-063 a plugin of another project is asked for again, and then serves both", async (t) => {
  const root = await scratchDir(t);
  await using plugin = await fixturePlugin("echo", { manifest: { capabilities: ["kaged:storage:read"] } });
  await putInstalled(join(root, "home"), "echo", plugin.dir, 'enabled = true\nprojects = ["first"]');
  const declared = { e: { package: "@test/echo", source: "https://example.org/never-asked" } };
  await using first = await projectWith(root, "first", declared);
  assert.deepEqual((await first.start()).running, ["echo@first/primary"]);
  await using second = await projectWith(root, "second", declared);
  const { running, pending: [request] } = await second.start();
  assert.deepEqual([running, request?.step, request?.offer?.installed], [[], "grant", "1.0.0"]);
  const { hash, added } = request!.offer!;
  assert.deepEqual(added, ["kaged:storage:read"]);
  await assert.rejects(second.approve(request!.id, { hash }), { code: "install.consent_missing" });
  await assert.rejects(second.approve(request!.id, { hash: "sha256:0", grant: added }), { code: "install.changed" });
  await second.approve(request!.id, { hash, grant: added });
  assert.equal(second.plugins()[0]?.state, "running");
  assert.deepEqual((await recordIn(root, "echo"))?.projects, ["first", "second"]);
});

test("K-055 K-063 a version the project no longer takes is asked for again: of an upgrade only what is new needs a yes", async (t) => {
  const root = await scratchDir(t);
  const before = ["kaged:storage:write", "read:fs:/srv"];
  await using v1 = await fixturePlugin("echo", { manifest: { capabilities: before } });
  const capabilities = ["kaged:storage:write", "net:*"];
  await using v2 = await fixturePlugin("echo", { manifest: { version: "2.0.0", capabilities } });
  await putInstalled(join(root, "home"), "echo", v1.dir, 'enabled = true\nprojects = ["music"]');
  await mkdir(join(root, "music"));
  await cp(v2.dir, join(root, "music/p"), { recursive: true });
  await using host = await projectWith(root, "music", {
    e: { package: "@test/echo", source: "./p", version: "^2" },
  });
  const { running, failed, pending: [request] } = await host.start();
  assert.deepEqual([running, failed.map(({ error }) => error.code)], [[], ["project.version_mismatch"]]);
  const { installed, version, hash, added, removed } = request!.offer!;
  assert.deepEqual([installed, version, added, removed], ["1.0.0", "2.0.0", ["net:*"], ["read:fs:/srv"]]);
  await assert.rejects(host.approve(request!.id, { hash }), { code: "install.consent_missing" });
  await host.approve(request!.id, { hash, grant: added });
  assert.deepEqual(host.plugins().map(({ version, state }) => [version, state]), [["2.0.0", "running"]]);
  assert.deepEqual(host.consents(), []);
});

test("K-063 a plugin of another project in a version that does not fit is fetched anew, and all of it is asked for", async (t) => {
  const root = await scratchDir(t);
  const capabilities = ["kaged:storage:read"];
  await using v1 = await fixturePlugin("echo", { manifest: { capabilities } });
  await using v2 = await fixturePlugin("echo", { manifest: { version: "2.0.0", capabilities } });
  await putInstalled(join(root, "home"), "echo", v1.dir, 'enabled = true\nprojects = ["first"]');
  await using server = await gitServer(join(root, "srv"));
  const source = await server.publish("echo", v2.dir, "v2.0.0");
  await using host = await projectWith(root, "second", { e: { package: "@test/echo", source, version: "^2" } });
  const { pending: [request] } = await host.start();
  const { id, step, error } = request!;
  assert.deepEqual([step, error?.code, request!.offer], ["fetch", "install.version_unfit", null]);
  const { offer } = await host.approve(id, { allowHttp: true });
  assert.deepEqual([offer!.installed, offer!.version, offer!.added], ["1.0.0", "2.0.0", capabilities]);
  await host.approve(id, { hash: offer!.hash, grant: offer!.added });
  assert.deepEqual(host.plugins().map(({ version, state }) => [version, state]), [["2.0.0", "running"]]);
  const record = await recordIn(root, "echo");
  assert.deepEqual([record?.version, record?.projects], ["2.0.0", ["first", "second"]]);
});

test("K-055 a host of another project that runs the version before takes up the new one", async (t) => {
  const root = await scratchDir(t);
  await using v1 = await fixturePlugin("echo");
  await using v2 = await fixturePlugin("echo", { manifest: { version: "2.0.0" } });
  await putInstalled(join(root, "home"), "echo", v1.dir, 'enabled = true\nprojects = ["first"]');
  await using first = await projectWith(root, "first", { e: { package: "@test/echo" } });
  await first.start();
  const restarted = Promise.withResolvers<void>();
  first.onAudit(({ type }) => type === "plugin.initialized" && restarted.resolve());
  await mkdir(join(root, "second"));
  await cp(v2.dir, join(root, "second/p"), { recursive: true });
  const declared = { package: "@test/echo", source: "./p", version: "^2" };
  await using second = await projectWith(root, "second", { e: declared });
  const { pending: [request] } = await second.start();
  await second.approve(request!.id, { hash: request!.offer!.hash });
  await restarted.promise;
  assert.deepEqual(first.plugins().map(({ version }) => version), ["2.0.0"]);
});

/** A home in which `first` runs echo 1.0.0, and a project `second` whose folder has a 2.0.0 that it declares. */
async function upgradeGround(root: string, v2: string, config: Readonly<Record<string, unknown>> = {}) {
  await using v1 = await fixturePlugin("echo");
  await putInstalled(join(root, "home"), "echo", v1.dir, 'version = "1.0.0"\nenabled = true\nprojects = ["first"]');
  const first = await projectWith(root, "first", { e: { package: "@test/echo", config } });
  await first.start();
  await mkdir(join(root, "second"));
  await cp(v2, join(root, "second/p"), { recursive: true });
  const second = await projectWith(root, "second", { e: { package: "@test/echo", source: "./p", version: "^2" } });
  const { pending: [request] } = await second.start();
  return { first, second, request: request! };
}

const runningIn = (host: Host) => host.plugins().map(({ version, state }) => [version, state]);

test("K-055 an approved upgrade that cannot start is undone: the version before stays, and the request is open with the reason", async (t) => {
  const root = await scratchDir(t);
  await using v2 = await fixturePlugin("exits_on_initialize", { manifest: { name: "echo", version: "2.0.0" } });
  const { first, second, request: { id, offer } } = await upgradeGround(root, v2.dir);
  await using _first = first;
  await using _second = second;
  const before = first.plugins()[0]?.cage?.id;
  const heard: AuditEvent[] = [];
  second.onAudit((event) => /upgrade|consent/.test(event.type) && heard.push(event));
  await assert.rejects(second.approve(id, { hash: offer!.hash }), ({ code, message, data }) => {
    assert.equal(code, "install.upgrade_failed");
    assert.match(message, /^"echo" is at 1\.0\.0 again: version 2\.0\.0 could not start\. /);
    const { plugin, version, kept } = data;
    assert.deepEqual([plugin, version, kept], ["echo", "2.0.0", "1.0.0"]);
    return true;
  });
  assert.deepEqual(runningIn(first), [["1.0.0", "running"]]);
  assert.equal(first.plugins()[0]?.cage?.id, before, "the process that ran was not touched");
  assert.deepEqual(lackingIn(second), [[null, "refused", "plugin.not_installed"]]);
  const record = await recordIn(root, "echo");
  assert.deepEqual([record?.version, record?.projects], ["1.0.0", ["first"]], "no consent to the old version");
  assert.deepEqual(await readdir(join(root, "home/plugins")), ["echo"]);
  assert.deepEqual(second.consents().map((one) => [one.id, one.state, one.error?.code]), [
    [id, "waiting", "install.upgrade_failed"],
  ]);
  assert.deepEqual(heard.map(({ type }) => type), [
    "plugin.upgraded",
    "plugin.consent_granted",
    "plugin.upgrade_undone",
  ]);

  // Once its author has mended it, the same request is approved.
  await using mended = await fixturePlugin("echo", { manifest: { version: "2.0.1" } });
  await cp(mended.dir, join(root, "second/p"), { recursive: true });
  await assert.rejects(second.approve(id, { hash: offer!.hash }), { code: "install.changed" });
  const { hash } = second.consents()[0]!.offer!;
  assert.equal((await second.approve(id, { hash })).state, "installed");
  for (const host of [first, second]) assert.deepEqual(runningIn(host), [["2.0.1", "running"]]);
  assert.deepEqual(second.consents(), []);
});

test("K-055 an approved upgrade that cannot start in the host of another project is undone in both", async (t) => {
  const root = await scratchDir(t);
  await using v2 = await fixturePlugin("echo", { manifest: { version: "2.0.0" } });
  const picky = "const end = (line) => { if (/config.update/.test(line) && /only here/.test(line)) process.exit(3); };";
  const listen = 'process.stdin.on("data", (bytes) => String(bytes).split("\\n").forEach(end));';
  const program = join(v2.dir, "index.js");
  await writeFile(program, `${picky}\n${listen}\n${await readFile(program, "utf8")}`);
  const { first, second, request: { id, offer } } = await upgradeGround(root, v2.dir, { note: "only here" });
  await using _first = first;
  await using _second = second;
  await assert.rejects(second.approve(id, { hash: offer!.hash }), { code: "install.upgrade_failed" });
  assert.deepEqual(runningIn(first), [["1.0.0", "running"]]);
  assert.deepEqual(lackingIn(second), [[null, "refused", "plugin.not_installed"]]);
  assert.equal((await recordIn(root, "echo"))?.version, "1.0.0");
});

test("K-055 a plugin that another host refused before does not undo an upgrade", async (t) => {
  const root = await scratchDir(t);
  await using v2 = await fixturePlugin("echo", { manifest: { version: "2.0.0" } });
  const { first, second, request: { id, offer } } = await upgradeGround(root, v2.dir);
  await using _first = first;
  await using _second = second;
  const declared = { e: { package: "@test/echo", version: "^9" } };
  await writeFile(join(root, "first/project.yaml"), JSON.stringify({ id: "first", primary: { plugins: declared } }));
  await first.reload();
  assert.deepEqual(first.plugins().map(({ state }) => state), ["refused"]);
  await second.approve(id, { hash: offer!.hash });
  assert.deepEqual(runningIn(second), [["2.0.0", "running"]]);
});

test("K-053 files in the store that were tampered with do not stand in the way of the project's own folder", async (t) => {
  const root = await scratchDir(t);
  await using plugin = await fixturePlugin("echo");
  const place = await putInstalled(join(root, "home"), "echo", plugin.dir, 'enabled = true\nprojects = ["first"]');
  await chmod(place, 0o755);
  await writeFile(join(place, "more.js"), "");
  await mkdir(join(root, "second"));
  await cp(plugin.dir, join(root, "second/p"), { recursive: true });
  await using host = await projectWith(root, "second", { e: { package: "@test/echo", source: "./p" } });
  const { pending: [request] } = await host.start();
  await host.approve(request!.id, { hash: request!.offer!.hash });
  assert.deepEqual(host.plugins().map(({ state }) => state), ["running"]);
});

test("K-053 a no to what is installed for others can be taken back, though the project names no source", async (t) => {
  const root = await scratchDir(t);
  await using plugin = await fixturePlugin("echo");
  await putInstalled(join(root, "home"), "echo", plugin.dir, 'enabled = true\nprojects = ["first"]');
  await using host = await projectWith(root, "second", { e: { package: "@test/echo" } });
  const { pending: [request] } = await host.start();
  const { id, offer } = request!;
  assert.deepEqual((await host.decline(id)).step, "grant");
  assert.equal((await host.approve(id, { hash: offer!.hash })).state, "installed");
});

test("K-053 who listens hears of each request, of a yes and of a no", async (t) => {
  const root = await scratchDir(t);
  await using plugin = await fixturePlugin("echo", { manifest: { capabilities: ["kaged:storage:read"] } });
  await putInstalled(join(root, "home"), "echo", plugin.dir, 'enabled = true\nprojects = ["second"]');
  await using host = await projectWith(root, "second", { e: { package: "@test/echo" } });
  await host.start();
  const heard: AuditEvent[] = [];
  const asked = Promise.withResolvers<void>();
  host.onAudit((event) => {
    if (event.type.startsWith("plugin.consent_")) heard.push(event);
    // Whoever looks when it is told finds the request.
    if (event.type === "plugin.consent_requested") assert.equal(host.consents().length, 1);
    if (event.type === "plugin.consent_requested") asked.resolve();
  });
  // The operator takes the plugin from the project while the host runs.
  const local = join(root, "home/local.toml");
  await writeFile(local, (await readFile(local, "utf8")).replace("second", "first"));
  await host.reload("echo");
  await asked.promise;
  const [{ id, offer }] = host.consents() as [ConsentRequest];
  await host.decline(id);
  await host.approve(id, { hash: offer!.hash, grant: offer!.added });
  const about = { consent_id: id, package: "@test/echo", project_id: "second" };
  assert.deepEqual(heard.map(({ type, name, data }) => [type, name, data]), [
    ["plugin.consent_requested", "echo", { ...about, source: null, agents: ["primary"] }],
    ["plugin.consent_declined", "echo", about],
    ["plugin.consent_granted", "echo", {
      ...about,
      version: "1.0.0",
      capabilities: ["kaged:storage:read"],
      withheld: [],
    }],
  ]);
});

test("K-053 a host that stops does not wait for a fetch that is under way", async (t) => {
  const root = await scratchDir(t);
  const asked = Promise.withResolvers<void>();
  const server = createServer((socket) => void socket.on("error", () => {}).once("data", () => asked.resolve()));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const source = `http://127.0.0.1:${(server.address() as AddressInfo).port}/echo.git`;
  await using host = await projectWith(root, "music", { e: { package: "@test/echo", source } });
  const { pending: [request] } = await host.start();
  const fetching = assert.rejects(host.approve(request!.id, { allowHttp: true }), { code: "host.interrupted" });
  await asked.promise;
  await host.stop();
  await fetching;
  assert.deepEqual((await readdir(join(root, "home/run"))).filter((name) => name.startsWith("fetch-")), []);
  server.close();
});

test("K-053 files that change between the offer and the yes are offered anew", async (t) => {
  const root = await scratchDir(t);
  await using plugin = await fixturePlugin("echo");
  await mkdir(join(root, "music"));
  await cp(plugin.dir, join(root, "music/p"), { recursive: true });
  await using host = await projectWith(root, "music", { e: { package: "@test/echo", source: "./p" } });
  const { pending: [request] } = await host.start();
  const { id, offer } = request!;
  await writeFile(join(root, "music/p/more.js"), "");
  await assert.rejects(host.approve(id, { hash: offer!.hash }), { code: "install.changed" });
  const [next] = host.consents();
  assert.equal(next?.error?.code, "install.changed");
  assert.notEqual(next?.offer?.hash, offer!.hash);
  await host.approve(id, { hash: next!.offer!.hash });
  assert.equal(host.plugins()[0]?.state, "running");
});

test("K-063 a plugin of the same name from another package is not offered", async (t) => {
  const root = await scratchDir(t);
  await using plugin = await fixturePlugin("echo");
  const record = 'enabled = true\npackage = "@kaged/echo"\nprojects = ["first"]';
  await putInstalled(join(root, "home"), "echo", plugin.dir, record);
  await using host = await projectWith(root, "second", { e: { package: "@evil/echo" } });
  const { pending: [request] } = await host.start();
  assert.deepEqual([request?.offer, request?.error?.code], [null, "project.package_mismatch"]);
});

test("K-051 enable and disable of an installed plugin are for good, those of a vouched one for this run", async (t) => {
  const root = await scratchDir(t);
  await using plugin = await fixturePlugin("echo");
  await putInstalled(join(root, "home"), "echo", plugin.dir, "local = true\nenabled = false");
  await using host = await projectWith(root, "music", { e: { package: "@test/echo" } });
  assert.deepEqual((await host.start()).failed.map(({ error }) => error.code), ["plugin.disabled"]);
  await host.enable("echo");
  assert.deepEqual([host.plugins()[0]?.state, (await recordIn(root, "echo"))?.enabled], ["running", true]);
  await host.disable("echo");
  assert.deepEqual([host.plugins()[0]?.state, (await recordIn(root, "echo"))?.enabled], ["disabled", false]);
  const vouched = await createHost({
    project: join(root, "music"),
    home: join(root, "home"),
    plugins: { "@test/echo": plugin.dir },
    audit: [],
  });
  await using other = vouched;
  await other.start();
  await other.disable("echo");
  await other.enable("echo");
  assert.equal((await recordIn(root, "echo"))?.enabled, false);
});

test("a host that stops while a plugin is being enabled leaves none running", async (t) => {
  const root = await scratchDir(t);
  await using plugin = await fixturePlugin("echo");
  await putInstalled(join(root, "home"), "echo", plugin.dir, "local = true\nenabled = false");
  await using host = await projectWith(root, "music", { e: { package: "@test/echo" } });
  await host.start();
  const enabling = host.enable("echo").catch(() => {});
  await host.stop();
  await enabling;
  assert.notEqual(host.plugins()[0]?.state, "running");
});

test("K-055 reload() takes up another version; K-056 and lets go of one that was uninstalled", async (t) => {
  const root = await scratchDir(t);
  const home = join(root, "home");
  await using v1 = await fixturePlugin("echo");
  await using v2 = await fixturePlugin("echo", { manifest: { version: "2.0.0" } });
  await putInstalled(home, "echo", v1.dir, "local = true\nenabled = true");
  await using host = await projectWith(root, "music", { e: { package: "@test/echo" } });
  await host.start();
  await files.remove(join(home, "plugins/echo"));
  await files.remove(join(home, "local.toml"));
  await putInstalled(home, "echo", v2.dir, "local = true\nenabled = true");
  await host.reload("echo");
  assert.equal(host.plugins()[0]?.state, "running");
  assert.equal(host.plugins()[0]?.version, "2.0.0");
  await files.remove(join(home, "plugins/echo"));
  await files.remove(join(home, "local.toml"));
  await host.reload("echo");
  assert.deepEqual(lackingIn(host), [[null, "refused", "plugin.not_installed"]]);
  await assert.rejects(host.reload("echo"), { code: "plugin.refused" });
});

test("K-053 a declined plugin stays declined over restarts of the host, until it is declared otherwise or asked for again", async (t) => {
  const root = await scratchDir(t);
  await using plugin = await fixturePlugin("echo");
  await mkdir(join(root, "music/plugins"), { recursive: true });
  await cp(plugin.dir, join(root, "music/plugins/echo"), { recursive: true });
  /** Starts a host, lets `act` answer its only request, and returns the state that was found and the events. */
  const starts = async (
    version: string,
    act: (host: Host, id: string) => Promise<unknown> = () => Promise.resolve(),
  ) => {
    await using host = await projectWith(root, "music", {
      e: { package: "@test/echo", source: "./plugins/echo", version },
    });
    const heard: string[] = [];
    host.onAudit(({ type }) => void (type.startsWith("plugin.consent_") && heard.push(type.slice(15))));
    const { pending: [request] } = await host.start();
    await act(host, request!.id);
    return [request?.state, ...heard];
  };
  const decline = (host: Host, id: string) => host.decline(id);
  assert.deepEqual(await starts("^1", decline), ["waiting", "requested", "declined"]);
  assert.deepEqual(await starts("^1"), ["declined"]);
  assert.deepEqual(await starts("1", decline), ["waiting", "requested", "declined"]);
  assert.deepEqual(await starts("1", (host, id) => host.askAgain(id)), ["declined", "requested"]);
  assert.deepEqual(await starts("1", decline), ["waiting", "requested", "declined"]);
  const approve = (host: Host, id: string) => host.approve(id, { hash: host.consents()[0]!.offer!.hash });
  assert.deepEqual(await starts("1", approve), ["declined", "granted"]);
  const kept = JSON.parse(await readFile(join(root, "home/declined.json"), "utf8"));
  assert.deepEqual(kept, { version: 1, projects: {} });
});
