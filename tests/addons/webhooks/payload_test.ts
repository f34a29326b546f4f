import assert from "node:assert/strict";
import { test } from "node:test";
import { payloadOf } from "../../../src/addons/webhooks/payload.ts";
import { type AnyEvent, EVENT_NAMES } from "../../../src/events/types.ts";
import { TOLD } from "../../support/told_events.ts";

const timestamp = "2026-01-01T00:00:00.000Z";
const eventOf = (type: AnyEvent["type"]): AnyEvent => ({ type, ...TOLD[type], timestamp }) as AnyEvent;

test("T-013 a webhook's body is the type, the timestamp and the other fields as data", () => {
  assert.deepEqual(payloadOf(eventOf("agent:end"), true), {
    type: "agent:end",
    timestamp,
    data: {
      agentName: "email-checker",
      input: "the question",
      conversationId: "ses_1",
      output: "the answer",
      toolsUsed: ["a", "b", "c"],
      usage: { promptTokens: 1000, completionTokens: 247, totalTokens: 1247 },
      duration: 2340,
    },
  });
});

test("T-013 unless the operator asks for it, no webhook carries a prompt, an answer or an error message", () => {
  for (const type of EVENT_NAMES) {
    const body = JSON.stringify(payloadOf(eventOf(type), false));
    assert.doesNotMatch(body, /the question|the answer|Rate limit/, type);
    assert.match(body, /"agentName"|"parentAgent"/);
  }
});

test("T-013 a webhook carries only the content that is named", () => {
  const { data } = payloadOf(eventOf("agent:error"), ["error"]);
  assert.deepEqual(data, {
    agentName: "summarizer",
    conversationId: "ses_1",
    error: "Rate limit exceeded",
    duration: 450,
  });
});

test("a field that nobody has judged yet is taken for content", () => {
  const odd: AnyEvent = Object.assign(eventOf("job:cancelled"), { transcript: "the question" });
  assert.deepEqual(payloadOf(odd, false), payloadOf(eventOf("job:cancelled"), false));
});
