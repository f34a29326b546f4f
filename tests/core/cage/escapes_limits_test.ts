import assert from "node:assert/strict";
import { test } from "node:test";
import { attackersOf } from "../../support/attackers.ts";

test("K-044 300 forks end at about 100", async (t) => {
  for (const { attack, who } of await attackersOf(t)) {
    const { results } = await attack([["forks", 300]]);
    const [, made] = /^EAGAIN at (\d+)$/.exec(`${results[0]}`) ?? [];
    assert.ok(Number(made) > 90 && Number(made) < 100, `${who}: ${results[0]}`);
  }
});

test("K-044 a plugin that takes 700 MiB of memory is ended for it, also if none of its processes maps them", async (t) => {
  for (const { attack, who } of await attackersOf(t)) {
    for (const kind of ["mapped", "memfd", "given back"]) {
      const { failure, results } = await attack([["memory", 704, kind]]);
      assert.deepEqual([failure?.code, results], ["plugin.memory_exceeded", []], `${who} ${kind}`);
    }
  }
});

test("/tmp takes 64 MiB and /dev/shm 16, and not a byte more", async (t) => {
  for (const { attack } of await attackersOf(t)) {
    const { results } = await attack([["fill", "/tmp"], ["fill", "/dev/shm"]]);
    assert.deepEqual(results, ["ENOSPC at 64", "ENOSPC at 16"]);
  }
});
