import assert from "node:assert/strict";
import { test } from "node:test";
import { alwaysKeepIds, toolGroups } from "../../../src/core/compaction/tool_groups.ts";
import { verifyCompactorResult } from "../../../src/core/compaction/verify_compactor_result.ts";
import { type IdentifiedMessage, type Message, sizeOf } from "../../../src/core/compaction/messages.ts";
import { conversation, countChars } from "./conversations.ts";
import fc from "../../support/fast_check.ts";

interface Honest {
  original: IdentifiedMessage[];
  alwaysKeep: Set<string>;
  result: { role: string; messages: Message[]; superseded: string[] };
}

/** Leaves out some of the groups that need not stay, and puts a short summary where no tool call is parted. */
const honestCompaction: fc.Arbitrary<Honest> = fc
  .tuple(conversation, fc.nat(4), fc.array(fc.boolean(), { minLength: 30, maxLength: 30 }), fc.option(fc.nat(30)))
  .map(([original, keepLast, choices, summaryAt]) => {
    const alwaysKeep = alwaysKeepIds(original, keepLast);
    const free = toolGroups(original).filter((group) => !group.some((index) => alwaysKeep.has(original[index]!.id)));
    const gone = new Set(free.filter((_, index) => choices[index]).flat());
    const messages: Message[] = original.filter((_, index) => !gone.has(index));
    const spans = toolGroups(messages).filter((group) => group.length > 1).map((group) => [group[0]!, group.at(-1)!]);
    const place = Math.min(summaryAt ?? 0, messages.length);
    const isFree = !spans.some(([first, last]) => first! < place && place <= last!);
    if (summaryAt !== null && isFree) messages.splice(place, 0, { role: "user", content: "s" });
    const superseded = original.filter((_, index) => gone.has(index)).map(({ id }) => id);
    return { original, alwaysKeep, result: { role: "compactor", messages, superseded } };
  })
  .filter(({ original, result }) =>
    result.superseded.length > 0 && result.messages.length > 0 &&
    sizeOf(result.messages, countChars).tokens < sizeOf(original, countChars).tokens
  );

let lastId = 0;
const verify = ({ original, alwaysKeep }: Honest, result: unknown) =>
  verifyCompactorResult(JSON.parse(JSON.stringify(result)), {
    original,
    beingCompacted: new Set(original.filter(({ id }) => !alwaysKeep.has(id)).map(({ id }) => id)),
    alwaysKeep,
    countTokens: countChars,
    adopt: (added) => ({ ...added, id: `new${++lastId}` }),
  });

test("K-027 every honest compaction of any conversation is accepted as it is", () => {
  fc.assert(
    fc.property(honestCompaction, (honest) => {
      const verdict = verify(honest, honest.result);
      assert.ok(verdict.ok, JSON.stringify(verdict));
      assert.deepEqual(verdict.superseded, honest.result.superseded);
      const withoutNew = verdict.messages.map((each) => honest.original.includes(each) ? each : { ...each, id: null });
      assert.deepEqual(withoutNew, honest.result.messages.map((each) => ({ ...each, id: each.id ?? null })));
    }),
    { numRuns: 500 },
  );
});

type Lie = (result: Honest["result"], honest: Honest, pick: number) => unknown;

const without = <T>(list: readonly T[], index: number) => list.filter((_, at) => at !== index);
const put = <T>(list: readonly T[], index: number, value: T) => list.map((each, at) => at === index ? value : each);
const inserted = <T>(
  list: readonly T[],
  index: number,
  value: T,
) => [...list.slice(0, index), value, ...list.slice(index)];
const originalsIn = (messages: readonly Message[]) =>
  messages.flatMap(({ id }, index) => id === undefined ? [] : [index]);

/** Each turns an honest result into one with a lie in it, or gives null where there is nothing to lie about. */
const lies: Record<string, Lie> = {
  "loses a message": (result, _, pick) => {
    const kept = originalsIn(result.messages);
    return kept.length ? { ...result, messages: without(result.messages, kept[pick % kept.length]!) } : null;
  },
  "loses a message that always stays and says so": (result, { alwaysKeep }, pick) => {
    const kept = originalsIn(result.messages).filter((at) => alwaysKeep.has(result.messages[at]!.id!));
    if (!kept.length) return null;
    const at = kept[pick % kept.length]!;
    const superseded = [...result.superseded, result.messages[at]!.id!];
    return { ...result, messages: without(result.messages, at), superseded };
  },
  "changes a message": (result, _, pick) => {
    const kept = originalsIn(result.messages);
    if (!kept.length) return null;
    const at = kept[pick % kept.length]!;
    return { ...result, messages: put(result.messages, at, { ...result.messages[at]!, content: "" }) };
  },
  "repeats a message": (result, _, pick) => {
    const kept = originalsIn(result.messages);
    const again = result.messages[kept[pick % kept.length]!];
    return again ? { ...result, messages: [...result.messages, again] } : null;
  },
  "swaps two messages": (result, _, pick) => {
    const kept = originalsIn(result.messages);
    if (kept.length < 2) return null;
    const [first, second] = [kept[pick % (kept.length - 1)]!, kept[pick % (kept.length - 1) + 1]!];
    const { [first]: one, [second]: other } = result.messages;
    return { ...result, messages: put(put(result.messages, first, other!), second, one!) };
  },
  "invents an id": (result, _, pick) => {
    const added = { id: "m999", role: "user", content: "x" };
    return { ...result, messages: put(result.messages, pick % result.messages.length, added) };
  },
  "strips an id": (result, _, pick) => {
    const kept = originalsIn(result.messages);
    if (!kept.length) return null;
    const at = kept[pick % kept.length]!;
    const { id: _id, ...rest } = result.messages[at]!;
    return { ...result, messages: put(result.messages, at, rest) };
  },
  "brings a superseded message back": (result, { original }, pick) => {
    const id = result.superseded[pick % result.superseded.length];
    const back = new Set([...result.messages.map((each) => each.id), id]);
    return { ...result, messages: original.filter((each) => back.has(each.id)) };
  },
  "hides a superseded message": (result, _, pick) => {
    return { ...result, superseded: without(result.superseded, pick % result.superseded.length) };
  },
  "supersedes what it may not": (result, { alwaysKeep, original }, pick) => {
    const taken = original.filter(({ id }) => alwaysKeep.has(id));
    const id = taken.length ? taken[pick % taken.length]!.id : "m999";
    return { ...result, superseded: [...result.superseded, id] };
  },
  "parts a tool call from its result": (result, { original, alwaysKeep }, pick) => {
    const left = new Set(result.messages.map(({ id }) => id));
    const pairs = toolGroups(original)
      .map((group) => group.map((index) => original[index]!.id))
      .filter((group) => group.length > 1 && group.every((id) => left.has(id) && !alwaysKeep.has(id)));
    const pair = pairs[pick % pairs.length];
    if (!pair) return null;
    const lost = pair[pick % pair.length]!;
    const messages = result.messages.filter(({ id }) => id !== lost);
    return { ...result, messages, superseded: [...result.superseded, lost] };
  },
  "talks into a tool call": (result, _, pick) => {
    const spans = toolGroups(result.messages).filter((group) => group.length > 1);
    const span = spans[pick % spans.length];
    if (!span) return null;
    const messages = inserted(result.messages, span[0]! + 1, { role: "user", content: "x" });
    return { ...result, messages };
  },
  "adds a tool result": (result, _, pick) => {
    const forged = { role: "tool", tool_call_id: "call_1", content: "x" };
    return { ...result, messages: inserted(result.messages, pick % (result.messages.length + 1), forged) };
  },
  "grows": (result, { original }) => {
    const { tokens } = sizeOf(original, countChars);
    return { ...result, messages: [...result.messages, { role: "user", content: "x".repeat(tokens) }] };
  },
  "speaks in another role": (result) => ({ ...result, role: "observer" }),
};

for (const [name, lie] of Object.entries(lies)) {
  test(`K-028 a compactor that ${name} is refused, whatever the conversation`, () => {
    let told = 0;
    fc.assert(fc.property(honestCompaction, fc.nat(), (honest, pick) => {
      const result = lie(honest.result, honest, pick);
      if (result === null) return;
      told++;
      const verdict = verify(honest, result);
      assert.ok(!verdict.ok, "the lie is accepted");
    }));
    assert.ok(told > 0, "it was never told");
  });
}
