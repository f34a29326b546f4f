import assert from "node:assert/strict";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { runScript } from "../../support/run_script.ts";
import { from, stage } from "./stage.ts";

for (const program of ["hung_in_main.ts", "hung_at_top.ts"]) {
  test(`N-003 a hung handler is given up at its deadline with nothing else to keep the process alive: ${program}`, async () => {
    const child = runScript(new URL(`./programs/${program}`, import.meta.url), []);
    child.stdin!.end();
    const [output, [exitCode]] = await Promise.all([text(child.stdout!), once(child, "exit")]);
    assert.deepEqual(JSON.parse(output || "null"), {
      blocked: true,
      blockedBy: "hung",
      reason: "Hook failed: hung did not answer PreToolUse within 100 ms",
    });
    assert.equal(exitCode, 0);
  });
}

test("N-003 a deadline leaves no timer behind: neither when the handler answers nor when it is given up", async () => {
  const s = stage();
  const held = [Promise.withResolvers<null>(), Promise.withResolvers<null>()];
  let asked = 0;
  s.engine.register("PreToolUse", () => held[asked++]!.promise, { ...from("slow"), timeoutMs: 1_000 });
  const fired = [s.fire("PreToolUse"), s.fire("PreToolUse")];
  s.clock.advance(0);
  assert.deepEqual([s.clock.waiting, s.clock.keepingAlive], [1, 1]);
  held[0]!.resolve(null);
  await fired[0];
  assert.equal(s.clock.waiting, 1, "the other one is still waited for");
  held[1]!.resolve(null);
  await fired[1];
  assert.equal(s.clock.waiting, 0);
  held.push(Promise.withResolvers<null>());
  const late = s.fire("PreToolUse");
  s.clock.advance(1_000);
  assert.equal((await late).trace[0]?.outcome, "broke");
  assert.equal(s.clock.waiting, 0);
});
