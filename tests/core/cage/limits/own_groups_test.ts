import assert from "node:assert/strict";
import { test } from "node:test";
import { ownGroups } from "../../../../src/core/cage/limits/own_groups.ts";

const UNIFIED = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";

test("ownGroups() finds the host's group in the one tree of a modern system", () => {
  assert.deepEqual(ownGroups(UNIFIED, "0::/user.slice/user-1000.slice/a.scope\n"), {
    unified: "/sys/fs/cgroup/user.slice/user-1000.slice/a.scope",
    byController: {},
  });
  assert.equal(ownGroups(UNIFIED, "0::/\n").unified, "/sys/fs/cgroup");
});

test("ownGroups() finds it in each tree of an older system, those that share one too", () => {
  const mounts = [
    "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755",
    "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct",
    "35 31 0:32 / /sys/fs/cgroup/my\\040memory rw - cgroup cgroup rw,memory",
    "36 31 0:33 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids",
    "40 31 0:37 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,name=systemd",
    "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw",
  ].join("\n");
  const cgroup = "9:name=systemd:/\n8:pids:/a\n4:memory:/b/c:d\n2:cpu,cpuacct:/\n3:blkio:/x\n0::/\n";
  assert.deepEqual(ownGroups(mounts, cgroup), {
    unified: "/sys/fs/cgroup/unified",
    byController: {
      "name=systemd": "/sys/fs/cgroup/systemd",
      pids: "/sys/fs/cgroup/pids/a",
      memory: "/sys/fs/cgroup/my memory/b/c:d",
      cpu: "/sys/fs/cgroup/cpu,cpuacct",
      cpuacct: "/sys/fs/cgroup/cpu,cpuacct",
    },
  });
});

test("ownGroups() reads a container's part of a tree, and claims nothing that part does not show", () => {
  const part = "30 23 0:26 /docker/abc /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
  assert.equal(ownGroups(part, "0::/docker/abc/inner\n").unified, "/sys/fs/cgroup/inner");
  assert.equal(ownGroups(part, "0::/docker/abc\n").unified, "/sys/fs/cgroup");
  for (const path of ["/docker/abcd", "/docker", "/../sibling"]) {
    assert.equal(ownGroups(part, `0::${path}\n`).unified, null, path);
  }
  assert.equal(ownGroups(UNIFIED, "0::/../outside\n").unified, null);
});

test("ownGroups() finds none where nothing is mounted or listed", () => {
  for (const [mounts, cgroup] of [["", "0::/a\n"], [UNIFIED, ""], ["", ""]] as const) {
    assert.deepEqual(ownGroups(mounts, cgroup), { unified: null, byController: {} });
  }
});
