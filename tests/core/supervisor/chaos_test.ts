import assert from "node:assert/strict";
import process from "node:process";
import { test } from "node:test";
import { createDice, SEED } from "../../support/chance.ts";
import { allGone, processTree } from "../../support/processes.ts";
import { supervised } from "../../support/supervised.ts";

const PLUGINS = 20;
const ROUNDS = Number(process.env.KAGED_CHAOS_ROUNDS ?? 4);

/** Kills a process; one that has just died, and of which nobody has heard yet, is dead enough. */
function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    assert.equal((error as { code?: string }).code, "ESRCH");
  }
}

test("K-014 K-064 in a chaos of kills, garbage and stalls every call settles, siblings live, nothing remains", async () => {
  const { below: pick } = createDice();
  const seen = new Set<number>();
  {
    await using s = await supervised();
    const kinds = ["echo", "prints_garbage", "never_answers", "crashes_on_call", "freezes_on_call"];
    const ids: string[] = [];
    const kindOf = new Map<string, string>();
    for (let number = 0; number < PLUGINS; number++) {
      const kind = kinds[number % kinds.length]!;
      const id = await s.add(kind, { manifest: { name: `chaos-${number}` } });
      ids.push(id);
      kindOf.set(id, kind);
    }
    const calm = await s.add("echo", { manifest: { name: "calm" } });
    const { failed } = await s.supervisor.startAll();
    assert.deepEqual(failed, []);

    for (let round = 0; round < ROUNDS; round++) {
      for (const { pid } of s.supervisor.plugins()) {
        if (pid) { for (const each of await processTree(pid)) seen.add(each); }
      }
      const calls = ids.flatMap((id) => {
        const method = kindOf.get(id) === "echo" ? "echo.params" : "fixture.call";
        return [1, 2, 3].map((n) => s.supervisor.call(id, method, { n }, { timeoutMs: 1_000 }));
      });
      const settled = Promise.allSettled(calls);
      for (let count = 0; count < 5; count++) {
        const { pid } = s.supervisor.plugin(ids[pick(PLUGINS)]!);
        if (pid) kill(pid);
      }
      let isOver = false;
      void settled.then(() => isOver = true);
      while (!isOver) { // Time passes quickly: calls expire, crashed plugins come back.
        await new Promise(setImmediate);
        s.clock.advance(20);
      }
      assert.equal((await settled).length, ids.length * 3, `seed ${SEED}, round ${round}`);
      assert.deepEqual(await s.supervisor.call(calm, "ping"), { status: "ok" }, `seed ${SEED}, round ${round}`);
    }
    assert.equal(s.supervisor.plugin(calm).restarts, 0);
    assert.ok(s.types().includes("plugin.crashed"));
    for (const { pid } of s.supervisor.plugins()) {
      if (pid) { for (const each of await processTree(pid)) seen.add(each); }
    }
  }
  assert.ok(seen.size > PLUGINS);
  await allGone([...seen]);
});
