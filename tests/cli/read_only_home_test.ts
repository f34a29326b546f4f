import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, readdir, rename } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { fixturePlugin } from "../support/fixture_plugins.ts";
import { requireOrSkip } from "../support/require_or_skip.ts";
import { kagedCommand, runKaged } from "../support/run_kaged.ts";
import { scratchDir } from "../support/scratch_dir.ts";

/** Leaves a socket in `run/` as a host that died does: under its final name, with nobody behind it. */
async function leaveSocket(home: string): Promise<string> {
  await mkdir(join(home, "run"), { recursive: true, mode: 0o700 });
  const server = createServer().listen(join(home, "run/fresh"));
  await once(server, "listening");
  await rename(join(home, "run/fresh"), join(home, "run/4194305.sock"));
  server.close();
  await once(server, "close");
  return "4194305.sock";
}

test("kaged plugin list works in a home that cannot be written, although a dead host's socket stays", async (t) => {
  const hasBwrap = existsSync("/usr/bin/bwrap");
  if (!await requireOrSkip(t, "a working bubblewrap", hasBwrap, "install the package bubblewrap")) return;
  const dir = await scratchDir(t);
  const home = join(dir, "home");
  await using plugin = await fixturePlugin("echo");
  const installed = await runKaged(["plugin", "install", plugin.dir, "--home", home], { cwd: dir });
  assert.equal(installed.code, 0, installed.stderr);
  const socket = await leaveSocket(home);
  const { command, args } = kagedCommand(["plugin", "list", "--home", home]);
  // The command is in the script: Deno would rewrite an argument that is its own path.
  const words = [command, ...args].map((word) => `'${word}'`).join(" ");
  const list = (bind: string) =>
    spawnSync("/usr/bin/bwrap", ["--dev-bind", "/", "/", bind, home, home, "/bin/sh", "-c", words], {
      env: { PATH: "/usr/bin:/bin", HOME: dir, DENO_DIR: join(dir, "deno") },
      encoding: "utf8",
    });
  const { status, stdout, stderr } = list("--ro-bind");
  assert.deepEqual([status, stderr], [0, ""]);
  assert.match(stdout, /^echo +1\.0\.0/m);
  assert.ok((await readdir(join(home, "run"))).includes(socket));
  assert.equal(list("--bind").status, 0);
  assert.equal((await readdir(join(home, "run"))).includes(socket), false, "where it can be removed it is");
});
