import assert from "node:assert/strict";
import { utimes } from "node:fs/promises";
import { test } from "node:test";
import { detectRuntime } from "../../../../src/adapters/default.ts";
import { chooseTier } from "../../../../src/core/cage/limits/choose_tier.ts";
import type { Command, FileInfo, Files, Runtime } from "../../../../src/core/ports/ports.ts";
import { fakeGroups, type FakeTree, SELF } from "../../../support/fake_groups.ts";
import { scratchDir } from "../../../support/scratch_dir.ts";

const runtime = await detectRuntime();
const { files } = runtime;
const asRoot = (own: Files): Runtime => ({ ...runtime, uid: 0, files: own });
const at = (own: FakeTree): Promise<Files> => fakeGroups(own, files);
const lines = async (path: string): Promise<string[]> => (await files.readText(path)).split("\n").filter((id) => id);
/** Files that show no control group at all. */
const bare: Files = {
  ...files,
  readText: (path) => path.startsWith("/proc/self/") ? Promise.resolve("") : files.readText(path),
};

test("the top of all groups gives controllers on where it stands", async (t) => {
  const dir = await scratchDir(t);
  const { tier, passed } = await chooseTier(asRoot(await at({ dir, own: "", isRoot: true })));
  assert.deepEqual([tier, passed], [{ name: "cgroup2", base: dir }, []]);
  assert.deepEqual(await lines(`${dir}/cgroup.procs`), [SELF]);
  assert.equal(await files.readText(`${dir}/cgroup.subtree_control`), "cpu memory pids");
});

test("in a group of its own the host moves one level down first", async (t) => {
  const dir = await scratchDir(t);
  const { tier } = await chooseTier(asRoot(await at({ dir, own: "/a/b.service" })));
  assert.deepEqual(tier, { name: "cgroup2", base: `${dir}/a/b.service` });
  assert.deepEqual(await lines(`${dir}/a/b.service/kaged-host/cgroup.procs`), [SELF]);
  assert.deepEqual(await lines(`${dir}/a/b.service/cgroup.procs`), []);
});

test("a host that was started by a moved one uses the same room", async (t) => {
  const dir = await scratchDir(t);
  await chooseTier(asRoot(await at({ dir, own: "/a" })));
  const below: Files = {
    ...files,
    readText: (path) =>
      path === "/proc/self/cgroup"
        ? Promise.resolve("0::/a/kaged-host\n")
        : path === "/proc/self/mountinfo"
        ? Promise.resolve(`30 23 0:26 / ${dir} rw - cgroup2 cgroup2 rw\n`)
        : files.readText(path),
    removeDir: (path) => files.remove(path),
  };
  assert.deepEqual((await chooseTier(asRoot(below))).tier, { name: "cgroup2", base: `${dir}/a` });
});

test("a group that others share is left as it is", async (t) => {
  const dir = await scratchDir(t);
  const { tier, passed } = await chooseTier(asRoot(await at({ dir, own: "/a", others: ["7", "8"] })));
  assert.notEqual(tier.name, "cgroup2");
  assert.match(passed[0]?.why ?? "", /^2 other processes/);
  assert.deepEqual(await lines(`${dir}/a/cgroup.procs`), [SELF, "7", "8"]);
  assert.equal(await files.info(`${dir}/a/kaged-host`), null);
});

test("a group without the controllers is passed by, naming those it lacks", async (t) => {
  const dir = await scratchDir(t);
  const { tier, passed } = await chooseTier(asRoot(await at({ dir, own: "/a", controllers: "cpuset pids" })));
  assert.notEqual(tier.name, "cgroup2");
  assert.deepEqual(passed[0], { name: "cgroup2", why: "the host's group has no cpu, memory to give on" });
});

test("a host goes back where it came from when its group still gives nothing on", async (t) => {
  const dir = await scratchDir(t);
  const fake = await at({ dir, own: "/a" });
  const stubborn: Files = {
    ...fake,
    write: (path, content) =>
      path.endsWith("/cgroup.subtree_control")
        ? Promise.reject(Object.assign(new Error("EBUSY"), { code: "EBUSY" }))
        : fake.write(path, content),
  };
  assert.notEqual((await chooseTier(asRoot(stubborn))).tier.name, "cgroup2");
  assert.deepEqual(await lines(`${dir}/a/cgroup.procs`), [SELF]);
  assert.equal(await files.info(`${dir}/a/kaged-host`), null);
});

test("an ordinary user's groups count only if a process can join them", async (t) => {
  const dir = await scratchDir(t);
  const tierOf = async (own: string, readOnly: boolean): Promise<string> => {
    const fake = await at({ dir, own });
    const makeDir: Files["makeDir"] = async (path, options) => {
      await files.makeDir(path, options);
      // A folder in its place: no process can write its id there.
      if (readOnly && path.includes("kaged-try")) await files.makeDir(`${path}/cgroup.procs`);
    };
    return (await chooseTier({ ...runtime, uid: 4242, files: { ...fake, makeDir } })).tier.name;
  };
  assert.equal(await tierOf("/open", false), "cgroup2");
  assert.notEqual(await tierOf("/closed", true), "cgroup2");
});

test("a rehearsal leaves no group behind, and old empty groups of dead hosts go", async (t) => {
  const dir = await scratchDir(t);
  const fake = await at({ dir, own: "", isRoot: true });
  for (const name of ["kaged_old", "kaged_new", "other_old"]) await files.makeDir(`${dir}/${name}`);
  for (const name of ["kaged_old", "other_old"]) await utimes(`${dir}/${name}`, 1, 1);
  await chooseTier(asRoot(fake));
  const groups = (await files.list(dir)).filter((name) => !name.startsWith("cgroup."));
  assert.deepEqual(groups, ["kaged_new", "other_old"]);
});

test("systemd gives a scope where it runs, to root by the system's manager and to others by their own", async () => {
  const here: FileInfo = {
    kind: "other",
    dev: 1,
    ino: 1,
    mode: 0o600,
    uid: 0,
    size: 0,
    allocatedBytes: 0,
    modifiedMs: 0,
    changedMs: 0,
  };
  const asked: Command[] = [];
  const tierFor = async (uid: number, door: string) =>
    (await chooseTier({
      ...runtime,
      uid,
      files: {
        ...bare,
        target: (path) =>
          path === door
            ? Promise.resolve(here)
            : path === "/usr/bin/systemd-run"
            ? Promise.resolve({ ...here, kind: "file" })
            : files.target(path),
      },
      processes: {
        ...runtime.processes,
        spawn(command, listeners) {
          asked.push(command);
          const args = command.args.slice(command.args.indexOf("--") + 1);
          return runtime.processes.spawn({ ...command, file: args[0]!, args: args.slice(1) }, listeners);
        },
      },
    })).tier;
  assert.deepEqual(await tierFor(0, "/run/systemd/private"), {
    name: "systemd",
    program: "/usr/bin/systemd-run",
    env: {},
  });
  const env = { XDG_RUNTIME_DIR: "/run/user/77" };
  assert.deepEqual(await tierFor(77, "/run/user/77/bus"), { name: "systemd", program: "/usr/bin/systemd-run", env });
  assert.deepEqual(asked.map(({ args }) => args[0]), ["--scope", "--user"]);
  assert.notEqual((await tierFor(77, "/run/user/78/bus")).name, "systemd");
});

test("a machine without control groups is watched, and says why nothing better works", async () => {
  const { tier, passed } = await chooseTier(asRoot({ ...bare }));
  assert.deepEqual(tier, { name: "watchdog", prlimit: "/usr/bin/prlimit" });
  assert.deepEqual(passed.map(({ name }) => name), ["cgroup2", "systemd", "cgroup1"]);
  assert.equal(passed[2]?.why, "no tree of version 1 has memory, pids, cpu");
});

test("the choice is made once", async () => {
  assert.equal(await chooseTier(runtime), await chooseTier({ ...runtime }));
});
