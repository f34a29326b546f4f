import assert from "node:assert/strict";
import { chmod, readdir, writeFile } from "node:fs/promises";
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
  assert.deepEqual([rows.python3?.status, rows.ruby?.detail], ["missing", "/usr/bin/env, named in config.toml"]);
  assert.equal(rows.python3.hint, "Correct runtimes.python3 in config.toml");
});

test("kaged doctor says which files with secrets others can read, and how to close them", async (t) => {
  const home = await scratchDir(t);
  const token = `${home}/token`;
  await writeFile(token, "x", { mode: 0o600 });
  await writeFile(`${home}/local.toml`, `[plugins.a]\nkey = "file:${token}"\n`, { mode: 0o600 });
  const row = async () => {
    const { stdout } = await runKaged(["doctor", "--home", home, "--json"]);
    return JSON.parse(stdout).checks.find(({ id }: { id: string }) => id === "secrets");
  };
  assert.deepEqual(await row(), {
    id: "secrets",
    status: "ok",
    detail: `Only you can read ${home}/local.toml, ${token}`,
  });
  for (const mode of [0o640, 0o604]) {
    await chmod(token, mode);
    const hint = `Run: chmod go-rwx '${token}'`;
    assert.deepEqual(await row(), { id: "secrets", status: "degraded", detail: `Others can read ${token}`, hint });
  }
  await chmod(`${home}/local.toml`, 0o644);
  assert.equal((await row()).detail, `Others can read ${home}/local.toml, ${token}`);
  await writeFile(`${home}/local.toml`, "");
  assert.equal(await row(), undefined);
});

test("kaged doctor and kaged config list say which rules on requests are about no plugin or host that there is", async (t) => {
  const home = await scratchDir(t);
  const rule = (plugin: string): string =>
    `[[net_rules]]\nplugin = "${plugin}"\nhost = "a.example:443"\nmethods = ["GET"]\n`;
  await writeFile(`${home}/local.toml`, '[plugins.github]\nversion = "1.0.0"\n', { mode: 0o600 });
  const rowOf = async (text: string) => {
    await writeFile(`${home}/config.toml`, text);
    const { stdout } = await runKaged(["doctor", "--home", home, "--json"]);
    return JSON.parse(stdout).checks.find(({ id }: { id: string }) => id === "net_rules");
  };
  assert.equal(await rowOf(""), undefined);
  assert.equal((await rowOf(rule("github"))).status, "ok");
  const detail = `${home}/config.toml:2:10: The rule limits nobody: no plugin "githib" is installed`;
  const hint = 'Did you mean "github"?';
  assert.deepEqual(await rowOf(rule("githib")), { id: "net_rules", status: "degraded", detail, hint });
  const { stderr } = await runKaged(["config", "list", "--home", home]);
  assert.equal(stderr, `warning: ${detail}. ${hint}\n`);
});
