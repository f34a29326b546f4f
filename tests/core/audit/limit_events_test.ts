import assert from "node:assert/strict";
import { test } from "node:test";
import { createAudit } from "../../../src/core/audit/audit.ts";
import type { AuditEvent } from "../../../src/core/audit/events.ts";
import { EVENTS_PER_MINUTE } from "../../../src/core/audit/limit_events.ts";
import { createFakeClock } from "../../support/fake_clock.ts";

const echo = { name: "echo", instance: "echo@music" };
const notes = { name: "notes", instance: "notes@music" };

function ground() {
  const clock = createFakeClock();
  const events: AuditEvent[] = [];
  const audit = createAudit({ clock, sinks: [{ write: (event) => void events.push(event) }] });
  const noise = (count: number, subject = echo) => {
    for (let line = 0; line < count; line++) audit.emit("plugin.stdout_noise", subject, { line: `${line}` });
  };
  const counts = () =>
    events.flatMap((event) =>
      event.type === "plugin.repeated" ? [[event.instance, event.data.event, event.data.count]] : []
    );
  return { clock, events, audit, noise, counts };
}

test("the first events of a kind in a minute are recorded, one event counts the rest when the minute ends", () => {
  const { clock, events, noise, counts } = ground();
  noise(EVENTS_PER_MINUTE);
  clock.advance(1000);
  noise(400);
  assert.equal(events.length, EVENTS_PER_MINUTE);
  clock.advance(58_999);
  assert.deepEqual(counts(), []);
  clock.advance(1);
  assert.deepEqual(counts(), [["echo@music", "plugin.stdout_noise", 400]]);
  assert.deepEqual(events.at(-1)?.data, {
    event: "plugin.stdout_noise",
    count: 400,
    since: "2026-01-01T00:00:01.000Z",
  });
  noise(3);
  assert.equal(events.length, EVENTS_PER_MINUTE + 4);
  assert.equal(clock.waiting, 0);
});

test("a plugin that floods uses up no other plugin's minute, nor that of another kind of its own events", () => {
  const { audit, events, noise } = ground();
  noise(1000);
  noise(1, notes);
  audit.emit("plugin.storage_denied", echo, { sql: "", reason: "" });
  for (let each = 0; each < 500; each++) {
    audit.emit("plugin.protocol_violation", echo, { violation_type: "invalid", detail: "" });
  }
  audit.emit("plugin.protocol_violation", echo, { violation_type: "batch", detail: "" });
  assert.deepEqual(events.slice(EVENTS_PER_MINUTE, EVENTS_PER_MINUTE + 2).map(({ type, name }) => [type, name]), [
    ["plugin.stdout_noise", "notes"],
    ["plugin.storage_denied", "echo"],
  ]);
  assert.equal(events.filter(({ type }) => type === "plugin.protocol_violation").length, EVENTS_PER_MINUTE + 1);
});

test("a flush reports what was counted so far, so that nothing is missing at the end of a host", async () => {
  const { audit, clock, noise, counts } = ground();
  noise(150);
  await audit.flush();
  noise(7);
  await audit.flush();
  assert.deepEqual(counts(), [["echo@music", "plugin.stdout_noise", 50], ["echo@music", "plugin.stdout_noise", 7]]);
  assert.equal(clock.waiting, 0);
});

test("calls and hooks are recorded however many they are: the host makes them", () => {
  const { audit, events } = ground();
  for (let call = 0; call < 500; call++) {
    audit.emit("plugin.method_returned", echo, { method: "a.b", duration_ms: 1, success: true });
    audit.emit("plugin.hook.fired", echo, { hook: "h", agent_path: "primary", session_id: "s" });
  }
  assert.equal(events.length, 1000);
});
