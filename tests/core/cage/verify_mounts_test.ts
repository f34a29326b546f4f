import assert from "node:assert/strict";
import { test } from "node:test";
import { verifyMounts, writableMounts } from "../../../src/core/cage/verify_mounts.ts";
import { detectRuntime } from "../../../src/adapters/default.ts";
import type { Files } from "../../../src/core/ports/ports.ts";

const { files } = await detectRuntime();
const line = (id: number, at: string, flags: string, parent = 1): string =>
  `${id} ${parent} 0:6 / ${at} ${flags},nosuid,relatime - tmpfs tmpfs rw\n`;
const nodes = (flags: string): string =>
  ["null", "zero", "full", "random", "urandom", "tty"].map((name, at) => line(40 + at, `/dev/${name}`, flags)).join("");
const OWN = ["/tmp", "/dev/shm", "/dev/pts"].map((at, index) => line(10 + index, at, "rw")).join("");
const granted = [
  { path: "/srv/work", access: "write", dev: 1, ino: 2 },
  { path: "/srv/work/plugin", access: "read", dev: 1, ino: 2 },
] as const;

/** Looks at a cage with these mounts; resolves to the faults that were found. */
async function faultsOf(mounts: string | null, { isRoot = true, isGone = false } = {}): Promise<readonly string[]> {
  const looked: Files = {
    ...files,
    readText: () => mounts === null ? Promise.reject(new Error("EINVAL")) : Promise.resolve(mounts),
    target: (path) =>
      path.endsWith("/closed") ? Promise.reject(Object.assign(new Error(), { code: "EACCES" })) : Promise.resolve(
        isGone ? null : {
          kind: "directory",
          dev: 1,
          ino: 2,
          mode: 0,
          uid: 0,
          size: 0,
          allocatedBytes: 0,
          modifiedMs: path.length,
          changedMs: 0,
        },
      ),
  };
  const plan = { granted, overlays: [{ dest: "/srv/work/.git" }], isRoot };
  return await verifyMounts(7, plan, looked).then(() => [], (error) => {
    assert.equal(error.code, "cage.walls_missing");
    return error.data.faults;
  });
}

test("verifyMounts() passes the cage's own folders, write grants with what is mounted in them, and nothing else", async () => {
  const whole = `${line(1, "/", "ro", 0)}${OWN}${nodes("ro")}${line(20, "/srv/work", "rw")}`;
  assert.deepEqual(await faultsOf(whole), []);
  assert.deepEqual(await faultsOf(whole + line(21, "/srv/work/disk", "rw")), []);
  for (const at of ["/", "/proc", "/usr/lib", "/srv/workshop", "/srv/work/plugin", "/srv/work/.git", "/tmp/below"]) {
    assert.deepEqual(await faultsOf(whole + line(60, at, "rw")), [`it can change ${at}`], at);
  }
  assert.deepEqual(await faultsOf(whole + line(60, "/a\\040b", "rw")), ["it can change /a b"]);
});

test("verifyMounts() minds no writable mount that the host's user, and so the plugin, cannot get to", async () => {
  const whole = `${line(1, "/", "ro", 0)}${line(20, "/srv/read", "ro")}`;
  assert.deepEqual(await faultsOf(whole + line(21, "/srv/read/closed", "rw")), []);
  assert.equal((await faultsOf(whole + line(21, "/srv/read/open", "rw"))).length, 1);
});

test("verifyMounts() asks for read-only device nodes under root, whose own they are, and not under a user", async () => {
  const open = `${line(1, "/", "ro", 0)}${nodes("rw")}`;
  assert.deepEqual(await faultsOf(open, { isRoot: false }), []);
  assert.equal((await faultsOf(open)).length, 6);
});

test("verifyMounts() distrusts a cage whose mounts it cannot see, and passes one that has ended", async () => {
  assert.deepEqual(await faultsOf(null), ["it can change mounts that cannot be seen"]);
  assert.deepEqual(await faultsOf(""), ["it can change mounts that cannot be seen"]);
  assert.deepEqual(await faultsOf(null, { isGone: true }), []);
});

test("writableMounts() takes the upper of two mounts at one place, in whichever order they are listed", () => {
  const [lower, upper] = [line(30, "/dev/null", "rw"), line(31, "/dev/null", "ro", 30)];
  assert.deepEqual([writableMounts(lower + upper), writableMounts(upper + lower)], [[], []]);
  const reopened = line(32, "/dev/null", "rw", 31);
  assert.deepEqual(writableMounts(lower + upper + reopened), ["/dev/null"]);
});
