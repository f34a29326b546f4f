import assert from "node:assert/strict";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { detectRuntime } from "../../src/adapters/default.ts";
import { createHost } from "../../src/create_host.ts";
import { authoredState, isAuthored, ownWrites } from "../../src/host/authored_files.ts";
import { LOOK_MS, type PluginWatch, watchPlugins, type WatchReport } from "../../src/host/watch_plugins.ts";
import { changePlugin, fixturePlugin } from "../support/fixture_plugins.ts";
import { createFakeClock } from "../support/fake_clock.ts";
import { type Hosted, hosted } from "../support/hosted.ts";
import { scratchDir } from "../support/scratch_dir.ts";
import { until } from "../support/until.ts";

const { files } = await detectRuntime();

interface Watched extends AsyncDisposable {
  readonly watch: PluginWatch;
  readonly reports: WatchReport[];
  /** Looks so often at the files. */
  look(times: number): Promise<void>;
  /** Looks until there is one more report. */
  report(): Promise<WatchReport>;
}

async function watched(h: Hosted, plugin: string, pkg = "@test/a"): Promise<Watched> {
  const reports: WatchReport[] = [];
  const dir = h.host.view.plugin(plugin).dir!;
  const clock = createFakeClock(); // Its own: the host looks at files of the operator, too.
  const watch = await watchPlugins({
    host: h.host,
    plugins: { [pkg]: dir },
    runtime: { files, clock },
    onReport: (report) => reports.push(report),
  });
  watch.begin();
  let given = 0;
  return {
    watch,
    reports,
    async look(times) {
      const isResting = (): boolean => clock.isDueIn(LOOK_MS);
      for (let at = 0; at < times; at++) {
        await until(isResting, "the next look", "turn");
        clock.advance(LOOK_MS);
      }
      await until(isResting, "the end of the last look");
    },
    async report() {
      given++;
      await until(() => {
        if (reports.length < given && clock.isDueIn(LOOK_MS)) clock.advance(LOOK_MS);
        return reports.length >= given;
      }, `report ${given}`);
      return reports[given - 1]!;
    },
    [Symbol.asyncDispose]: () => watch.close(),
  };
}

test("K-070 a change is taken up once the files rest, and told with the version and what the plugin may do more", async () => {
  await using h = await hosted({ primary: { a: {} }, fixtures: { "@test/a": "echo" } });
  const dir = h.host.view.plugin("echo").dir!;
  await using w = await watched(h, "echo");
  await w.look(3);
  assert.deepEqual(h.all("plugin.reloaded"), []);
  await changePlugin(dir, { files: { "part.js": "// one" } });
  await w.look(1);
  await changePlugin(dir, { files: { "part.js": "// another" } });
  await w.look(1);
  assert.deepEqual(h.all("plugin.reloaded"), [], "the files have not rested yet");
  await changePlugin(dir, { manifest: { version: "2.0.0", capabilities: ["kaged:storage:read"] } });
  const report = await w.report();
  assert.deepEqual({ ...report, tookMs: 0 }, {
    kind: "reloaded",
    plugin: "echo",
    version: "2.0.0",
    tookMs: 0,
    gained: ["kaged:storage:read"],
  });
  await w.look(3);
  assert.equal(w.reports.length, 1);
});

test("K-070 a broken change is told and the old process goes on; the next good one is taken up", async () => {
  await using h = await hosted({ primary: { a: {} }, fixtures: { "@test/a": "echo" } });
  const dir = h.host.view.plugin("echo").dir!;
  await using w = await watched(h, "echo");
  await changePlugin(dir, { files: { "index.js": "throw new Error('unfinished')" } });
  const broken = await w.report();
  assert.deepEqual([broken.kind, broken.plugin], ["failed", "echo"]);
  assert.equal(broken.kind === "failed" && broken.error.code, "plugin.reload_failed");
  assert.deepEqual(await h.host.callMethod("echo", "ping"), { status: "ok" });
  await changePlugin(dir, { program: "echo" });
  assert.equal((await w.report()).kind, "reloaded");
  // A build may take the whole folder away for a while.
  await rename(dir, `${dir}-away`);
  assert.equal((await w.report()).kind, "failed");
  assert.deepEqual(await h.host.callMethod("echo", "ping"), { status: "ok" });
  await rename(`${dir}-away`, dir);
  assert.equal((await w.report()).kind, "reloaded");
});

test("K-070 a plugin that could not be read when the host started is taken up once it can be", async () => {
  await using plugin = await fixturePlugin("echo");
  const manifest = await files.readText(join(plugin.dir, "kaged-plugin.yaml"));
  await changePlugin(plugin.dir, { files: { "kaged-plugin.yaml": "name: [" } });
  await using h = await hosted({ yaml: { primary: { plugins: { a: { package: "@test/a" } } } }, start: false });
  const plugins = { "@test/a": plugin.dir };
  await using host = await createHost({ project: h.dir, home: h.home, audit: [], plugins });
  await host.start();
  assert.deepEqual(host.plugins().map(({ state, error }) => [state, error?.code]), [["refused", "manifest.invalid"]]);
  const told = Promise.withResolvers<WatchReport>();
  const runtime = { files, clock: h.clock };
  const watch = await watchPlugins({ host, plugins, runtime, onReport: told.resolve });
  watch.begin();
  await changePlugin(plugin.dir, { files: { "kaged-plugin.yaml": manifest } });
  for (let at = 0; at < 2; at++) await h.pass(LOOK_MS);
  const { kind, plugin: name } = await told.promise;
  await watch.close();
  assert.deepEqual([kind, name, host.plugins()[0]?.state], ["reloaded", "echo", "running"]);
});

test("authoredState() is another one for every change of the author's, and the same for everyone else's", async (t) => {
  const dir = await scratchDir(t);
  await mkdir(join(dir, "src"));
  await writeFile(join(dir, "src/a.js"), "1");
  const own = ownWrites(["write:fs:plugin:/data", `write:fs:${dir}/cache/`, "write:fs:/var/x", "net:*"], dir);
  assert.deepEqual(own, ["data", "cache"]);
  const state = () => authoredState(dir, files, own);
  let before = await state();
  const changes: (() => Promise<unknown>)[] = [
    () => writeFile(join(dir, "src/a.js"), "22"),
    () => writeFile(join(dir, "src/new.js"), ""),
    () => writeFile(join(dir, "src/.tmp"), "22").then(() => rename(join(dir, "src/.tmp"), join(dir, "src/a.js"))),
    () => rename(join(dir, "src"), join(dir, "lib")),
    () => rm(join(dir, "lib"), { recursive: true }),
  ];
  for (const [at, change] of changes.entries()) {
    await change();
    const after = await state();
    assert.notEqual(after, before, `change ${at}`);
    before = after;
  }
  for (const path of ["node_modules/x", ".git/HEAD", "__pycache__/a.pyc", "data/rows", "cache/b"]) {
    await mkdir(join(dir, path, ".."), { recursive: true });
    await writeFile(join(dir, path), "x");
  }
  assert.equal(await state(), before);
  assert.deepEqual(["a.js~", ".a.js.swp", "#a#", "4913"].filter((path) => isAuthored(path, [])), []);
});
