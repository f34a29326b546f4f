import assert from "node:assert/strict";
import { copyFile, symlink } from "node:fs/promises";
import { test, type TestContext } from "node:test";
import { detectRuntime } from "../../../src/adapters/default.ts";
import type { ResolvedCommand } from "../../../src/core/cage/cage_plan.ts";
import { type CommandPlaces, resolveCommand } from "../../../src/core/cage/resolve_command.ts";
import type { Runtime, ScriptProgram } from "../../../src/core/ports/ports.ts";
import { manifestOf } from "../../support/cage_requests.ts";
import { scratchDir } from "../../support/scratch_dir.ts";

const runtime = await detectRuntime();
const { files } = runtime;
const missing = { code: "cage.command_missing" };

interface Ground {
  readonly dir: string;
  script(name: string, text: string, mode?: number): Promise<string>;
  resolve(command: string[], own?: Partial<CommandPlaces>, on?: Runtime): Promise<ResolvedCommand>;
  shown(command: string[], own?: Partial<CommandPlaces>): Promise<string[]>;
}

async function ground(t: TestContext): Promise<Ground> {
  const dir = await scratchDir(t);
  await files.makeDir(`${dir}/plugin`);
  await files.makeDir(`${dir}/home`);
  const places = { installDir: `${dir}/plugin`, home: `${dir}/home`, runtimes: {}, programs: [] };
  const resolve: Ground["resolve"] = (command, own = {}, on = runtime) =>
    resolveCommand(manifestOf({ command }), { ...places, ...own }, on);
  return {
    dir,
    resolve,
    async script(name, text, mode = 0o755) {
      await files.write(`${dir}/plugin/${name}`, text, mode);
      return `${dir}/plugin/${name}`;
    },
    shown: async (command, own) => (await resolve(command, own)).mounts.map(({ dest }) => dest),
  };
}

test("a bare name is one program of the system, mounted where PATH finds it", async (t) => {
  const { resolve } = await ground(t);
  assert.deepEqual(await resolve(["bash", "-c", "true"]), {
    argv: ["/usr/bin/bash", "-c", "true"],
    mounts: [{ source: await files.realPath("/usr/bin/bash"), dest: "/usr/bin/bash" }],
    env: {},
  });
});

test("a program that is a link on the host keeps its name in the cage", async (t) => {
  const { resolve } = await ground(t);
  const { mounts } = await resolve(["sh"]);
  assert.deepEqual(mounts, [{ source: await files.realPath("/usr/bin/sh"), dest: "/usr/bin/sh" }]);
});

test("the name of the host's own runtime is the host's own executable", async (t) => {
  const { resolve } = await ground(t);
  const { mounts } = await resolve([runtime.name, "x"]);
  assert.deepEqual(mounts, [{ source: await files.realPath(runtime.executable), dest: `/usr/bin/${runtime.name}` }]);
});

test("js is the runtime the host runs on, started so that the plugin can do what its cage allows", async (t) => {
  const { resolve } = await ground(t);
  const scripts = async (): Promise<ScriptProgram> => {
    const program = await runtime.scripts();
    return { ...program, args: { ...program.args, plugin: ["run", "--all"] }, env: { BE: "it" } };
  };
  const own: Runtime = { ...runtime, scripts };
  const argv = ["/usr/bin/js", "run", "--all", "./x.js"];
  const { argv: resolved, env } = await resolve(["js", "./x.js"], {}, own);
  assert.deepEqual({ resolved, env }, { resolved: argv, env: { BE: "it" } });
  assert.deepEqual((await resolve(["/usr/bin/env", "js", "./x.js"], {}, own)).argv, argv);
  assert.deepEqual((await resolve(["sh", "./x.sh"], {}, own)).env, {});
  const { mounts } = await resolve(["/usr/bin/env", "js", "./x.js"]);
  assert.deepEqual(mounts, [{ source: await files.realPath(runtime.executable), dest: "/usr/bin/js" }]);
});

test("a runtime the operator named comes before all others", async (t) => {
  const { resolve } = await ground(t);
  const source = await files.realPath("/usr/bin/bash");
  for (const name of ["lua", "sh", runtime.name]) {
    const { mounts } = await resolve([name], { runtimes: { [name]: "/usr/bin/bash" } });
    assert.deepEqual(mounts, [{ source, dest: `/usr/bin/${name}` }]);
  }
  await assert.rejects(resolve(["lua"], { runtimes: { lua: "/no/such/lua" } }), missing);
});

test("a python of its own place brings its library and is linked to", async (t) => {
  const { dir, resolve } = await ground(t);
  await files.makeDir(`${dir}/py/bin`, { recursive: true });
  await files.makeDir(`${dir}/py/lib`);
  await copyFile("/usr/bin/true", `${dir}/py/bin/python3.12`);
  await symlink("python3.12", `${dir}/py/bin/python3`);
  const { argv, mounts } = await resolve(["python3"], { runtimes: { python3: `${dir}/py/bin/python3` } });
  assert.deepEqual(argv, ["/usr/bin/python3"]);
  assert.deepEqual(mounts, [
    { source: `${dir}/py/bin/python3.12`, dest: `${dir}/py/bin/python3.12` },
    { source: `${dir}/py/lib`, dest: `${dir}/py/lib` },
    { source: `${dir}/py/bin/python3.12`, dest: "/usr/bin/python3", link: true },
  ]);
});

test("a file of the plugin brings its interpreter, through env its name too", async (t) => {
  const { dir, script, shown, resolve } = await ground(t);
  await script("a.sh", "#!/bin/sh\n");
  assert.deepEqual(await shown(["./a.sh"]), ["/usr/bin/sh"]);
  assert.deepEqual((await resolve(["./a.sh", "-x"])).argv, [`${dir}/plugin/a.sh`, "-x"]);
  await script("b", "#!/usr/bin/env -S bash -e\n");
  assert.deepEqual(await shown(["./b"]), ["/usr/bin/bash", "/usr/bin/env"]);
  await script("c", await files.readText(await script("d", "no script")));
  assert.deepEqual(await shown(["./c"]), []);
});

test("scripts that start each other are followed three deep", async (t) => {
  const { script, shown } = await ground(t);
  let path = "/bin/sh";
  for (const name of ["a", "b", "c", "d"]) path = await script(name, `#!${path}\n`);
  assert.deepEqual(await shown(["./c"]), ["/usr/bin/sh"]);
  await assert.rejects(shown(["./d"]), missing);
});

test("env in a command brings the program it names", async (t) => {
  const { shown } = await ground(t);
  assert.deepEqual(await shown(["/usr/bin/env", "bash", "x"]), ["/usr/bin/bash", "/usr/bin/env"]);
  await assert.rejects(shown(["/usr/bin/env"]), missing);
  await assert.rejects(shown(["/usr/bin/env", "-i", "bash"]), missing);
});

test("exec: grants bring their programs", async (t) => {
  const { shown } = await ground(t);
  assert.deepEqual(await shown(["bash"], { programs: ["ls", "cat"] }), [
    "/usr/bin/bash",
    "/usr/bin/cat",
    "/usr/bin/ls",
  ]);
  await assert.rejects(shown(["bash"], { programs: ["no-such-program"] }), missing);
});

test("a relative command stays in the plugin's folder", async (t) => {
  const { dir, shown } = await ground(t);
  await files.write(`${dir}/outside.sh`, "#!/bin/sh\n", 0o755);
  await symlink("../outside.sh", `${dir}/plugin/link.sh`);
  for (const program of ["../outside.sh", "./../outside.sh", "./link.sh", "./none.sh", "./."]) {
    await assert.rejects(shown([program]), missing, program);
  }
});

test("an absolute command is no way to read the host's files", async (t) => {
  const { dir, shown, script } = await ground(t);
  await files.write(`${dir}/token.sh`, "#!/bin/sh\nTOKEN=secret\n", 0o755);
  await files.write(`${dir}/secret`, "secret", 0o755);
  await files.makeDir(`${dir}/home/plugins`);
  await copyFile("/usr/bin/true", `${dir}/home/plugins/true`);
  await copyFile("/usr/bin/true", `${dir}/true`);
  await symlink(`${dir}/true`, `${dir}/link`);
  for (const path of [`${dir}/token.sh`, `${dir}/secret`, `${dir}/home/plugins/true`, `${dir}/link`, "/etc/hostname"]) {
    await assert.rejects(shown([path]), missing, path);
    await script("first-line", `#!${path}\n`);
    await assert.rejects(shown(["./first-line"]), missing, path);
    await files.remove(`${dir}/plugin/first-line`);
  }
  assert.deepEqual(await shown([`${dir}/true`]), [`${dir}/true`]);
  assert.deepEqual(await shown([runtime.executable]), [await files.realPath(runtime.executable)]);
});

test("a stand-in script found by a bare name is refused, unless the operator named it", async (t) => {
  const { dir, resolve } = await ground(t);
  const shim = `${dir}/shim`;
  await files.write(shim, "#!/bin/sh\nexec real-tool\n", 0o755);
  const found: Runtime = {
    ...runtime,
    files: {
      ...files,
      target: (path) => files.target(path === "/usr/local/bin/tool" ? shim : path),
      realPath: (path) => files.realPath(path === "/usr/local/bin/tool" ? shim : path),
    },
  };
  await assert.rejects(resolve(["tool"], {}, found), { code: "cage.command_shim", hint: /runtimes\.tool/ });
  const { mounts } = await resolve(["tool"], { runtimes: { tool: shim } });
  assert.deepEqual(mounts.map(({ dest }) => dest), ["/usr/bin/sh", "/usr/bin/tool"]);
});

test("a file that is not executable, and a first line that is no path, are reported as such", async (t) => {
  const { script, shown } = await ground(t);
  await script("plain", "#!/bin/sh\n", 0o644);
  await assert.rejects(shown(["./plain"]), { ...missing, message: /not executable/, hint: /chmod \+x/ });
  await script("relative", "#!sh\n");
  await assert.rejects(shown(["./relative"]), missing);
  await script("windows", "#!/bin/sh\r\n");
  await assert.rejects(shown(["./windows"]), { ...missing, message: /\\r/ });
});
