import assert from "node:assert/strict";
import { test } from "node:test";
import { errorKnowledge } from "../../../src/hooks/sources/builtin/error_knowledge.ts";
import { memoryNotes } from "../../../src/hooks/sources/builtin/notes.ts";
import { stage } from "./stage.ts";

const handler = () => null;

test("B-018 add() takes one registration, or any list of them", async () => {
  const s = stage();
  const heard: string[] = [];
  const end = s.engine.add({ hook: "PreToolUse", handler: () => void heard.push("one") });
  s.engine.add(new Set([{ hook: "PreToolUse", handler: () => void heard.push("two") } as const]));
  s.engine.add([]);
  await s.fire("PreToolUse");
  end();
  await s.fire("PreToolUse");
  assert.deepEqual(heard, ["one", "two", "two"]);
});

test("B-018 add() refuses what it cannot read, says what was wrong and what is right, and adds nothing", () => {
  const { engine } = stage();
  const good = { hook: "PreToolUse", handler } as const;
  const bad: [unknown, RegExp][] = [
    [handler, /a function is no registration/],
    ["PreToolUse", /a text is no registration/],
    [null, /nothing is no registration/],
    [undefined, /nothing is no registration/],
    [[good, handler], /a function at place 1 of the list is no registration/],
    [[good, null], /nothing at place 1/],
    [[[good]], /a list at place 0/],
    [errorKnowledge({ notes: memoryNotes() }), /An object without "hook" is no registration/],
    [{ hook: "PreToolUse" }, /"handler" is missing/],
    [{ hook: "PreToolUse", handler: "text" }, /"handler" is "text", and not a function/],
    [{ hook: 7, handler }, /"hook" is 7, and not the name of a hook/],
    [{ ...good, timeout: 5 }, /"timeout" is no option/],
    [{ ...good, timeoutMs: "5" }, /"timeoutMs" is "5", and not milliseconds/],
    [{ ...good, agents: "primary" }, /"agents" is "primary", and not a list/],
    [{ ...good, matches: /x/ }, /"matches" is a map, and not a function/],
    [{ ...good, advisory: 1 }, /"advisory" is 1, and not true or false/],
    [{ ...good, source: "me" }, /"source" is "me", and not \{ kind, id \}/],
    [{ ...good, turnEnd: true }, /"turnEnd" is for handlers of SessionEnd/],
  ];
  for (const [given, message] of bad) {
    assert.throws(() => engine.add(given as never), (error: Error & { code?: string; hint?: string }) => {
      assert.deepEqual([error.code, typeof error.hint], ["hook.option_invalid", "string"]);
      assert.match(error.message, message);
      return true;
    });
  }
  assert.throws(
    () => engine.register("PreToolUse", handler, { timeoutMS: 5 } as never),
    (error: Error & { hint?: string }) => error.hint === 'Did you mean "timeoutMs"?',
  );
  assert.deepEqual(engine.list(), []);
});
