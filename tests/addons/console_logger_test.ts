import assert from "node:assert/strict";
import { test } from "node:test";
import { type ConsoleLoggerOptions, createConsoleLogger } from "../../src/addons/mod.ts";
import { EVENT_NAMES } from "../../src/events/types.ts";
import { blocksFor } from "../docs/support/guides.ts";
import { TOLD, toldEvents } from "../support/told_events.ts";

function printed(options: Omit<ConsoleLoggerOptions, "write">) {
  const told = toldEvents();
  const lines: string[] = [];
  const end = createConsoleLogger(told.emitter, { ...options, write: (line) => lines.push(line) });
  return { ...told, lines, end };
}

test("T-012 the console logger prints the documented lines", async () => {
  const { tell, lines } = printed({ events: ["agent:end", "agent:error", "tool:execute"] });
  await tell("agent:end", "tool:execute", "agent:error");
  assert.deepEqual(lines, [
    "[agent] email-checker completed in 2340ms (1,247 tokens) — 3 tools used",
    "[tool]  searchEmails called by email-checker (890ms)",
    "[agent] summarizer failed: Rate limit exceeded (450ms)",
  ]);
  const [shown] = await blocksFor("tests/addons/console_logger_test.ts", "docs/addons.md");
  assert.equal(`${lines.join("\n")}\n`, shown);
});

test("T-012 every event has its line", async () => {
  const { tell, lines } = printed({});
  await tell(...EVENT_NAMES);
  assert.deepEqual(lines, [
    "[agent] email-checker started",
    "[agent] email-checker completed in 2340ms (1,247 tokens) — 3 tools used",
    "[agent] summarizer failed: Rate limit exceeded (450ms)",
    "[job]   job_1 accepted for email-checker",
    "[job]   job_1 of email-checker completed in 2340ms (1,247 tokens)",
    "[job]   job_1 of email-checker failed: Rate limit exceeded (450ms)",
    "[job]   job_1 of email-checker cancelled (450ms)",
    "[cron]  nightly completed for email-checker (450ms)",
    "[tool]  searchEmails called by email-checker (890ms)",
    "[agent] primary hands over to email-checker",
    "[agent] email-checker hands back to primary (450ms)",
    "[model] m-1 called by email-checker (1,000 + 247 tokens, 450ms)",
    "[hook]  pre_compact timeout in memory (450ms)",
    "[hook]  PreToolUse measured in email-checker (checks 2, blocked false)",
    "[agent] email-checker compacted by drop: 12,000 → 3,000 tokens (450ms)",
  ]);
});

test("T-012 one tool is a tool and one token is a token", async () => {
  const { emitter, lines } = printed({});
  const usage = { promptTokens: 0, completionTokens: 1, totalTokens: 1 };
  emitter.emit("agent:end", { ...TOLD["agent:end"], toolsUsed: ["a"], usage });
  emitter.emit("agent:end", { ...TOLD["agent:end"], toolsUsed: [] });
  await Promise.resolve();
  assert.deepEqual(lines.map((line) => line.slice("[agent] email-checker completed in 2340ms ".length)), [
    "(1 token) — 1 tool used",
    "(1,247 tokens) — 0 tools used",
  ]);
});

test("T-012 as JSON each line is the event", async () => {
  const { tell, lines } = printed({ format: "json", events: ["agent:start"] });
  await tell("agent:start", "agent:end");
  assert.deepEqual(lines.map((line) => JSON.parse(line)), [
    { type: "agent:start", ...TOLD["agent:start"], timestamp: "2026-01-01T00:00:00.000Z" },
  ]);
});

test("an agent's text cannot write elsewhere on the terminal, in either format", async () => {
  for (const format of ["pretty", "json"] as const) {
    const { emitter, lines } = printed({ format });
    const error = "one\ntwo \x1b[2J \x9b31m \u202egpj";
    emitter.emit("agent:error", { ...TOLD["agent:error"], error });
    await Promise.resolve();
    // deno-lint-ignore no-control-regex
    assert.doesNotMatch(lines[0]!, /[\x00-\x1f\x7f-\x9f\u202e]/);
    if (format === "json") assert.equal(JSON.parse(lines[0]!).error, error);
    else assert.match(lines[0]!, /failed: one\\ntwo \\u001b\[2J \\u009b31m \\u202egpj \(450ms\)$/);
  }
});

test("T-012 events keep their order across names, and end when the logger does", async () => {
  const { tell, lines, end } = printed({ events: ["job:start", "job:cancelled"] });
  await tell("job:cancelled", "job:start", "job:cancelled", "agent:start");
  assert.deepEqual(lines.map((line) => line.includes("cancelled")), [true, false, true]);
  end();
  await tell("job:start");
  assert.equal(lines.length, 3);
});

test("an event that does not exist is refused, with the one that was meant", () => {
  assert.throws(() => printed({ events: ["agent:ends" as "agent:end"] }), {
    code: "addons.unknown_event",
    message: 'There is no event "agent:ends"',
    hint: 'Did you mean "agent:end"?',
  });
});
