import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { chmod, copyFile, mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { compiledCode } from "../support/compiled_code.ts";
import { HOST_VERSION } from "../../src/core/values/version.ts";
import { scratchDir } from "../support/scratch_dir.ts";

const ROOT: string = fileURLToPath(new URL("../../", import.meta.url));
const KAGED: string = join(ROOT, "bin/kaged");

interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

function run(file: string, args: readonly string[], env: Record<string, string>, cwd = "/"): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(file, [...args], { env, cwd }, (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr });
    });
  });
}

const printed = { code: 0, stdout: HOST_VERSION + "\n", stderr: "" };

test("bin/kaged runs through a link, from any folder, on each runtime", async (t) => {
  const dir = await scratchDir(t);
  await symlink(KAGED, join(dir, "kaged"));
  for (const runtime of ["node", "deno", "bun"]) {
    const env = { PATH: "/usr/bin:/bin", HOME: "/nonexistent", ...compiledCode, KAGED_RUNTIME: runtime };
    assert.deepEqual(await run(join(dir, "kaged"), ["--version"], env, dir), printed, runtime);
  }
});

test("bin/kaged runs on Node with an empty environment", async () => {
  assert.deepEqual(await run(KAGED, ["--version"], {}), printed);
});

test("bin/kaged on Bun obeys no bunfig.toml and no .env of the current folder", async (t) => {
  const dir = await scratchDir(t);
  await writeFile(join(dir, "bunfig.toml"), 'preload = ["./evil.js"]\n');
  await writeFile(join(dir, "evil.js"), 'console.log("preloaded");\n');
  await writeFile(join(dir, ".env"), "KAGED_HOME=/evil\n");
  const env = { PATH: "/usr/bin:/bin", HOME: dir, KAGED_RUNTIME: "bun" };
  assert.deepEqual(await run(KAGED, ["--version"], env, dir), printed);
});

test("bin/kaged exits with 2 when KAGED_RUNTIME names no runtime", async () => {
  assert.deepEqual(await run(KAGED, ["--version"], { PATH: "/usr/bin:/bin", KAGED_RUNTIME: "perl" }), {
    code: 2,
    stdout: "",
    stderr: 'error[host.misuse]: KAGED_RUNTIME is "perl": expected deno, bun or node\n',
  });
});

test("bin/kaged says what to run in a checkout that is not set up", async (t) => {
  const dir = await scratchDir(t);
  await mkdir(join(dir, "bin"));
  await copyFile(KAGED, join(dir, "bin/kaged"));
  await chmod(join(dir, "bin/kaged"), 0o755);
  assert.deepEqual(await run(join(dir, "bin/kaged"), ["--version"], { PATH: "/usr/bin:/bin" }), {
    code: 1,
    stdout: "",
    stderr: `error[host.setup_missing]: This checkout has no node yet\n  hint: Run: npm ci --prefix "${dir}"\n`,
  });
});

test("kaged says in one line that a runtime is too old, before it loads anything else", async () => {
  const older = "Object.defineProperty(process.versions, 'node', { value: '24.14.9' })";
  const fake = `data:text/javascript,const versions = { ...process.versions }; ` +
    `Object.defineProperty(process, 'versions', { value: versions }); ${older}`;
  const args = ["--import", fake, join(ROOT, "src/cli/bin.ts"), "--version"];
  assert.deepEqual(await run(join(ROOT, "node_modules/.bin/node"), args, { PATH: "/usr/bin:/bin" }), {
    code: 1,
    stdout: "",
    stderr: "error[host.runtime_old]: kaged needs node 24.15.0 or newer, and this is 24.14.9\n",
  });
});
