import assert from "node:assert/strict";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { detectRuntime } from "../../../src/adapters/default.ts";
import { checkHome, homeFolder } from "../../../src/core/files/home.ts";
import { runKaged } from "../../support/run_kaged.ts";
import { scratchDir } from "../../support/scratch_dir.ts";

const env = (variables: Readonly<Record<string, string>>) => (name: string) => variables[name] ?? null;

test("the operator's folder is the one given, else KAGED_HOME, else one of the user's", () => {
  const both = env({ KAGED_HOME: "/srv/kaged/", HOME: "/home/ada" });
  assert.equal(homeFolder("/given", both), "/given");
  assert.equal(homeFolder(undefined, both), "/srv/kaged");
  assert.equal(homeFolder(undefined, env({ HOME: "/home/ada" })), "/home/ada/.local/share/kaged");
  assert.equal(homeFolder("/", both), "/");
});

test("a folder that is not absolute, or none at all, is refused with what to set", () => {
  const told = (given: string | undefined, variables = {}) => () => homeFolder(given, env(variables));
  assert.throws(told("here"), { code: "host.misuse", message: 'The home folder "here" is not absolute' });
  assert.throws(told(undefined, { KAGED_HOME: "~/x" }), { code: "host.misuse", hint: /KAGED_HOME/ });
  assert.throws(told(undefined), { code: "host.misuse", message: "There is no home folder" });
});

const runtime = await detectRuntime();

/** A home with the files that decide what runs, and mode 0755. */
async function someHome(t: TestContext): Promise<string> {
  const home = join(await scratchDir(t), "home");
  for (const name of ["plugins", "pins"]) await mkdir(join(home, name), { recursive: true });
  for (const name of ["local.toml", "config.toml"]) await writeFile(join(home, name), "");
  await writeFile(join(home, "trust.json"), "{}");
  return home;
}

test("a home that is the operator's alone passes, also below a folder like /tmp, and one that is still to be made", async (t) => {
  const home = await someHome(t);
  await checkHome(home, runtime);
  await checkHome(join(home, "missing"), runtime);
  await chmod(join(home, ".."), 0o1777);
  await checkHome(home, runtime);
});

test("a home that others may write is refused, and so is each file in it that decides what runs", async (t) => {
  const home = await someHome(t);
  for (const name of ["", "/local.toml", "/config.toml", "/trust.json", "/plugins", "/pins"]) {
    for (const mode of [0o777, 0o775, 0o702]) {
      await chmod(home + name, mode);
      const hint = `Look at what it holds, then run chmod go-w ${home + name}`;
      await assert.rejects(checkHome(home, runtime), { code: "host.home_exposed", hint });
    }
    await chmod(home + name, 0o755);
  }
});

test("a home in a folder where anybody may replace it is refused", async (t) => {
  const home = await someHome(t);
  await chmod(join(home, ".."), 0o777);
  await assert.rejects(checkHome(home, runtime), { code: "host.home_exposed", hint: /chmod o-w / });
});

test("a home of another user is refused, and one of root is not", async (t) => {
  const home = await someHome(t);
  const ownedBy = (uid: number) => ({
    ...runtime.files,
    target: async (path: string) => {
      const info = await runtime.files.target(path);
      return info && { ...info, uid };
    },
  });
  await checkHome(home, { files: ownedBy(0), uid: 1000 });
  const hint = `Look at what it holds, then run chown 1000 ${home}`;
  await assert.rejects(checkHome(home, { files: ownedBy(1001), uid: 1000 }), { code: "host.home_exposed", hint });
});

test("a local.toml that all may write stops every command that uses the home, with the fix", async (t) => {
  const home = await someHome(t);
  await chmod(join(home, "local.toml"), 0o666);
  const project = await scratchDir(t);
  await writeFile(join(project, "project.yaml"), "primary: {}\n");
  for (
    const args of [
      ["plugin", "list"],
      ["plugin", "call", "tasks", "ping"],
      ["project", "resolve", project],
      ["config", "list"],
      ["hooks", "list", "--dir", project],
      ["serve", "--project", project],
      ["doctor"],
    ]
  ) {
    const { code, stderr } = await runKaged([...args, "--home", home]);
    assert.equal(code, 1, args.join(" "));
    assert.match(stderr, /error\[host\.home_exposed\][^]*\n {2}hint: Look at what it holds, then run chmod go-w \//);
  }
});
