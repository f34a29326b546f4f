import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { createHost } from "../../mod.ts";
import { fixturePlugin } from "../support/fixture_plugins.ts";
import { canCage } from "../support/hook_repo.ts";
import { scratchDir } from "../support/scratch_dir.ts";
import { installedHome, type TrailEvent, trailLines } from "./support.ts";

/** Lines of noise at once. */
const ROUND = 4_000;
/** Asks for what is not its own, and makes noise in rounds, so that a host that keeps the noise can keep all of it. */
const NOISY = `import { ask, reply, serve, write } from "./wire.js";
serve({
  "fixture.ask": async ({ id }) => reply(id, await ask("kaged.storage.query", { sql: "SELECT * FROM sqlite_schema" })),
  "fixture.noise": ({ id }) => (write(\`\${"noise ".repeat(33)}\\n\`.repeat(${ROUND})), reply(id, {})),
});`;

// A plugin could push an earlier refusal out of the rotated audit files with noise on its stdout, and ran on.
test("N-009 a plugin that floods its stdout pushes no earlier refusal out of the trail, and is ended", async (t) => {
  if (!await canCage(t)) return;
  const dir = await scratchDir(t);
  const [home, project] = [join(dir, "home"), join(dir, "music")];
  await mkdir(project);
  await writeFile(join(project, "project.yaml"), "id: music\nprimary: { plugins: { e: { package: echo } } }\n");
  const manifest = { capabilities: ["kaged:storage:read"], methods: ["fixture.ask", "fixture.noise"] };
  await using plugin = await fixturePlugin("echo", { manifest, files: { "index.js": NOISY } });
  await using host = await createHost({ project, home, plugins: { echo: plugin.dir }, onLog: () => {} });
  assert.deepEqual((await host.start()).running, ["echo@music/primary"]);
  await host.callMethod("echo", "fixture.ask");
  let state = "runs";
  for (let lines = 0; lines < 400_000 && state === "runs"; lines += ROUND) {
    state = await host.callMethod("echo", "fixture.noise").then(() => "runs", ({ code }) => code);
    await readdir(join(home, "audit")); // Lets the host write what it has.
  }
  await host.stop();
  const types = (await trailLines(home, "music")).map((line) => (JSON.parse(line) as TrailEvent).type);
  assert.equal(types.filter((type) => type === "plugin.storage_denied").length, 1, "refusals in the trail");
  assert.deepEqual([state, types.includes("plugin.flood")], ["plugin.flood", true]);
});

// The event of an install named neither the files nor the rights that the operator had agreed to.
test("the trail of an install holds the hash of the files and the capabilities that were granted", async (t) => {
  const capabilities = ["kaged:storage:read"];
  const { home } = await installedHome(t, "echo", { manifest: { capabilities } });
  const events = (await trailLines(home, "_operator")).map((line) => JSON.parse(line) as TrailEvent);
  const { data } = events.find(({ type }) => type === "plugin.installed")!;
  const [, hash] = /hash = "([^"]+)"/.exec(await readFile(join(home, "local.toml"), "utf8")) ?? [];
  assert.deepEqual([data["capabilities"], data["hash"]], [capabilities, hash]);
});

// A line of the trail could be changed or taken out, and nothing showed it.
test("N-010 each line of a trail names the line before, and a line that was changed is found", async (t) => {
  const { home, kaged } = await installedHome(t, "echo");
  for (const order of ["enable", "disable"]) assert.equal((await kaged("plugin", order, "echo")).code, 0);
  const lines = await trailLines(home, "_operator");
  assert.ok(lines.length >= 3);
  const hashes = lines.map((line) => createHash("sha256").update(line).digest("hex"));
  assert.deepEqual(lines.slice(1).map((line) => (JSON.parse(line) as TrailEvent).prev), hashes.slice(0, -1));
  assert.equal((await kaged("audit", "verify")).code, 0);
  const file = join(home, "audit/_operator.jsonl");
  await writeFile(file, (await readFile(file, "utf8")).replace('"version":"1.0.0"', '"version":"1.0.1"'));
  const { code, stdout, stderr } = await kaged("audit", "verify");
  assert.equal(code, 1, stdout + stderr);
});
