import assert from "node:assert/strict";
import { test } from "node:test";
import { createAudit } from "../../../src/core/audit/audit.ts";
import type { AuditEvent } from "../../../src/core/audit/events.ts";
import { maskedAudit } from "../../../src/core/audit/masked_audit.ts";
import { InstanceAudit } from "../../../src/core/supervisor/instance_audit.ts";
import { InstanceCall } from "../../../src/core/supervisor/instance_call.ts";
import { NetWatch } from "../../../src/core/supervisor/net_watch.ts";
import { SecretMask } from "../../../src/core/values/secret_mask.ts";
import { createFakeClock } from "../../support/fake_clock.ts";

/** The same calls, audited by lines and by events: both as what a reader of the trail gets. */
async function audited(learn: (secrets: SecretMask) => void): Promise<{ lines: AuditEvent[]; events: AuditEvent[] }> {
  const made = { lines: [] as AuditEvent[], events: [] as AuditEvent[] };
  for (const way of ["lines", "events"] as const) {
    const [clock, secrets] = [createFakeClock(), new SecretMask()];
    const write = (event: AuditEvent): void => void made[way].push(event);
    const writeCallLine = (line: string): void => void made[way].push(JSON.parse(line) as AuditEvent);
    const sink = way === "lines" ? { write, writeCallLine } : { write };
    const audit = maskedAudit(createAudit({ clock, sinks: [sink] }), secrets);
    const instance = new InstanceAudit(audit, { name: 'we"ther', instance: "wéther" });
    const ports = { stderr: () => [], hide: (text: string) => text, clock, onNet() {} };
    const net = new NetWatch([], ports);
    const call = async (method: string, agent_path: string, request_id: string, isOk: boolean): Promise<void> => {
      const context = { operator_id: null, project_id: "music", agent_path, session_id: "ses_1", request_id };
      const made = new InstanceCall(method, {}, context, instance, net, undefined);
      await null;
      clock.advance(1.25);
      if (isOk) assert.equal(made.ok(7), 7);
      else assert.throws(() => made.failed(new Error("no")), /no/);
      await null;
    };
    await call("weather.now", "primary", "req_1", true);
    await call("weather.now", "primary", "req_2", false);
    learn(secrets);
    await call("weather.now", "primary", 'é"\\ \u0001', true);
    await call("kaged.hook.on_session_start", "primary", "req_3", true);
    await call("weather.now", "primary.subagents.x", "req_4", true);
  }
  return made;
}

test("a call's lines are the events that a listener would get, hooks left out", async () => {
  const { lines, events } = await audited(() => {});
  assert.deepEqual(lines, events);
  assert.deepEqual(
    lines.map(({ type }) => type),
    Array(4).fill(["plugin.method_called", "plugin.method_returned"]).flat(),
  );
  assert.deepEqual(lines[3]!.data, { method: "weather.now", duration_ms: 1.25, success: false });
  assert.equal(lines[5]!.request_id, 'é"\\ \u0001');
});

test("secrets that are learned between two calls are hidden in the lines of the second", async () => {
  const { lines, events } = await audited((secrets) => secrets.learn("token", "weather.now"));
  assert.deepEqual(lines, events);
  assert.deepEqual((lines[4]!.data as { method: string }).method, "[secret:token]");
});

test("with a listener beside the trail, both get events and none is written twice", () => {
  const [clock, written, heard] = [createFakeClock(), [] as string[], [] as string[]];
  const audit = createAudit({
    clock,
    sinks: [{ write: (event) => void written.push(event.type), writeCallLine: () => void written.push("line") }],
  });
  const instance = new InstanceAudit(audit, { name: "a", instance: "a" });
  const net = new NetWatch([], { stderr: () => [], hide: (text) => text, clock, onNet() {} });
  const context = { operator_id: null, project_id: null, agent_path: null, session_id: null, request_id: "req_1" };
  const call = new InstanceCall("a.b", {}, context, instance, net, undefined);
  const stop = audit.on(({ type }) => void heard.push(type));
  call.ok(null);
  stop();
  new InstanceCall("a.b", {}, context, instance, net, undefined);
  assert.deepEqual(written, ["line", "plugin.method_returned", "line"]);
  assert.deepEqual(heard, ["plugin.method_returned"]);
});
