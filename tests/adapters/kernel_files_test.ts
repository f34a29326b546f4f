import assert from "node:assert/strict";
import { test } from "node:test";
import { isAnswered, type KernelOperation } from "../../src/adapters/shared/kernel_operations.ts";

const answers = (op: string, path: string): boolean => isAnswered({ id: 1, op: op as KernelOperation, args: [path] });

test("the helper of a Deno host answers about /proc and /sys, and hands out no file behind them", () => {
  for (
    const [op, path] of [
      ["readText", "/proc/7/status"],
      ["list", "/proc"],
      ["list", "/proc/7/fd"],
      ["target", "/proc/7/fd/3"],
      ["target", "/proc/7/root/home/ada/notes"],
      ["readLink", "/proc/7/ns/pid"],
      ["write", "/sys/fs/cgroup/kaged/cgroup.procs"],
    ] as const
  ) assert.equal(answers(op, path), true, `${op} ${path}`);
  for (
    const [op, path] of [
      ["readText", "/etc/shadow"],
      ["readText", "/proc/../etc/shadow"],
      ["readText", "/process"],
      ["readText", "/proc/7/root/etc/shadow"],
      ["readText", "/proc/7/cwd/notes"],
      ["readText", "/proc/7/fd/3"],
      ["readText", "/proc/7/exe"],
      ["readText", "/proc/7/map_files/1000-2000"],
      ["list", "/proc/7/root"],
      ["list", "/proc/7/task/8/root/home"],
      ["remove", "/proc/7/cwd/notes"],
      ["write", "/proc/self/root/etc/passwd"],
      ["copyFile", "/proc/7/status"],
    ] as const
  ) assert.equal(answers(op, path), false, `${op} ${path}`);
});
