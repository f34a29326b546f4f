/**
 * What an operator finds afterwards, and at any time: the trails, and every plugin that a project declares.
 */
import assert from "node:assert/strict";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { createHost, type Host } from "@kaged/plugin-host";
import { createApp } from "@kaged/plugin-host/http";
import { fixturePlugin } from "../support/fixture_plugins.ts";
import { canCage } from "../support/hook_repo.ts";
import { emptyGround, type Ground } from "./support_newcomer.ts";

/** A host of the project `music`, with one plugin that runs and one whose manifest nobody can read. */
async function musicHost(t: TestContext, { dir, home }: Ground): Promise<Host> {
  const [good, bad] = [
    await fixturePlugin("echo"),
    await fixturePlugin("echo", { manifest: { kaged_api: 7 as never } }),
  ];
  for (const plugin of [good, bad]) t.after(() => plugin[Symbol.asyncDispose]() as Promise<void>);
  const project = join(dir, "music");
  await mkdir(project);
  const declared = { good: { package: "echo" }, bad: { package: "broken" } };
  await writeFile(join(project, "project.yaml"), JSON.stringify({ id: "music", primary: { plugins: declared } }));
  const plugins = { echo: good.dir, broken: bad.dir };
  const host = await createHost({ project, home, plugins, onLog: () => {}, onWarning: () => {} });
  t.after(() => host.stop());
  await host.start();
  return host;
}

// Every call stood between the events that matter, and no command read or checked the files.
test("N-011 calls are kept apart from the audit trail, and kaged audit lists, searches, exports and verifies it", async (t) => {
  if (!await canCage(t)) return;
  const ground = await emptyGround(t);
  const host = await musicHost(t, ground);
  await host.callMethod("echo", "echo.pid");
  await host.stop();
  const typesIn = async (file: string): Promise<string[]> => {
    const lines = (await readFile(join(ground.home, file), "utf8").catch(() => "")).split("\n").filter(Boolean);
    return lines.map((line) => JSON.parse(line).type);
  };
  const [audit, calls] = [await typesIn("audit/music.jsonl"), await typesIn("calls/music.jsonl")];
  assert.equal(audit.includes("plugin.initialized"), true);
  const both = [audit, calls].map((types) => types.includes("plugin.method_called"));
  assert.deepEqual(both, [false, true]);
  for (const args of [["list", "music"], ["search", "initialized"], ["export", "music"], ["verify"]]) {
    const { code, stderr } = await ground.kaged(["audit", ...args]);
    assert.equal(code, 0, `${args}: ${stderr}`);
  }
});

// A plugin whose manifest could not be read was nowhere to be seen.
test("N-014 a plugin that the host refuses stands in kaged plugin list and in the metrics", async (t) => {
  if (!await canCage(t)) return;
  const ground = await emptyGround(t);
  const host = await musicHost(t, ground);
  const { stdout } = await ground.kaged(["plugin", "list"]);
  const app = createApp({ host, token: null });
  const metrics = await (await app.fetch(new Request("http://127.0.0.1/metrics"), {} as never)).text();
  app.close();
  assert.match(metrics, /echo@music\/primary/);
  assert.deepEqual([/^broken .*refused/m.test(stdout), metrics.includes("broken")], [true, true]);
});
