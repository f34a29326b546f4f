/**
 * Conversations for the tests of compaction: small ones by hand, any ones by chance.
 *
 * @module
 */
import type { IdentifiedMessage, Message } from "../../../src/core/compaction/messages.ts";
import fc from "../../support/fast_check.ts";

/** A message of one word that tells its id and role: `"u1 user"` with more fields as given. */
export function message(text: string, fields: Partial<Message> = {}): IdentifiedMessage {
  const [id, role] = text.split(" ") as [string, string];
  return { id, role, content: `content of ${id}`, ...fields };
}

/** An assistant's message that calls tools. */
export const call = (id: string, ...calls: string[]): IdentifiedMessage =>
  message(`${id} assistant`, { tool_calls: calls.map((each) => ({ id: each, type: "function" })) });

/** The result of a call. */
export const answer = (id: string, to: string): IdentifiedMessage => message(`${id} tool`, { tool_call_id: to });

/** Ids of messages, joined: what most tests compare. */
export const idsOf = (messages: readonly Message[]): string => messages.map(({ id }) => id ?? "new").join(" ");

/** One message counts one for each character of its text. */
export const countChars = ({ content }: Message): number =>
  typeof content === "string" ? content.length : JSON.stringify(content).length;

const CALL_IDS = ["call_1", "call_2", "call_3"]; // Few, so that they are used again.
const callId = fc.constantFrom(...CALL_IDS);
const text = fc.string({ minLength: 1, maxLength: 40 });
const pinned = fc.oneof({ weight: 9, arbitrary: fc.constant({}) }, {
  weight: 1,
  arbitrary: fc.constant({ always_keep: true }),
});

const plain = fc.record({ role: fc.constantFrom("user", "user", "assistant", "assistant", "system"), content: text });
const calling = fc.record({
  role: fc.constant("assistant"),
  content: text,
  tool_calls: fc.uniqueArray(callId, { minLength: 1, maxLength: 3 }).map((ids) => ids.map((id) => ({ id }))),
});
const answering = fc.record({ role: fc.constant("tool"), content: text, tool_call_id: callId });
const callingInParts = callId.map((id) => ({ role: "assistant", content: [{ type: "tool_use", id, name: "t" }] }));
const answeringInParts = callId.map((id) => ({ role: "user", content: [{ type: "tool_result", tool_use_id: id }] }));
const turn = fc.tuple(fc.oneof(plain, calling, answering, callingInParts, answeringInParts), pinned);

/** Any conversation: calls, parallel calls, results in any place and of no call, ids of calls used again. */
export const conversation: fc.Arbitrary<IdentifiedMessage[]> = fc.array(turn, { maxLength: 30 }).map((turns) =>
  turns.map(([body, pin], index) => ({ id: `m${index}`, ...body, ...pin }))
);

/** Whether `part` is `whole` with some messages left out, each the very same object. */
export function isSubsequence(part: readonly Message[], whole: readonly Message[]): boolean {
  let at = 0;
  for (const each of whole) if (each === part[at]) at++;
  return at === part.length;
}
