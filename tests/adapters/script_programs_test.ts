import assert from "node:assert/strict";
import { chmod, realpath, symlink, writeFile } from "node:fs/promises";
import { test } from "node:test";
import { detectRuntime } from "../../src/adapters/default.ts";
import { runtimeIn, SCRIPT_ARGS, scriptPrograms } from "../../src/adapters/shared/script_programs.ts";
import { RUNTIME_PROGRAMS } from "../support/runtime_programs.ts";
import { scratchDir } from "../support/scratch_dir.ts";

const runtime = await detectRuntime();
/** A compiled program at `executable`, with runtimes in `folders` alone. */
const compiled = (executable: string, folders: readonly string[], compiledEnv: Record<string, string> | null = null) =>
  scriptPrograms({ name: "bun", isCompiled: true, executable, compiledEnv, folders });

/** Writes a script that prints `version`, as a version manager puts it in the place of a program. */
async function shim(path: string, version: string): Promise<void> {
  await writeFile(path, `#!/bin/sh\necho '${version}'\n`);
  await chmod(path, 0o755);
}

test("N-037 js may name any Node, Bun or Deno, and each is started in its own way", async (t) => {
  const dir = await scratchDir(t);
  for (const [name, executable] of Object.entries(RUNTIME_PROGRAMS) as [keyof typeof RUNTIME_PROGRAMS, string][]) {
    await symlink(executable, `${dir}/${name}`);
    const own = executable === await realpath(runtime.executable);
    assert.deepEqual(await runtime.scripts(`${dir}/${name}`), {
      name,
      executable: own ? runtime.executable : executable,
      args: SCRIPT_ARGS[name],
      env: {},
    });
  }
});

test("N-037 a path in js that starts no JavaScript files is refused with what is wrong and what would do", async (t) => {
  const dir = await scratchDir(t);
  await shim(`${dir}/shim`, "v24.20.0");
  const cases = {
    [`${dir}/none`]: /^Cannot run JavaScript files with ".*none": .*ENOENT/,
    [`${dir}/shim`]: /shim": it is a script that starts another program$/,
    "/usr/bin/true": /true": it is neither Node, Bun nor Deno$/,
  };
  for (const [path, message] of Object.entries(cases)) {
    await assert.rejects(runtime.scripts(path), {
      code: "cage.js_unusable",
      message,
      hint: "Name one of node 24.15.0, bun 1.4.0, deno 2.9.0, or newer",
    });
  }
});

test("N-037 a compiled program takes a runtime that is installed, one of its own kind before others", async (t) => {
  const [first, second] = [await scratchDir(t), await scratchDir(t)];
  await symlink(RUNTIME_PROGRAMS.node, `${first}/node`);
  const found = await compiled("/opt/agent", [first, second])();
  assert.deepEqual(found, { name: "node", executable: RUNTIME_PROGRAMS.node, args: SCRIPT_ARGS.node, env: {} });
  await symlink(RUNTIME_PROGRAMS.bun, `${second}/bun`);
  assert.equal((await compiled("/opt/agent", [first, second])()).executable, RUNTIME_PROGRAMS.bun);
});

test("N-037 a compiled program on a machine without a runtime says which setting names one, and looks again", async (t) => {
  const folder = await scratchDir(t);
  await shim(`${folder}/bun`, "1.4.0");
  const scripts = compiled("/opt/agent", [folder], { BUN_BE_BUN: "1" });
  await assert.rejects(scripts(), {
    code: "cage.js_missing",
    message: `This program is compiled and starts no JavaScript files, and ${folder} hold no runtime for them: ` +
      `"${folder}/bun" is a script that starts another program`,
    hint: "Set the option js to the path of one of node 24.15.0, bun 1.4.0, deno 2.9.0 or newer, or runtimes.js in " +
      "config.toml; js: process.execPath works too, and lets plugins read this program's own file",
  });
  await symlink(RUNTIME_PROGRAMS.deno, `${folder}/deno`);
  assert.equal((await scripts()).name, "deno");
});

test("N-037 a compiled program starts files itself only where its runtime has a variable for that", async () => {
  const lent = compiled(RUNTIME_PROGRAMS.bun, [], { BUN_BE_BUN: "1" });
  assert.deepEqual(await lent(RUNTIME_PROGRAMS.bun), {
    name: "bun",
    executable: RUNTIME_PROGRAMS.bun,
    args: SCRIPT_ARGS.bun,
    env: { BUN_BE_BUN: "1" },
  });
  await assert.rejects(compiled(RUNTIME_PROGRAMS.deno, [])(RUNTIME_PROGRAMS.deno), {
    code: "cage.js_unusable",
    message:
      `Cannot run JavaScript files with "${RUNTIME_PROGRAMS.deno}": it is this compiled program, which would start itself`,
  });
});

test("N-037 a runtime too old for the relay and the storage process is not taken", () => {
  assert.deepEqual(
    [
      "v24.15.0",
      "v24.14.9",
      "v25.0.0",
      "1.4.0",
      "1.3.22",
      "deno 2.9.1 (stable, release)",
      "deno 2.8.3",
      "v",
      "bash 5.2",
    ]
      .map(runtimeIn),
    [
      { name: "node" },
      "is node 24.14.9, older than 24.15.0",
      { name: "node" },
      { name: "bun" },
      "is bun 1.3.22, older than 1.4.0",
      { name: "deno" },
      "is deno 2.8.3, older than 2.9.0",
      "is neither Node, Bun nor Deno",
      "is neither Node, Bun nor Deno",
    ],
  );
});
