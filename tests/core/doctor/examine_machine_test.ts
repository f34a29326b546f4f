import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { test } from "node:test";
import { detectRuntime } from "../../../src/adapters/default.ts";
import { examineMachine } from "../../../src/core/doctor/examine_machine.ts";
import { packageManager } from "../../../src/core/doctor/install_command.ts";
import { judgeNamespaces } from "../../../src/core/doctor/namespace_row.ts";
import type { MachineReport, MachineRow } from "../../../src/core/doctor/report.ts";
import type { Runtime } from "../../../src/core/ports.ts";
import { scratchDir } from "../../support/scratch_dir.ts";

const find = ({ checks }: MachineReport, id: string): MachineRow => checks.find((row) => row.id === id)!;

/** This machine as it would be without the files that `hidden` matches, on Debian. */
function without(hidden: RegExp, runtime: Runtime): Runtime {
  const { files } = runtime;
  return {
    ...runtime,
    uid: 1000,
    files: {
      ...files,
      target: (path) => hidden.test(path) ? Promise.resolve(null) : files.target(path),
      readText: (path) => path === "/etc/os-release" ? Promise.resolve("ID=debian\n") : files.readText(path),
    },
  };
}

test("examineMachine() finds that plugins can run where the suite runs, and cleans up", async (t) => {
  const home = await scratchDir(t);
  const runtime = await detectRuntime();
  const report = await examineMachine(runtime, home);
  assert.equal(report.ok, true);
  const ids = ["platform", "bubblewrap", "user namespaces", "cage", "sqlite", "js"];
  const interpreters = ["deno", "bun", "node", "python3", "bash", "jq"];
  assert.deepEqual(report.checks.map(({ id }) => id), [...ids, ...interpreters]);
  assert.deepEqual(find(report, "cage").status, "ok");
  assert.match(find(report, "bubblewrap").detail, /^bubblewrap \d+\.\d+\.\d+ at \/usr\/(local\/)?bin\/bwrap/);
  assert.equal(find(report, runtime.name).detail, runtime.executable);
  assert.deepEqual(await readdir(`${home}/run`), []);
});

test("examineMachine() gives the command that brings bubblewrap where it is missing", async (t) => {
  const runtime = without(/\/bwrap$/, await detectRuntime());
  const report = await examineMachine(runtime, await scratchDir(t));
  assert.equal(report.ok, false);
  for (const id of ["bubblewrap", "cage"]) {
    const { status, code, hint } = find(report, id);
    const expected = ["missing", "cage.bwrap_missing", "Run: sudo apt-get install -y bubblewrap"];
    assert.deepEqual([status, code, hint], expected, id);
  }
});

test("examineMachine() takes an absent interpreter for a lack that only some plugins feel", async (t) => {
  const report = await examineMachine(without(/\/(jq|deno)$/, await detectRuntime()), await scratchDir(t));
  assert.equal(report.ok, true);
  const { status, optional, hint } = find(report, "jq");
  assert.deepEqual([status, optional, hint], ["missing", true, "Run: sudo apt-get install -y jq"]);
});

test("examineMachine() says that other systems cannot cage a plugin", async (t) => {
  const report = await examineMachine({ ...await detectRuntime(), platform: "darwin" }, await scratchDir(t));
  assert.deepEqual(
    [report.ok, find(report, "platform").status, find(report, "cage").code],
    [false, "missing", "cage.unsupported"],
  );
});

test("judgeNamespaces() names the switch that is off and the command that turns it on", () => {
  const usual = { max: 1000, clone: null, apparmor: null, uid: 1000 };
  assert.equal(judgeNamespaces(usual).status, "ok");
  assert.equal(judgeNamespaces({ ...usual, max: null }).status, "missing");
  assert.equal(judgeNamespaces({ ...usual, max: 0 }).hint, "Run: sudo sysctl -w user.max_user_namespaces=10000");
  assert.equal(judgeNamespaces({ ...usual, clone: 0 }).hint, "Run: sudo sysctl -w kernel.unprivileged_userns_clone=1");
  assert.equal(judgeNamespaces({ ...usual, clone: 0, uid: 0 }).status, "ok", "root may");
  assert.equal(judgeNamespaces({ ...usual, apparmor: 1 }).status, "degraded");
});

test("packageManager() knows a system by its name or by what it is like", () => {
  assert.equal(packageManager('NAME="Debian"\nID=debian\n'), "apt-get install -y");
  assert.equal(packageManager('ID=linuxmint\nID_LIKE="ubuntu debian"\n'), "apt-get install -y");
  assert.equal(packageManager('ID="opensuse-leap"\n'), "zypper install -y");
  assert.equal(packageManager("ID=plan9\n"), null);
  assert.equal(packageManager(""), null);
});
