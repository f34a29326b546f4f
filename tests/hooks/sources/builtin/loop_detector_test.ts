import assert from "node:assert/strict";
import { test } from "node:test";
import { agentHooks } from "../../../../src/hooks/agent/agent_hooks.ts";
import { loopDetector, type LoopDetectorOptions } from "../../../../src/hooks/sources/builtin/loop_detector.ts";
import { stage } from "../../engine/stage.ts";

function detected(options: LoopDetectorOptions = {}) {
  const { engine, clock } = stage();
  engine.add(loopDetector(options));
  const hooks = agentHooks(engine, { session: "ses_1" });
  const call = async (name: string, cmd: string, result: { output?: string; error?: string }) => {
    const error = result.error === undefined ? {} : { error: { message: result.error } };
    return (await hooks.afterTool({ name, input: { cmd }, output: result.output ?? "", ...error })).reason;
  };
  return { hooks, call, clock, engine };
}

test("B-013 the third failure of one command with one error is blocked, whatever differs in its text", async () => {
  const { call, clock } = detected();
  assert.equal(await call("shell", "make", { error: "exit 2 at 10:00:01 in /tmp/a1/b" }), null);
  clock.advance(180_000);
  assert.equal(await call("shell", "make", { error: "exit 2 at 10:03:01 in /tmp/a2/b" }), null);
  assert.equal(await call("shell", "ls", { output: "fine" }), null);
  clock.advance(180_000);
  assert.equal(
    await call("shell", "make", { error: "exit 2 at 10:06:01 in /tmp/a3/b" }),
    "Loop detected: the same call of shell failed 3 times in 6 minutes with the same error. " +
      "Change the strategy, or ask for help",
  );
});

test("B-013 the order of a call's arguments makes no other call of it", async () => {
  const { hooks } = detected();
  const error = new Error("no such file");
  const inputs = [{ path: "a", deep: { x: 1, y: 2 } }, { deep: { y: 2, x: 1 }, path: "a" }];
  for (const input of inputs) assert.equal((await hooks.afterTool({ name: "read", input, error })).blocked, false);
  assert.equal((await hooks.afterTool({ name: "read", input: inputs[0], error })).blocked, true);
});

test("B-013 another error, another command, another session, or a success in between is no loop", async () => {
  const { call, engine } = detected();
  const other = agentHooks(engine, { session: "ses_2" });
  for (const error of ["a", "a", "b", "b"]) assert.equal(await call("shell", "make", { error }), null);
  for (const cmd of ["one", "two", "three"]) assert.equal(await call("shell", cmd, { error: "a" }), null);
  for (const step of [{ error: "c" }, { error: "c" }, { output: "ok" }, { error: "c" }, { error: "c" }]) {
    assert.equal(await call("npm", "test", step), null);
  }
  const { blocked } = await other.afterTool({ name: "npm", input: { cmd: "test" }, error: { message: "c" } });
  assert.equal(blocked, false);
});

test("B-013 two tools that alternate without progress are blocked; with progress they are not", async () => {
  const { call } = detected();
  for (let round = 0; round < 5; round++) {
    assert.equal(await call("read", "log", { output: `line ${round}` }), null);
    assert.equal(await call("wait", "1s", { output: "" }), null);
  }
  const stuck = detected();
  const reasons: (string | null)[] = [];
  for (let round = 0; round < 3; round++) {
    reasons.push(await stuck.call("read", "log", { output: "same" }), await stuck.call("wait", "1s", { output: "" }));
  }
  assert.deepEqual(reasons.slice(0, -1), [null, null, null, null, null]);
  assert.match(reasons.at(-1)!, /two calls alternate, 3 times each, and bring nothing new/);
});

test("B-013 compactions that free nothing are blocked from the second on; one that helps starts anew", async () => {
  const { hooks } = detected();
  const compact = async (before: number, after: number) => {
    const sizes = { before: { tokens: before }, after: { tokens: after } };
    return (await hooks.afterCompact({ trigger: "threshold", ...sizes })).reason;
  };
  assert.equal(await compact(1000, 960), null);
  assert.equal(await compact(1000, 500), null);
  assert.equal(await compact(1000, 990), null);
  assert.match(
    (await compact(1000, 1000))!,
    /2 compactions in a row have freed next to nothing \(1000 → 1000 tokens\)/,
  );
});

test("B-013 a loop detector can be advisory, and keeps nothing of what calls said", async () => {
  const { engine } = stage();
  engine.add(loopDetector({ advisory: true, failures: 1 }));
  const hooks = agentHooks(engine, { session: "ses_1" });
  const { blocked, warnings } = await hooks.afterTool({ name: "shell", error: { message: "no" } });
  assert.equal(blocked, false);
  assert.match(warnings[0]!, /^loop-detector would block: Loop detected/);
});
