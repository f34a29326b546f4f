import assert from "node:assert/strict";
import { readdir, writeFile } from "node:fs/promises";
import { test } from "node:test";
import { runKaged } from "../support/run_kaged.ts";
import { scratchDir } from "../support/scratch_dir.ts";

test("kaged doctor prints a table, leaves nothing behind and exits with 0 where plugins can run", async (t) => {
  const tmp = await scratchDir(t);
  const { code, stdout, stderr } = await runKaged(["doctor"], { env: { TMPDIR: tmp }, isProcess: true });
  assert.deepEqual([code, stderr], [0, ""]);
  for (
    const row of [
      /^ok +platform +linux /m,
      /^(ok +user +User \d+, not root|degraded +user +Root, which is not recommended; its walls stand)/m,
      /^ok +bubblewrap +bubblewrap /m,
      /^ok +seccomp +/m,
      /^ok +apparmor +/m,
      /^(ok|degraded) +limits +\w+: 512 MB/m,
      /^ok +cage +/m,
      /^ok +sqlite +/m,
    ]
  ) {
    assert.match(stdout, row);
  }
  assert.match(stdout, /\n\nPlugins can run here\n$/);
  assert.deepEqual(await readdir(tmp), []);
});

test("kaged doctor --json gives { ok, checks } with id, status and detail in each", async () => {
  const { code, stdout } = await runKaged(["doctor", "--json"]);
  const { ok, checks } = JSON.parse(stdout);
  assert.deepEqual([code, ok], [0, true]);
  for (const { id, status, detail } of checks) {
    assert.deepEqual([typeof id, typeof detail], ["string", "string"]);
    assert.ok(["ok", "degraded", "missing"].includes(status), status);
  }
});

test("kaged doctor --home looks at the programs that config.toml of that home names", async (t) => {
  const home = await scratchDir(t);
  await writeFile(`${home}/config.toml`, '[runtimes]\npython3 = "/none/python3"\nruby = "/usr/bin/env"\n');
  const { stdout } = await runKaged(["doctor", "--home", home, "--json"]);
  const rows = Object.fromEntries(JSON.parse(stdout).checks.map((row: { id: string }) => [row.id, row]));
  assert.deepEqual([rows.python3.status, rows.ruby.detail], ["missing", "/usr/bin/env, named in config.toml"]);
  assert.equal(rows.python3.hint, "Correct runtimes.python3 in config.toml");
});
