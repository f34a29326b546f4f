import assert from "node:assert/strict";
import { join } from "node:path";
import { readFile, writeFile } from "node:fs/promises";
import { test, type TestContext } from "node:test";
import { detectRuntime } from "../../src/adapters/default.ts";
import { openTrails } from "../../src/core/audit/open_trails.ts";
import { canCage } from "../support/hook_repo.ts";
import { scratchDir } from "../support/scratch_dir.ts";
import { type Served, served } from "../support/served.ts";

const AUDIT = "/api/v1/audit";

/** A host with one plugin whose trails are files of its home. */
async function audited(t: TestContext): Promise<Served> {
  const home = await scratchDir(t);
  const runtime = await detectRuntime();
  const audit = [openTrails({ home, project: "music", runtime } as never)];
  const fixtures = { "@test/echo": "echo" };
  return await served({ primary: { echo: {} }, fixtures, home, audit });
}

const typesOf = ({ body }: { readonly body: { events: { type: string }[] } }): string[] =>
  body.events.map(({ type }) => type);

test("stored events are answered newest first, by type, plugin, agent, text and time, page by page", async (t) => {
  if (!await canCage(t)) return;
  await using s = await audited(t);
  await s.h.host.callMethod("echo", "echo.params", {});
  const all = await s.ask(AUDIT);
  assert.equal(all.status, 200);
  assert.deepEqual(typesOf(all).slice(-2).toReversed(), ["plugin.spawned", "plugin.initialized"]);
  assert.deepEqual(typesOf(await s.ask(`${AUDIT}?types=plugin.spawned,plugin.init*&limit=1`)), ["plugin.initialized"]);
  const calls = typesOf(await s.ask(`${AUDIT}?trail=calls&plugin=echo`));
  assert.deepEqual(calls, ["plugin.method_returned", "plugin.method_called"]);
  assert.deepEqual(typesOf(await s.ask(`${AUDIT}?text=METHODS_COUNT&agent=primary`)), ["plugin.initialized"]);
  for (const none of ["until=2000-01-01", "since=3000-01-01", "plugin=other", "agent=other", "session=ses_other"]) {
    assert.deepEqual(typesOf(await s.ask(`${AUDIT}?${none}`)), [], none);
  }
  assert.deepEqual(typesOf(await s.ask(`${AUDIT}?of=operator`)), []);
  const walked: string[] = [];
  for (let cursor: string | null = ""; cursor !== null;) {
    const query: string = cursor === "" ? "" : `&cursor=${cursor}`;
    const page = await s.ask(`${AUDIT}?limit=1${query}`);
    walked.push(...typesOf(page));
    cursor = page.body.next;
    assert.ok(walked.length < 100, "The cursors lead in a circle");
  }
  assert.deepEqual(walked, typesOf(all));
});

test("a query that is none is refused with the place", async (t) => {
  if (!await canCage(t)) return;
  await using s = await audited(t);
  for (const query of ["cursor=1", "since=soon", "trail=all", "types=A", "limit=0", "of=me"]) {
    assert.equal((await s.ask(`${AUDIT}?${query}`)).status, 400, query);
  }
});

test("the trail is verified over HTTP: whole, and broken once a line is changed", async (t) => {
  if (!await canCage(t)) return;
  await using s = await audited(t);
  const whole = await s.ask(`${AUDIT}/verify`);
  assert.deepEqual([whole.body.ok, whole.body.broken, whole.body.project], [true, null, "music"]);
  const { body: operator } = await s.ask(`${AUDIT}/verify?of=operator`);
  assert.deepEqual([operator.project, operator.lines], ["_operator", 0]);
  const file = join(s.h.home, "audit/music.jsonl");
  await writeFile(file, (await readFile(file, "utf8")).replace("plugin.spawned", "plugin.stopped"));
  const { body } = await s.ask(`${AUDIT}/verify`);
  assert.deepEqual([body.ok, body.broken.line], [false, 1]);
});
