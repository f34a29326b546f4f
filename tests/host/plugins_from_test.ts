import assert from "node:assert/strict";
import { cp, mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { test, type TestContext } from "node:test";
import type { AuditEvent } from "../../src/core/audit/events.ts";
import { createHost } from "../../src/create_host.ts";
import type { HostOptions } from "../../src/host/types.ts";
import { fixturePlugin } from "../support/fixture_plugins.ts";
import { putInstalled } from "../support/installed.ts";
import { scratchDir } from "../support/scratch_dir.ts";

/** An agent's folder `app` with a project in `app/agent`, as npm leaves it. */
async function app(t: TestContext, { package: pkg = "@test/echo", version = "" } = {}) {
  const root = await scratchDir(t);
  const plugin = await fixturePlugin("echo");
  t.after(() => plugin[Symbol.asyncDispose]());
  const dirs = { root, app: join(root, "app"), project: join(root, "app/agent"), home: join(root, "home") };
  await mkdir(dirs.project, { recursive: true });
  const declared = { package: pkg, ...(version !== "" && { version }) };
  await writeFile(join(dirs.project, "project.yaml"), JSON.stringify({ primary: { plugins: { e: declared } } }));
  const put = async (place: string): Promise<string> => {
    await mkdir(dirname(join(root, place)), { recursive: true });
    await cp(plugin.dir, join(root, place), { recursive: true });
    return join(root, place);
  };
  return {
    ...dirs,
    installed: await put("app/node_modules/@test/echo"),
    put,
    /** Starts a host, and returns what it said; `use` runs before it stops. */
    async start(options: Partial<HostOptions> = {}, use = async (_: Awaited<ReturnType<typeof createHost>>) => {}) {
      const [events, warnings]: [AuditEvent[], string[]] = [[], []];
      await using host = await createHost({
        ...{ project: dirs.project, home: dirs.home, pluginsFrom: "node_modules", control: false },
        ...{ audit: [{ write: (event: AuditEvent) => void events.push(event) }] },
        onWarning: (line) => void warnings.push(line),
        ...options,
      });
      const { running, failed, pending } = await host.start();
      await use(host);
      const vouched = events.flatMap((event) => event.type === "plugin.vouched" ? [event.data] : []);
      return { running, failed: failed.map(({ error }) => error), pending, vouched, warnings };
    },
  };
}

test("N-037 a package of node_modules above the project runs, caged, with its own folder as its mount", async (t) => {
  const { start, installed, root } = await app(t);
  await writeFile(join(root, "app/secret.txt"), "s");
  await start({}, async (host) => {
    const [{ state } = {}] = host.plugins();
    assert.equal(state, "running");
    const { names } = await host.callMethod("echo", "echo.list", { path: installed }) as { names: string[] };
    assert.ok(names.includes("kaged-plugin.yaml"));
    const read = (path: string) => host.callMethod("echo", "echo.read", { path });
    await assert.rejects(read(join(root, "app/secret.txt")), "its cage holds nothing else of the app");
  });
});

test("N-037 without pluginsFrom nothing is looked for in node_modules", async (t) => {
  const { project, home } = await app(t);
  await using host = await createHost({ project, home, control: false, audit: [] });
  const { failed: [one] } = await host.start();
  assert.deepEqual([one?.error.code, one?.error.hint], [
    "plugin.not_installed",
    "Install it, or pass --plugin @test/echo=<dir>",
  ]);
});

test("N-037 a folder in plugins comes before node_modules, and node_modules before the store", async (t) => {
  const { start, put, installed, home } = await app(t);
  const [own, stored] = [await put("own/echo"), await put("stored/echo")];
  await putInstalled(home, "echo", stored, "local = true\nenabled = true");
  const dirOf = async (options: Partial<HostOptions>): Promise<string | null> => {
    let dir: string | null = null;
    await start(options, async (host) => void (dir = (await host.view.plugin("echo")).dir));
    return dir;
  };
  assert.equal(await dirOf({ plugins: { "@test/echo": own } }), own);
  assert.equal(await dirOf({}), installed);
  await rm(installed, { recursive: true });
  assert.equal(await dirOf({}), join(home, "plugins/echo"));
});

test("N-037 a package that is not there is asked for as usual, and the error says npm install", async (t) => {
  const { start, installed } = await app(t, { version: "^2.0" });
  await rm(installed, { recursive: true });
  const { failed: [error], pending } = await start();
  assert.deepEqual([error?.code, error?.hint, pending.map((one) => one.package)], [
    "plugin.not_installed",
    "Run: npm install '@test/echo@^2.0'",
    ["@test/echo"],
  ]);
});

test("N-037 a package in a version that does not fit is refused, with the version to install", async (t) => {
  const { start } = await app(t, { version: "^2.0" });
  const { failed: [error], pending } = await start();
  assert.deepEqual([error?.code, error?.hint, pending], [
    "project.version_mismatch",
    "Run: npm install '@test/echo@^2.0'",
    [],
  ]);
});

test("N-037 a link of pnpm or of a workspace leads to the package's real folder", async (t) => {
  const { start, installed, put } = await app(t);
  await rm(installed, { recursive: true });
  const real = await put("app/node_modules/.pnpm/@test+echo@0.1.0/node_modules/@test/echo");
  await symlink(real, installed);
  const { running, vouched: [seen] } = await start();
  assert.deepEqual([running.length, seen?.source], [1, real]);
});

test("N-037 { folder } begins the search elsewhere, for a project outside the program's folder", async (t) => {
  const { start, root, project, put, installed } = await app(t);
  await rm(installed, { recursive: true });
  const dir = await put("service/node_modules/@test/echo");
  await mkdir(join(root, "service/src"));
  const { vouched: [seen] } = await start({ project, pluginsFrom: { folder: join(root, "service/src") } });
  assert.equal(seen?.source, dir);
  await assert.rejects(start({ pluginsFrom: { folder: join(root, "nowhere") } }), {
    code: "host.misuse",
    message: /^pluginsFrom: there is no folder ".*nowhere"$/,
  });
  await assert.rejects(start({ pluginsFrom: "npm" as "node_modules" }), { code: "host.option_invalid" });
});

test("N-037 the hash of a package is recorded, and one that changed between two starts is audited and warned of", async (t) => {
  const { start, installed, home, project } = await app(t);
  const first = await start();
  const [{ hash = "", ...seen } = {}] = first.vouched;
  assert.deepEqual(seen, {
    ...{ source: installed, version: "1.0.0", old_version: null, old_hash: null },
    ...{ capabilities: [], withheld: [] },
  });
  const kept = JSON.parse(await readFile(join(home, "vouched.json"), "utf8"));
  assert.deepEqual(kept.projects[project], { "@test/echo": { version: "1.0.0", hash } });
  assert.deepEqual([first.warnings, (await start()).vouched], [[], []], "the same files are no news");

  await writeFile(join(installed, "more.js"), "");
  const { vouched: [changed], warnings, running } = await start();
  assert.deepEqual([running.length, changed?.old_hash, changed?.old_version], [1, hash, "1.0.0"]);
  assert.notEqual(changed?.hash, hash);
  assert.match(warnings.join(), /^The files of "@test\/echo" in ".*" changed since the last start \(still 1\.0\.0\)/);
  assert.deepEqual((await start()).warnings, [], "and are known from then on");
});

test("N-037 a reload notes a package that changed while the host runs", async (t) => {
  const { start, installed } = await app(t);
  const { vouched } = await start({}, async (host) => {
    await writeFile(join(installed, "more.js"), "");
    await host.reload("echo");
  });
  assert.deepEqual(vouched.map(({ old_hash }) => old_hash === null), [true, false]);
});

test("N-037 dependencies that are not in the package's own folder are named, since its cage does not show them", async (t) => {
  const { start, installed } = await app(t);
  const dependencies = { "left-pad": "^1", inside: "^1", "../x": "^1" };
  await writeFile(join(installed, "package.json"), JSON.stringify({ type: "module", dependencies }));
  await mkdir(join(installed, "node_modules/inside"), { recursive: true });
  const { warnings, running } = await start();
  assert.deepEqual([running.length, warnings.length], [1, 1]);
  assert.match(warnings[0]!, /^"@test\/echo" needs left-pad, outside its own folder, .* has to bundle them$/);
});

test("N-037 a package that is no plugin, has another name or links out of its folder is refused with the reason", async (t) => {
  const { start, installed, root, put, project } = await app(t);
  const manifest = join(installed, "kaged-plugin.yaml");
  const text = await readFile(manifest, "utf8");
  const refusal = async () => {
    const { failed: [error] } = await start();
    return `${error?.code} ${error?.message.replace(root, "")} | ${error?.hint}`;
  };
  await symlink("/etc/passwd", join(installed, "link"));
  assert.match(
    await refusal(),
    /^project\.package_refused .*no hash: The link .*\/etc\/passwd.* \| Vouch for its folder/,
  );
  await rm(join(installed, "link"));
  await rm(manifest);
  assert.match(
    await refusal(),
    /^project\.package_refused The package "@test\/echo" in .*: it has no kaged-plugin\.yaml/,
  );
  await writeFile(manifest, text);
  await put("app/node_modules/other");
  await writeFile(join(project, "project.yaml"), JSON.stringify({ primary: { plugins: { e: { package: "other" } } } }));
  assert.match(await refusal(), /^project\.package_mismatch The package "other" in .* holds plugin "echo"/);
});
