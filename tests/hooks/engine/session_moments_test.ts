import assert from "node:assert/strict";
import { test } from "node:test";
import type { HookResponse } from "../../../src/hooks/engine/types.ts";
import { from, stage } from "./stage.ts";

const goOn = (reason: string) => (): HookResponse => ({ action: "block", reason });

test("K-020 handlers of on_session_idle all start at once: a slow one holds up none, and a block stops none", async () => {
  const s = stage();
  const started: string[] = [];
  const held = Promise.withResolvers<null>();
  const note = (id: string, answer: () => HookResponse | null | Promise<null>) =>
    s.engine.register("on_session_idle", ({ hook }) => {
      started.push(`${id}: ${hook}`);
      return answer();
    }, from(id));
  note("slow", () => held.promise);
  note("blocks", goOn("no"));
  note("quick", () => null);
  const fired = s.fire("on_session_idle");
  assert.deepEqual(started, ["slow: on_session_idle", "blocks: on_session_idle", "quick: on_session_idle"]);
  held.resolve(null);
  const { hook, blocked, trace } = await fired;
  assert.deepEqual([hook, blocked], ["on_session_idle", false]);
  assert.deepEqual(trace.map(({ source, outcome }) => [source.id, outcome]), [
    ["slow", "quiet"],
    ["blocks", "ran"],
    ["quick", "quiet"],
  ]);
});

test("K-020 a handler of on_session_idle that breaks or hangs is in the trace, and others answer at once", async () => {
  const s = stage();
  assert.ok(!(s.engine.fire({ hook: "on_session_idle", sessionId: "s", agent: "primary" }) instanceof Promise));
  s.engine.register("on_session_idle", () => new Promise(() => {}), from("hangs"));
  s.engine.register("on_session_idle", () => Promise.reject(new Error("broke")), from("breaks"));
  const fired = s.fire("on_session_idle");
  await new Promise(setImmediate);
  s.clock.advance(3_000);
  const { trace } = await fired;
  assert.deepEqual(trace.map(({ outcome, reason }) => [outcome, reason]), [
    ["broke", "Hook failed: hangs did not answer on_session_idle within 3000 ms"],
    ["broke", "Hook failed: broke"],
  ]);
  assert.deepEqual(s.engine.list().map(({ hook }) => hook), ["on_session_idle", "on_session_idle"]);
});

test("X-17 a block at the end of a session is returned, and every handler after it still cleans up", async () => {
  const s = stage();
  const cleaned: string[] = [];
  s.engine.register("Stop", goOn("the tests are red"), { priority: 10, ...from("go on") });
  s.engine.register("SessionEnd", goOn("me too"), { priority: 20, ...from("second") });
  s.engine.register("SessionEnd", () => void cleaned.push("code"), from("cleanup"));
  const { blocked, blockedBy, reason } = await s.fire("SessionEnd");
  assert.deepEqual([blocked, blockedBy, reason], [true, "go on", "the tests are red"]);
  assert.deepEqual(cleaned, ["code"]);
  assert.deepEqual(s.outcomes(), ["go on: ran", "second: ran", "cleanup: quiet"]);
});

test("X-17 the end of a turn runs the handlers of Stop alone, and the end of that session does not run them again", async () => {
  const s = stage();
  const ran: string[] = [];
  s.engine.register("Stop", ({ hook }) => void ran.push(`Stop hears ${hook}`), from("stop"));
  s.engine.add({ hook: "SessionEnd", turnEnd: true, handler: () => void ran.push("entry"), ...from("entry") });
  s.engine.register("SessionEnd", () => void ran.push("cleanup"), from("cleanup"));
  const at = { hook: "SessionEnd", sessionId: "ses_1", agent: "primary" };
  await s.engine.fire(at, { turnEnd: true });
  await s.engine.fire(at, { turnEnd: true });
  assert.deepEqual(ran.splice(0), ["Stop hears SessionEnd", "entry", "Stop hears SessionEnd", "entry"]);
  const { trace } = await s.fire("SessionEnd");
  assert.deepEqual(ran.splice(0), ["cleanup"]);
  assert.deepEqual(trace.map(({ outcome, reason }) => [outcome, reason]), [
    ["skipped", "The loop has fired Stop in this session"],
    ["skipped", "The loop has fired Stop in this session"],
    ["quiet", undefined],
  ]);
  await s.fire("SessionEnd", { sessionId: "ses_2" });
  assert.deepEqual(ran.splice(0), ["Stop hears SessionEnd", "entry", "cleanup"]);
  await s.fire("SessionEnd");
  assert.deepEqual(ran, ["Stop hears SessionEnd", "entry", "cleanup"], "a session of that id anew");
  assert.deepEqual(s.engine.list("SessionEnd").map(({ turnEnd }) => turnEnd), [true, true, false]);
});
