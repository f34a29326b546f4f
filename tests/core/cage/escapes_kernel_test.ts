import assert from "node:assert/strict";
import { test } from "node:test";
import { attackersOf } from "../../support/attackers.ts";

test("K-044 the kernel answers a caged program's way out with a refusal, or as an older kernel would", async (t) => {
  for (const { attack } of await attackersOf(t)) {
    const { results } = await attack([["calls"]]);
    assert.deepEqual(results[0], {
      "unshare user": "EPERM",
      "unshare net": "EPERM",
      "clone user": "EPERM",
      "clone user and pid": "EPERM",
      "clone mount": "EPERM",
      "clone3": "ENOSYS",
      "mount": "EPERM",
      "umount": "EPERM",
      "setns": "EPERM",
      "chroot": "EPERM",
      "trace me": "EPERM",
      "trace pid 1": "EPERM",
      "read own memory": "EPERM",
      "compare processes": "EPERM",
      "io_uring": "ENOSYS",
      "bpf": "EPERM",
      "keyctl": "EPERM",
      "add key": "EPERM",
      "userfaultfd": "EPERM",
      "perf": "EPERM",
      "memory policy": "EPERM",
      "personality": "EPERM",
      "personality query": "done",
      "open tree": "ENOSYS",
      "fsopen": "ENOSYS",
      "open by handle": "EPERM",
      "statmount": "ENOSYS",
      "call 470": "ENOSYS",
      "x32 getpid": "ENOSYS",
      "type into terminal": "EPERM",
      "control console": "EPERM",
      "getpid": "done",
      "int 0x80": "SIGSYS",
    });
  }
});

test("a caged program has no privilege, whoever runs the host", async (t) => {
  for (const { attack } of await attackersOf(t)) {
    assert.deepEqual((await attack([["privileges"]])).results, [["0000000000000000"]]);
  }
});

test("K-043 a program that was not granted does not exist in a cage", async (t) => {
  for (const { attack } of await attackersOf(t)) {
    const programs = ["curl", "bash", "/usr/bin/ls", "/bin/sh", "/usr/sbin/chroot", "/usr/bin/python3"];
    const { results } = await attack(programs.map((program) => ["run", program]));
    assert.deepEqual(results, [...Array(5).fill("ENOENT"), "ran"]);
  }
});
