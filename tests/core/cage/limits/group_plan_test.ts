import assert from "node:assert/strict";
import { test } from "node:test";
import { groupPlan, rlimitPart, scopedCommand } from "../../../../src/core/cage/limits/limit_parts.ts";

const limits = { memory_mb: 512, cpu_shares: 256, pids: 100 };

test("a cage in a tree of version 2 gets one group with all its limits", () => {
  assert.deepEqual(groupPlan({ name: "cgroup2", base: "/g" }, limits, "kaged_1"), {
    dirs: ["/g/kaged_1"],
    settings: [
      { path: "/g/kaged_1/memory.max", value: "536870912" },
      { path: "/g/kaged_1/memory.swap.max", value: "0", optional: true },
      { path: "/g/kaged_1/memory.oom.group", value: "1", optional: true },
      { path: "/g/kaged_1/pids.max", value: "100" },
    ],
    later: [{ path: "/g/kaged_1/cpu.weight", value: "25" }],
  });
});

test("a cage in trees of version 1 gets a group in each, one where controllers share a tree", () => {
  const plan = groupPlan({ name: "cgroup1", memory: "/m", pids: "/p", cpu: "/c" }, limits, "kaged_1");
  assert.deepEqual(plan, {
    dirs: ["/m/kaged_1", "/p/kaged_1", "/c/kaged_1"],
    settings: [
      { path: "/m/kaged_1/memory.limit_in_bytes", value: "536870912" },
      { path: "/m/kaged_1/memory.memsw.limit_in_bytes", value: "536870912", optional: true },
      { path: "/p/kaged_1/pids.max", value: "100" },
    ],
    later: [{ path: "/c/kaged_1/cpu.shares", value: "256" }],
  });
  const shared = groupPlan({ name: "cgroup1", memory: "/m", pids: "/m", cpu: "/m" }, limits, "kaged_1");
  assert.deepEqual(shared.dirs, ["/m/kaged_1"]);
});

test("the weight of version 2 stays within what the kernel takes", () => {
  const weight = (cpu_shares: number): string | undefined =>
    groupPlan({ name: "cgroup2", base: "/g" }, { ...limits, cpu_shares }, "k").later.at(-1)?.value;
  assert.deepEqual([2, 1024, 262_144].map(weight), ["1", "100", "10000"]);
});

test("the other ways need no group of ours", () => {
  const none = { dirs: [], settings: [], later: [] };
  assert.deepEqual(groupPlan({ name: "watchdog", prlimit: null }, limits, "k"), none);
  assert.deepEqual(groupPlan({ name: "systemd", program: "/s", env: {} }, limits, "k"), none);
});

test("a scope of systemd starts the launcher in its place, with an empty environment", () => {
  const tier = { name: "systemd", program: "/usr/bin/systemd-run", env: { XDG_RUNTIME_DIR: "/run/user/7" } } as const;
  const launcher = { file: "/bin/bash", args: ["-c", "x"], env: {}, cwd: "/run/cage" };
  const properties = [
    ...["-p", "MemoryMax=536870912", "-p", "MemorySwapMax=0"],
    ...["-p", "TasksMax=100", "-p", "CPUWeight=25"],
  ];
  const rest = ["--unit=kaged_1", ...properties, "--", "/usr/bin/env", "-i", "/bin/bash", "-c", "x"];
  const scope = ["--scope", "--quiet", "--collect"];
  assert.deepEqual(scopedCommand(launcher, { tier, limits, name: "kaged_1", uid: 7 }), {
    file: "/usr/bin/systemd-run",
    args: ["--user", ...scope, ...rest],
    env: { XDG_RUNTIME_DIR: "/run/user/7" },
    cwd: "/run/cage",
  });
  const { args } = scopedCommand(launcher, { tier, limits, name: "kaged_1", uid: 0 });
  assert.deepEqual(args, [...scope, ...rest]);
});

test("without groups the command carries its limits itself, with room for what a JavaScript runtime reserves", () => {
  const tier = { name: "watchdog", prlimit: "/usr/bin/prlimit" } as const;
  const part = (dest: string) => rlimitPart(tier, limits, [{ source: "/x", dest }]);
  assert.deepEqual(part("/usr/bin/python3"), {
    args: ["--ro-bind", "/usr/bin/prlimit", "/.cage/prlimit"],
    prefix: ["/.cage/prlimit", "--nproc=100:100", "--data=536870912:536870912", "--"],
  });
  for (const name of ["js", "node", "deno", "bun"]) {
    assert.equal(part(`/usr/bin/${name}`).prefix[2], "--data=1073741824:1073741824");
  }
  const none = { args: [], prefix: [] };
  assert.deepEqual(rlimitPart({ name: "watchdog", prlimit: null }, limits, []), none);
  assert.deepEqual(rlimitPart({ name: "cgroup2", base: "/g" }, limits, []), none);
});
