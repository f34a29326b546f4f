import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdir, readFile, stat, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { HostError } from "../../../src/core/errors/host_error.ts";
import { applyInstall, applyUpgrade } from "../../../src/packages/install/apply.ts";
import { changeGrants, setEnabled, uninstallPlugin } from "../../../src/packages/install/change_installed.ts";
import { createStorage } from "../../../src/core/storage/storage.ts";
import { installStage, manifestOf } from "./install_stage.ts";

test("K-052 manual install happy path: the files are in the store, read-only, and the record pins them", async (t) => {
  const stage = await installStage(t);
  const capabilities = ["read:fs:/opt/oh-my-pi", "exec:bash:/opt/oh-my-pi", "net:[]"];
  const dir = await stage.plugin("pi", { capabilities });
  const plan = await stage.install(dir);
  assert.deepEqual([plan.kind, plan.manifest.version, plan.diff.added], ["install", "1.4.2", capabilities.slice(0, 2)]);
  assert.deepEqual((await stage.local()).records.get("oh-my-pi"), {
    name: "oh-my-pi",
    installed: "1.4.2",
    version: "1.4.2",
    hash: plan.hash,
    local: true,
    enabled: false,
    source: dir,
    projects: [],
    withheld: [],
    added: [],
  });
  assert.deepEqual(await stage.names(), ["oh-my-pi"]);
  assert.equal(await readFile(join(stage.home, "plugins/oh-my-pi/index.js"), "utf8"), "// nothing\n");
  assert.equal((await stat(join(stage.home, "plugins/oh-my-pi"))).mode & 0o777, 0o555);
  assert.equal((await stat(join(stage.home, "local.toml"))).mode & 0o777, 0o600);
  const [event] = stage.events;
  assert.deepEqual([event?.type, event?.name, event?.data], ["plugin.installed", "oh-my-pi", {
    version: "1.4.2",
    source: dir,
    hash: plan.hash,
    capabilities: plan.manifest.capabilities,
    withheld: [],
    local: true,
  }]);
});

test("plugin.installed and plugin.upgraded hold the granted capabilities, the hash of the files and their source", async (t) => {
  const stage = await installStage(t);
  const agreed: unknown[] = [];
  for (const [version, capability] of [["1.0.0", "kaged:storage:read"], ["2.0.0", "kaged:storage:write"]] as const) {
    const dir = await stage.plugin(`v${version}`, { version, capabilities: [capability] });
    const plan = await stage.plan(dir);
    await applyInstall(plan, { hash: plan.hash, projectId: null, granted: [capability] }, stage.ports);
    agreed.push({ source: dir, hash: plan.hash, capabilities: [capability] });
  }
  const events = stage.events.map(({ data }) => data as Record<string, unknown>);
  assert.deepEqual(events.map(({ source, hash, capabilities }) => ({ source, hash, capabilities })), agreed);
});

test("K-052 invalid manifest rejection: a missing name field, and nothing is installed", async (t) => {
  const stage = await installStage(t);
  const dir = await stage.plugin("pi");
  const text = manifestOf().replace(/\n\s*"name".*/, "");
  await writeFile(join(dir, "kaged-plugin.yaml"), text);
  await assert.rejects(stage.plan(dir), (error: { code: string; data: { issues: { path: string }[] } }) => {
    assert.equal(error.code, "manifest.invalid");
    assert.ok(error.data.issues.some(({ path }) => path === "name"));
    return true;
  });
  await assert.rejects(stage.plan(join(stage.root, "nowhere")), { code: "install.source_missing" });
  await mkdir(join(stage.root, "empty"));
  await assert.rejects(stage.plan(join(stage.root, "empty")), { code: "manifest.missing" });
  assert.equal(await stage.ports.runtime.files.info(join(stage.home, "plugins")), null);
});

test("K-055 upgrade with capability diff: what is new needs its own yes, and the rest stays as the operator set it", async (t) => {
  const stage = await installStage(t);
  await stage.install(await stage.plugin("v1", { capabilities: ["exec:bash:/opt/oh-my-pi", "kaged:storage:read"] }));
  await setEnabled("oh-my-pi", true, stage.ports);
  await writeFile(join(stage.home, "local.toml"), `${await stage.localText()}# mine\n`);
  const v2 = await stage.plugin("v2", {
    version: "2.0.0",
    capabilities: ["net:api.openai.com:443", "kaged:storage:read"],
  });
  const plan = await stage.plan(v2);
  assert.deepEqual([plan.kind, plan.installed?.version, plan.diff], ["upgrade", "1.4.2", {
    added: ["net:api.openai.com:443"],
    removed: ["exec:bash:/opt/oh-my-pi"],
  }]);
  const consent = { hash: plan.hash, projectId: null };
  await assert.rejects(applyInstall(plan, { ...consent, granted: [] }, stage.ports), {
    code: "install.consent_missing",
    data: { plugin: "oh-my-pi", missing: ["net:api.openai.com:443"] },
    hint: "Grant each by name: --grant 'net:api.openai.com:443', or withhold it with --withhold",
  });
  assert.equal((await stage.local()).records.get("oh-my-pi")?.version, "1.4.2");
  await applyInstall(plan, { ...consent, granted: plan.diff.added }, stage.ports);
  const record = (await stage.local()).records.get("oh-my-pi");
  assert.deepEqual([record?.version, record?.hash, record?.enabled, record?.local], ["2.0.0", plan.hash, true, true]);
  assert.match(await stage.localText(), /# mine\n$/);
  assert.deepEqual(await stage.names(), ["oh-my-pi"]);
  const upgraded = stage.events.find(({ type }) => type === "plugin.upgraded");
  assert.deepEqual(upgraded?.data, {
    source: v2,
    hash: plan.hash,
    capabilities: plan.manifest.capabilities,
    withheld: [],
    old_version: "1.4.2",
    new_version: "2.0.0",
    capability_diff: { added: ["net:api.openai.com:443"], removed: ["exec:bash:/opt/oh-my-pi"] },
  });
  assert.equal((await stage.plan(v2)).kind, "same");
});

test("K-055 the capabilities of files that were tampered with count for nothing: all are new", async (t) => {
  const stage = await installStage(t);
  await stage.install(await stage.plugin("v1"));
  const manifest = join(stage.home, "plugins/oh-my-pi/kaged-plugin.yaml");
  await stage.ports.runtime.files.setMode(manifest, 0o644);
  await writeFile(manifest, manifestOf({ capabilities: ["net:*"] }));
  const plan = await stage.plan(await stage.plugin("v2", { version: "2.0.0", capabilities: ["net:*"] }));
  assert.deepEqual([plan.kind, plan.diff.added], ["upgrade", ["net:*"]]);
  await assert.rejects(setEnabled("oh-my-pi", true, stage.ports), { code: "plugin.tampered" });
  await stage.install(plan.dir);
  await setEnabled("oh-my-pi", true, stage.ports);
});

test("K-055 installing the very same again puts back files that were tampered with", async (t) => {
  const stage = await installStage(t);
  const v1 = await stage.plugin("v1");
  await stage.install(v1);
  const program = join(stage.home, "plugins/oh-my-pi/index.js");
  const before = await stage.ports.runtime.files.readText(program);
  await stage.ports.runtime.files.setMode(program, 0o644);
  await writeFile(program, "// evil\n");
  assert.equal((await stage.plan(v1)).kind, "upgrade");
  await stage.install(v1);
  assert.equal(await stage.ports.runtime.files.readText(program), before);
  assert.equal((await stage.plan(v1)).kind, "same");
});

test("K-052 what changes between the question and the copy is not installed", async (t) => {
  const changes: Record<string, (dir: string) => Promise<unknown>> = {
    "the manifest": (dir) => writeFile(join(dir, "kaged-plugin.yaml"), manifestOf({ capabilities: ["net:*"] })),
    "the program": (dir) => writeFile(join(dir, "index.js"), "// evil\n"),
    "a file more": (dir) => writeFile(join(dir, "more.js"), ""),
    "a link for a file": async (dir) => {
      const { rm } = await import("node:fs/promises");
      await rm(join(dir, "index.js"));
      await symlink("kaged-plugin.yaml", join(dir, "index.js"));
    },
  };
  for (const [what, change] of Object.entries(changes)) {
    const stage = await installStage(t);
    const dir = await stage.plugin("pi");
    const plan = await stage.plan(dir);
    await change(dir);
    const applied = applyInstall(plan, { hash: plan.hash, granted: ["net:*"], projectId: null }, stage.ports);
    await assert.rejects(applied, { code: "install.changed" }, what);
    assert.deepEqual([await stage.names(), (await stage.local()).records.size], [[], 0], what);
  }
});

test("K-052 a manifest that was shown and swapped before the files were hashed is not installed", async (t) => {
  const stage = await installStage(t);
  const { files } = stage.ports.runtime;
  const dir = await stage.plugin("pi", { capabilities: ["net:*"] });
  await writeFile(join(stage.root, "harmless"), manifestOf());
  // The reader of the manifest sees a harmless one, everybody else the real one.
  const lying = {
    ...files,
    readHead: (path: string, count: number) => {
      return files.readHead(path === join(dir, "kaged-plugin.yaml") ? join(stage.root, "harmless") : path, count);
    },
  };
  const ports = { ...stage.ports, runtime: { ...stage.ports.runtime, files: lying } };
  const { planInstall } = await import("../../../src/packages/install/plan.ts");
  const plan = await planInstall({ dir, source: { kind: "path", path: dir } }, ports);
  assert.deepEqual(plan.diff.added, []);
  await assert.rejects(applyInstall(plan, { hash: plan.hash, granted: [], projectId: null }, ports), {
    code: "install.changed",
  });
  assert.deepEqual(await stage.names(), []);
});

test("K-052 a yes is pinned to the files it was given for", async (t) => {
  const stage = await installStage(t);
  const plan = await stage.plan(await stage.plugin("pi"));
  await assert.rejects(applyInstall(plan, { hash: "sha256:other", granted: [], projectId: null }, stage.ports), {
    code: "install.changed",
  });
});

test("K-052 links that lead out, pipes, and 2 GB are refused with the way on", async (t) => {
  const stage = await installStage(t);
  const out = await stage.plugin("out");
  await symlink("/etc/passwd", join(out, "passwd"));
  await assert.rejects(stage.plan(out), { code: "install.link_outside" });
  const pipe = await stage.plugin("pipe");
  spawnSync("mkfifo", [join(pipe, "p")]);
  await assert.rejects(stage.plan(pipe), { code: "install.special_file" });
  const huge = await stage.plugin("huge", {}, { model: "" });
  await truncate(join(huge, "model"), 2 * 1024 ** 3);
  await assert.rejects(stage.plan(huge), { code: "install.too_large", hint: /--max-size/ });
});

test("K-052 setuid bits are dropped, and links inside are kept", async (t) => {
  const stage = await installStage(t);
  const dir = await stage.plugin("pi");
  await stage.ports.runtime.files.setMode(join(dir, "index.js"), 0o4755);
  await symlink("index.js", join(dir, "main.js"));
  await stage.install(dir);
  const place = join(stage.home, "plugins/oh-my-pi");
  assert.equal((await stat(join(place, "index.js"))).mode & 0o7777, 0o555);
  assert.equal(await stage.ports.runtime.files.readLink(join(place, "main.js")), "index.js");
});

test("K-052 a name that another package or another repository has is taken, unless it is replaced on purpose", async (t) => {
  const stage = await installStage(t);
  const dir = await stage.plugin("pi");
  const git = (url: string) => ({ kind: "git", url }) as const;
  const plan = await stage.plan(dir, { source: git("https://example.org/pi"), package: "@kaged/oh-my-pi" });
  await applyInstall(plan, { hash: plan.hash, granted: [], projectId: null }, stage.ports);
  const v2 = await stage.plugin("v2", { version: "2.0.0" });
  for (const request of [{ package: "@evil/oh-my-pi" }, { source: git("https://example.org/other") }]) {
    await assert.rejects(stage.plan(v2, request), { code: "install.name_taken" });
    assert.equal((await stage.plan(v2, { ...request, replace: true })).kind, "upgrade");
  }
  assert.equal((await stage.plan(v2, { source: git("https://example.org/pi") })).package, "@kaged/oh-my-pi");
});

test("K-052 a plugin whose tables would lie among another's is refused before anything is copied", async (t) => {
  const stage = await installStage(t);
  const capabilities = ["kaged:storage:write"];
  await stage.install(await stage.plugin("a", { name: "a", capabilities }));
  {
    await using storage = createStorage({ runtime: stage.ports.runtime, home: stage.home });
    const client = { plugin: "a", instance: "a", manifest: { capabilities } };
    const params = { sql: "CREATE TABLE b_rows (x)", params: [] };
    await storage.handle(client, { method: "kaged.storage.exec", params, signal: new AbortController().signal });
  }
  await assert.rejects(stage.install(await stage.plugin("b", { name: "a-b", capabilities })), {
    code: "storage.prefix_taken",
  });
  assert.deepEqual(await stage.names(), ["a"]);
});

test("a local.toml that is half written stops everything and stays as it is", async (t) => {
  const stage = await installStage(t);
  const dir = await stage.plugin("pi");
  const plan = await stage.plan(dir);
  await mkdir(stage.home, { recursive: true });
  await writeFile(join(stage.home, "local.toml"), '[plugins.x]\ninstalled = "1.');
  await assert.rejects(stage.plan(dir), { code: "local.invalid" });
  const applied = applyInstall(plan, { hash: plan.hash, granted: [], projectId: null }, stage.ports);
  await assert.rejects(applied, { code: "local.invalid" });
  assert.equal(await stage.localText(), '[plugins.x]\ninstalled = "1.');
  assert.deepEqual(await stage.names(), []);
});

test("a full disk leaves what was there, and says so", async (t) => {
  for (const method of ["copyFile", "write", "makeDir"] as const) {
    const stage = await installStage(t);
    await stage.install(await stage.plugin("v1"));
    const before = await stage.localText();
    const plan = await stage.plan(await stage.plugin("v2", { version: "2.0.0" }));
    const { files } = stage.ports.runtime;
    const full = {
      ...files,
      [method]: (...args: unknown[]) => {
        const isRecursive = (args[1] as { recursive?: boolean } | undefined)?.recursive === true;
        if (isRecursive) return (files[method] as (...args: unknown[]) => unknown)(...args);
        return Promise.reject(Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" }));
      },
    };
    const ports = { ...stage.ports, runtime: { ...stage.ports.runtime, files: full } };
    const applied = applyInstall(plan, { hash: plan.hash, granted: [], projectId: null }, ports);
    await assert.rejects(applied, { code: "install.no_space" }, method);
    assert.equal(await stage.localText(), before);
    assert.equal((await stage.plan(plan.dir)).installed?.version, "1.4.2");
    await stage.install(plan.dir);
    assert.deepEqual(await stage.names(), ["oh-my-pi"]);
  }
});

test("a disk that is full at the very last moment leaves a change that the next command finishes", async (t) => {
  const stage = await installStage(t);
  await stage.install(await stage.plugin("v1"));
  const plan = await stage.plan(await stage.plugin("v2", { version: "2.0.0" }));
  const { files } = stage.ports.runtime;
  const full = {
    ...files,
    write: (path: string, ...rest: [string | Uint8Array, number?]) =>
      path.includes("local.toml")
        ? Promise.reject(Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" }))
        : files.write(path, ...rest),
  };
  const ports = { ...stage.ports, runtime: { ...stage.ports.runtime, files: full } };
  await assert.rejects(applyInstall(plan, { hash: plan.hash, granted: [], projectId: null }, ports), {
    code: "install.unfinished",
  });
  assert.equal((await stage.plan(plan.dir)).kind, "same");
  assert.deepEqual(await stage.names(), ["oh-my-pi"]);
});

test("two installs at once are done one after the other; the second of one name fails because things changed", async (t) => {
  const stage = await installStage(t);
  const [a, b] = [await stage.plugin("a"), await stage.plugin("b", { version: "2.0.0" })];
  const outcomes = await Promise.allSettled([stage.install(a), stage.install(b)]);
  const codes = outcomes.map((one) => one.status === "fulfilled" ? "ok" : one.reason.code);
  assert.deepEqual(codes.sort(), ["install.changed", "ok"]);
  await Promise.all([
    stage.install(await stage.plugin("c", { name: "c" })),
    stage.install(await stage.plugin("d", { name: "d" })),
  ]);
  assert.deepEqual(await stage.names(), ["c", "d", "oh-my-pi"]);
  assert.deepEqual([...(await stage.local()).records.keys()].sort(), ["c", "d", "oh-my-pi"]);
});

test("K-056 uninstall takes the files, the record and every table, and leaves secrets", async (t) => {
  const stage = await installStage(t);
  const capabilities = ["kaged:storage:write"];
  const keeper = await stage.plugin("pi", { capabilities });
  await stage.install(keeper);
  await stage.install(await stage.plugin("other", { name: "other", capabilities }));
  await writeFile(
    join(stage.home, "local.toml"),
    `${await stage.localText()}\n[plugins."@kaged/oh-my-pi"]\ntoken = "s"\n`,
  );
  const ask = async (plugin: string, method: string, sql = "") => {
    await using storage = createStorage({ runtime: stage.ports.runtime, home: stage.home });
    const request = {
      method: `kaged.storage.${method}`,
      params: { sql, params: [] },
      signal: new AbortController().signal,
    };
    return await storage.handle({ plugin, instance: plugin, manifest: { capabilities } }, request);
  };
  for (const plugin of ["oh-my-pi", "other"]) await ask(plugin, "exec", "CREATE TABLE presets (x)");
  await uninstallPlugin("oh-my-pi", stage.ports);
  assert.deepEqual(await stage.names(), ["other"]);
  const { records, secrets } = await stage.local();
  assert.deepEqual([[...records.keys()], [...secrets.keys()]], [["other"], ["@kaged/oh-my-pi"]]);
  assert.deepEqual(await ask("other", "schema"), { tables: ["presets"], views: [] });
  assert.deepEqual(stage.events.slice(-2).map(({ type, data }) => [type, data]), [
    ["plugin.storage_dropped", { tables: ["presets"] }],
    ["plugin.uninstalled", { version: "1.4.2" }],
  ]);
  await assert.rejects(uninstallPlugin("oh-my-pi", stage.ports), { code: "plugin.not_installed" });
  await assert.rejects(setEnabled("othr", true, stage.ports), { hint: /other/ });
  await stage.install(keeper);
  assert.deepEqual(await ask("oh-my-pi", "schema"), { tables: [], views: [] });
});

test("K-063 a plugin installed for a project lists it, an upgrade keeps whom it serves", async (t) => {
  const stage = await installStage(t);
  await stage.install(await stage.plugin("v1"), { projectId: "music", enabled: true });
  const record = async () => (await stage.local()).records.get("oh-my-pi")!;
  assert.deepEqual([(await record()).local, (await record()).projects, (await record()).enabled], [
    false,
    ["music"],
    true,
  ]);
  await stage.install(await stage.plugin("v2", { version: "2.0.0" }));
  assert.deepEqual([(await record()).local, (await record()).projects, (await record()).version], [
    false,
    ["music"],
    "2.0.0",
  ]);
});

test("what was withheld stays withheld over an upgrade, and a capability that covers it is asked for anew", async (t) => {
  const stage = await installStage(t);
  const v1 = await stage.plugin("v1", { capabilities: ["net:a.example:443", "read:fs:/srv/a"] });
  const first = await stage.plan(v1);
  const answer = { granted: ["read:fs:/srv/a"], withhold: ["net:a.example:443"] };
  await applyInstall(first, { hash: first.hash, projectId: null, ...answer }, stage.ports);
  const record = async () => (await stage.local()).records.get("oh-my-pi");
  assert.deepEqual((await record())?.withheld, ["net:a.example:443"]);
  const audited = () => stage.events.at(-1)?.data as Record<string, unknown>;
  assert.deepEqual([audited().capabilities, audited().withheld], [["read:fs:/srv/a"], ["net:a.example:443"]]);

  const same = await stage.plugin("v2", { version: "2.0.0", capabilities: ["net:a.example:443", "read:fs:/srv/a"] });
  const second = await stage.install(same);
  assert.deepEqual([second.diff.added, second.withheld], [[], ["net:a.example:443"]]);
  assert.deepEqual((await record())?.withheld, ["net:a.example:443"]);

  const wider = await stage.plugin("v3", { version: "3.0.0", capabilities: ["net:a.example:*", "read:fs:/srv/a"] });
  const third = await stage.plan(wider);
  assert.deepEqual([third.diff.added, third.withheld], [["net:a.example:*"], []]);
  const consent = { hash: third.hash, projectId: null };
  await assert.rejects(applyInstall(third, { ...consent, granted: [] }, stage.ports), {
    code: "install.consent_missing",
  });
  await applyInstall(third, { ...consent, granted: [], withhold: ["net:a.example:*"] }, stage.ports);
  assert.deepEqual((await record())?.withheld, ["net:a.example:443", "net:a.example:*"]);
  assert.deepEqual(audited().capabilities, ["read:fs:/srv/a"]);

  await changeGrants("oh-my-pi", { granted: ["net:a.example:*"] }, stage.ports);
  assert.deepEqual([(await record())?.withheld, audited()], [[], {
    version: "3.0.0",
    capabilities: ["net:a.example:*", "read:fs:/srv/a"],
    withheld: [],
  }]);
  assert.equal((await changeGrants("oh-my-pi", { granted: ["net:a.example:*"] }, stage.ports)).changed, false);
});

test("an upgrade that is taken back takes its grants back too", async (t) => {
  const stage = await installStage(t);
  await stage.install(await stage.plugin("v1", { capabilities: ["net:a.example:443"] }), {
    granted: [],
    withhold: ["net:a.example:443"],
  });
  const plan = await stage.plan(await stage.plugin("v2", { version: "2.0.0", capabilities: ["net:a.example:443"] }));
  const granted = ["net:a.example:443"];
  await using replaced = await applyUpgrade(plan, { hash: plan.hash, projectId: null, granted }, stage.ports);
  assert.deepEqual((await stage.local()).records.get("oh-my-pi")?.withheld, []);
  assert.equal(await replaced!.bringBack(new HostError("plugin.unavailable", "It does not start")), true);
  const record = (await stage.local()).records.get("oh-my-pi");
  assert.deepEqual([record?.version, record?.withheld], ["1.4.2", ["net:a.example:443"]]);
});
