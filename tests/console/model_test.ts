import assert from "node:assert/strict";
import { test } from "node:test";
import { grantDraft } from "../../console/model/grant_draft.ts";
import { draftOf, valueOf } from "../../console/model/knob_draft.ts";
import { restartSteps } from "../../console/model/restarts.ts";
import { sseParser } from "../../console/model/sse_parser.ts";
import { agentOf, typeOf, weightOf, wordsOf } from "../../console/model/entry_words.ts";
import type { TimelineEntry } from "../../console/model/state.ts";
import { logWords, weightOfLevel } from "../../console/model/log_words.ts";
import { agentName, bytes, counted, dateAndTime } from "../../console/model/words.ts";

const audit = (type: string, data: object, more: object = {}): TimelineEntry => ({
  id: "1",
  kind: "audit",
  plugin: "p",
  data: { type, timestamp: "2026-01-01T12:00:00Z", instance: "p@music/primary", data, ...more },
});

test("sseParser() gives events whole, however the text is cut", () => {
  const text = 'retry: 2000\n\nid: f-1\nevent: audit\ndata: {"a":1}\n\n: alive\n\ndata: x\ndata: y\n\n';
  const expected = [{ id: "f-1", event: "audit", data: '{"a":1}' }, { id: "", event: "message", data: "x\ny" }];
  assert.deepEqual(sseParser()(text), expected);
  const parse = sseParser();
  assert.deepEqual([...text].flatMap((letter) => parse(letter)), expected);
});

test("restartSteps() counts the newest starts that were restarts, by their age", () => {
  const now = Date.parse("2026-01-01T13:00:00Z");
  const spawned = (timestamp: string) => audit("plugin.spawned", {}, { timestamp });
  const entries = ["12:00:30", "12:57:30", "12:58:00", "12:30:00"].map((time) => spawned(`2026-01-01T${time}Z`)).sort(
    (a, b) => String(a.data.timestamp).localeCompare(String(b.data.timestamp)),
  );
  const steps = restartSteps(entries, { instance: "p@music/primary", restarts: 3, now });
  assert.deepEqual([steps.length, steps[19], steps[9], steps[0]], [20, 2, 1, 0]);
  assert.equal(
    restartSteps(entries, { instance: "p@music/primary", restarts: 0, now }).some((step) => step > 0),
    false,
  );
  assert.equal(restartSteps(entries, { instance: "other", restarts: 3, now }).some((step) => step > 0), false);
});

test("an entry of the timeline is shown with its weight, its agent and its facts", () => {
  const crashed = audit("plugin.crashed", { exit_code: 7, signal: null, agent_path: "" });
  assert.deepEqual([typeOf(crashed), weightOf(crashed), agentOf(crashed), wordsOf(crashed)], [
    "plugin.crashed",
    "bad",
    "primary",
    "exit code 7",
  ]);
  assert.equal(weightOf(audit("plugin.method_returned", { success: false })), "warn");
  assert.equal(weightOf(audit("plugin.method_returned", { success: true })), "plain");
  assert.equal(agentOf(audit("plugin.hook.fired", { agent_path: "primary.subagents.x" })), "primary.subagents.x");
  assert.equal(wordsOf(audit("plugin.stdout_noise", { line: "y".repeat(500) })).length, 161);
});

test("a knob's control stands for a number, null, a boolean or a text; text that is no number stays text", () => {
  assert.deepEqual([draftOf(0.5), draftOf(null), draftOf(false), draftOf("a")], ["0.5", "", false, "a"]);
  assert.deepEqual(
    [
      valueOf({ type: "range" }, "0.5"),
      valueOf({ type: "int_range" }, ""),
      valueOf({ type: "range" }, "much"),
      valueOf({ type: "model_alias" }, " "),
      valueOf({ type: "text" }, "5"),
      valueOf({ type: "boolean" }, false),
    ],
    [0.5, "", "much", null, "5", false],
  );
});

test("counts, sizes and agents are written for people", () => {
  assert.deepEqual([bytes(0), bytes(999), bytes(1000), bytes(14_500_000), bytes(2e15)], [
    "0 B",
    "999 B",
    "1.0 kB",
    "15 MB",
    "2000 TB",
  ]);
  assert.deepEqual([counted(1, "plugin"), counted(1200, "plugin")], ["1 plugin", "1,200 plugins"]);
  assert.equal(agentName("primary.subagents.a.subagents.b"), "primary › a › b");
});

test("a line of the log is taken apart where a logger of JSON wrote it, and is shown as it is elsewhere", () => {
  const line = { level: "error", msg: "No disk", time: "2026-01-01T00:00:00Z", path: "/srv", tries: 2 };
  assert.deepEqual(logWords(JSON.stringify(line)), { level: "error", text: "No disk", fields: "path=/srv tries=2" });
  for (const text of ["plain", '{"level":"info"}', "{ no JSON", '{"level":1,"msg":"x"}', "[1]", "null"]) {
    assert.deepEqual(logWords(text), { level: null, text, fields: "" });
  }
  assert.deepEqual(["error", "fatal", "warn", "info"].map(weightOfLevel), ["bad", "bad", "warn", ""]);
});

test("a time is written with its date, and what is no time as nothing", () => {
  assert.match(dateAndTime("2026-01-02T12:00:00Z"), /^2026-01-0[123] \d\d:\d\d:\d\d$/);
  assert.equal(dateAndTime("undefined"), "");
});

test("grantDraft() withholds the boxes that are not ticked, and none that stands for a secret", () => {
  const offer = { hash: "sha256:1", added: ["net:*", "read:fs:/srv"] };
  assert.deepEqual(grantDraft(offer, ["net:*"]), {
    open: ["read:fs:/srv"],
    canWithhold: true,
    answer: { hash: "sha256:1", grant: ["net:*"], withhold: ["read:fs:/srv"] },
  });
  const all = grantDraft(offer, ["net:*", "read:fs:/srv", "kaged:storage:read"]);
  assert.deepEqual([all.open, all.canWithhold, all.answer.withhold], [[], false, []]);
  assert.equal(all.answer.grant.includes("kaged:storage:read"), true, "one that was withheld before comes back");
  assert.equal(grantDraft({ ...offer, added: ["net:*", "secret:token"] }, ["net:*"]).canWithhold, false);
});
