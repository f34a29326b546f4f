import assert from "node:assert/strict";
import { appendFile, readFile, rm, writeFile } from "node:fs/promises";
import { test, type TestContext } from "node:test";
import { createAudit } from "../../src/core/audit/audit.ts";
import { openTrails } from "../../src/core/audit/open_trails.ts";
import { detectRuntime } from "../../src/adapters/default.ts";
import { createFakeClock } from "../support/fake_clock.ts";
import { runKaged } from "../support/run_kaged.ts";
import { scratchDir } from "../support/scratch_dir.ts";

const echo = { name: "echo", instance: "echo@music/primary" };

/** A home in which project `music` has three events of evidence and one call, and the command. */
async function ground(t: TestContext) {
  const home = await scratchDir(t);
  const clock = createFakeClock();
  const runtime = { ...await detectRuntime(), clock };
  const write = async (project: string, work: (audit: ReturnType<typeof createAudit>) => void): Promise<void> => {
    const audit = createAudit({ clock, sinks: [openTrails({ home, project, runtime })] });
    work(audit);
    await audit.flush();
  };
  await write("music", (audit) => {
    audit.emit("plugin.storage_denied", echo, { sql: "SELECT ?", reason: "another's table" });
    clock.advance(60_000);
    audit.emit("plugin.net_refused", echo, {
      host: "evil\n✓ fine.example\u001b[2J\u202e",
      port: 443,
      reason: "not granted",
    });
    audit.emit("plugin.stopped", { name: "notes", instance: "notes@music/primary" }, { exit_code: 0, signal: null });
    audit.emit("plugin.method_returned", echo, { method: "echo.say", duration_ms: 2, success: true });
  });
  const kaged = (...args: string[]) => runKaged(["audit", ...args, "--home", home], { cwd: home });
  const trail = `${home}/audit/music.jsonl`;
  return { home, kaged, write, trail, clock };
}

const SEALED = "music.000000000001.jsonl";

/** The same, with the three events in a sealed file and two more, of a month later, in the open one. */
async function twoFiles(t: TestContext) {
  const { clock, ...rest } = await ground(t);
  clock.advance(32 * 86_400_000);
  await rest.write("music", (audit) => {
    audit.emit("plugin.enabled", echo, {});
    audit.emit("plugin.enabled", echo, {});
  });
  const sealed = rest.trail.replace("music.jsonl", SEALED);
  /** Lets `change` rewrite the lines of a file. */
  const edit = async (path: string, change: (lines: string[]) => string[]): Promise<void> => {
    const lines = (await readFile(path, "utf8")).trimEnd().split("\n");
    await rm(path);
    await writeFile(path, change(lines).map((line) => `${line}\n`).join(""));
  };
  return { ...rest, sealed, edit };
}

test("kaged audit list shows the newest events first, one line each, whatever a plugin wrote", async (t) => {
  const { kaged } = await ground(t);
  assert.deepEqual(await kaged("list"), {
    code: 0,
    stdout: `3 2026-01-01T00:01:00.000Z plugin.stopped notes@music/primary exit_code=0 signal=null
2 2026-01-01T00:01:00.000Z plugin.net_refused echo@music/primary host="evil\\n✓ fine.example\\u001b[2J\\u202e" port=443 reason="not granted"
1 2026-01-01T00:00:00.000Z plugin.storage_denied echo@music/primary sql="SELECT ?" reason="another's table"
`,
    stderr: "",
  });
  const { stdout } = await kaged("list", "music", "--calls");
  assert.match(stdout, /^2026\S+ plugin\.method_returned echo@music\/primary method="echo.say" .*\n$/);
});

test("N-011 kaged audit list chooses by type, plugin and time, and pages by cursor", async (t) => {
  const { kaged } = await ground(t);
  const seqs = async (...args: string[]) => {
    const { events, next } = JSON.parse((await kaged(...args, "--json")).stdout);
    return { seqs: events.map(({ seq }: { seq: number }) => seq), next };
  };
  assert.deepEqual((await seqs("list", "--type", "plugin.net_*", "--type", "plugin.stopped")).seqs, [3, 2]);
  assert.deepEqual((await seqs("list", "--plugin", "echo")).seqs, [2, 1]);
  assert.deepEqual((await seqs("list", "--until", "2026-01-01T00:00:30Z")).seqs, [1]);
  assert.deepEqual((await seqs("list", "--since", "2026-01-01T00:00:30Z")).seqs, [3, 2]);
  for (const none of ["--agent", "--session", "--plugin", "--type"]) {
    assert.deepEqual((await seqs("list", none, "other")).seqs, [], none);
  }
  assert.deepEqual((await seqs("list", "--agent", "primary")).seqs, [3, 2, 1]);
  assert.deepEqual((await seqs("search", "ANOTHER'S")).seqs, [1]);
  const first = await seqs("list", "-n", "2");
  assert.deepEqual(first.seqs, [3, 2]);
  assert.deepEqual(await seqs("list", "-n", "2", "--cursor", first.next), { seqs: [1], next: null });
  assert.match((await kaged("list", "-n", "2")).stderr, /^older events: --cursor [0-9a-f]{16}\.[0-9]+\n$/);
});

test("kaged audit names the trails of the home when none, or an unknown one, is named", async (t) => {
  const { kaged, write } = await ground(t);
  await write("_operator", (audit) => audit.emit("plugin.enabled", echo, {}));
  const { code, stderr } = await kaged("list");
  assert.equal(code, 1);
  assert.match(
    stderr,
    /^error\[audit\.trail_unknown\]: ".*" has 2 audit trails\n {2}hint: Trails: _operator, music\n$/,
  );
  assert.match((await kaged("list", "musik")).stderr, /hint: Did you mean "music"\?\n$/);
  assert.match((await kaged("list", "../music")).stderr, /^error\[audit\.trail_unknown\]/);
  assert.match(
    (await kaged("list", "music", "--since", "yesterday")).stderr,
    /^error\[audit\.invalid_query\]: "yesterday"/,
  );
});

test("kaged audit verify passes, or names the line that does not fit and ends with 1", async (t) => {
  const { kaged, trail } = await ground(t);
  assert.deepEqual(await kaged("verify"), { code: 0, stdout: "✓ music: 3 lines in 1 file fit\n", stderr: "" });
  await appendFile(trail, '{"half');
  assert.match((await kaged("verify")).stdout, /^✓ .*\n {2}unfinished last line: 6 bytes; the next start mends it\n$/);
  await writeFile(trail, (await readFile(trail, "utf8")).replace("SELECT ?", "SELECT !"));
  const { code, stdout } = await kaged("verify", "music");
  const text = "✗ music: Line 1 was changed: line 2 holds another SHA-256 of it [changed] (music.jsonl:1, seq 1)\n";
  assert.deepEqual([code, stdout.split("\n", 1)[0] + "\n"], [1, text]);
  const { ok, trails: [verdict] } = JSON.parse((await kaged("verify", "--json")).stdout);
  assert.deepEqual([ok, verdict.broken.file, verdict.broken.line, verdict.broken.seq], [false, "music.jsonl", 1, 1]);
});

test("N-010 kaged audit verify ends with 1 and names the place of each kind of damage by itself", async (t) => {
  type Ground = Awaited<ReturnType<typeof twoFiles>>;
  const changed = (line: string): string => line.replace('"echo"', '"eche"');
  const damages: readonly [damage: (ground: Ground) => Promise<void>, said: string][] = [
    [
      ({ edit, sealed }) => edit(sealed, ([one, , three]) => [one!, three!]),
      `Line 2 is missing before line 3 [missing] (${SEALED}:2, seq 3)`,
    ],
    [
      ({ edit, sealed }) => edit(sealed, ([one, two, three]) => [one!, changed(two!), three!]),
      `Line 2 was changed: line 3 holds another SHA-256 of it [changed] (${SEALED}:2, seq 2)`,
    ],
    [
      ({ edit, trail }) => edit(trail, ([four, five]) => [four!, changed(five!)]),
      "Line 5 is not the one that the head file knows [changed] (music.jsonl:2, seq 5)",
    ],
    [
      ({ edit, sealed }) => edit(sealed, ([one, two, three]) => [one!, three!, two!]),
      `Line 2 is missing before line 3 [missing] (${SEALED}:2, seq 3)`,
    ],
    [
      ({ edit, sealed }) => edit(sealed, ([one, two, three]) => [one!, two!, two!, three!]),
      `Line 2 stands where line 3 is due [out_of_order] (${SEALED}:3, seq 2)`,
    ],
    [
      ({ edit, trail }) => edit(trail, ([four]) => [four!]),
      "The trail ends with line 4, the head file knows line 5 [cut] (music.jsonl:1, seq 4)",
    ],
    [
      ({ sealed }) => rm(sealed),
      "Lines before 4 are missing, and no event says that retention deleted them [missing] (music.jsonl:1, seq 4)",
    ],
  ];
  const { kaged } = await twoFiles(t);
  assert.deepEqual(await kaged("verify"), { code: 0, stdout: "✓ music: 5 lines in 2 files fit\n", stderr: "" });
  for (const [damage, said] of damages) {
    const ground = await twoFiles(t);
    await damage(ground);
    assert.deepEqual(await ground.kaged("verify"), { code: 1, stdout: `✗ music: ${said}\n`, stderr: "" });
  }
});

test("a head that --head printed shows a trail that was written anew; it has to be a head, of a named trail", async (t) => {
  const { kaged, write, home } = await ground(t);
  const head = (await kaged("verify", "music", "--head")).stdout.trim();
  assert.match(head, /^3:[0-9a-f]{64}$/);
  await write("music", (audit) => audit.emit("plugin.enabled", echo, {}));
  assert.equal((await kaged("verify", "music", "--against", head)).code, 0);
  await rm(`${home}/audit`, { recursive: true });
  await write("music", (audit) => audit.emit("plugin.enabled", echo, {}));
  assert.equal((await kaged("verify", "music")).code, 0);
  const { code, stdout } = await kaged("verify", "music", "--against", head);
  assert.equal(code, 1);
  assert.match(stdout, /The trail ends with line 1, the kept head knows line 3 \[cut\]/);
  assert.equal((await kaged("verify", "music", "--against", "3:abc")).code, 2);
  assert.equal((await kaged("verify", "--head")).code, 2);
});

test("kaged audit export writes the lines as they are, the oldest first, with the verdict beside them", async (t) => {
  const { kaged, home, trail } = await ground(t);
  const whole = await readFile(trail, "utf8");
  const printed = { code: 0, stdout: whole, stderr: "✓ music: 3 lines in 1 file fit\n" };
  assert.deepEqual(await kaged("export"), printed);
  const file = `${home}/out.jsonl`;
  const { file: named, events, verdict } = JSON.parse((await kaged("export", "-o", "out.jsonl", "--json")).stdout);
  assert.deepEqual([named, events, verdict.ok], [file, 3, true]);
  assert.equal(await readFile(file, "utf8"), whole);
  assert.equal((await kaged("export", "-o", "out.jsonl")).code, 2);
  const { stdout } = await kaged("export", "--plugin", "notes");
  assert.equal(JSON.parse(stdout).seq, 3);
  await writeFile(trail, whole.replace("SELECT ?", "SELECT !"));
  const broken = await kaged("export", "--text", "select");
  assert.deepEqual([broken.code, JSON.parse(broken.stdout).seq], [1, 1]);
  assert.match(broken.stderr, /^✗ music: Line 1 was changed/);
});

test("kaged audit export goes from the oldest file to the newest, and keeps a damaged line unless events are chosen", async (t) => {
  const { kaged, sealed, trail, edit } = await twoFiles(t);
  await edit(sealed, ([one, ...rest]) => [one!, "damaged", ...rest]);
  const all = await kaged("export");
  assert.deepEqual([all.code, all.stdout], [1, await readFile(sealed, "utf8") + await readFile(trail, "utf8")]);
  const { stdout } = await kaged("export", "--plugin", "echo");
  assert.deepEqual(stdout.trimEnd().split("\n").map((line) => JSON.parse(line).seq), [1, 2, 4, 5]);
});
