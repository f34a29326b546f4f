import assert from "node:assert/strict";
import { test } from "node:test";
import * as v from "valibot";
import {
  dispatchCapability,
  dispatchChain,
  dispatchCollect,
  dispatchNotify,
  dispatchSingleton,
  STOP,
} from "../../../src/hooks/dispatch/dispatch.ts";
import { fromCountdown, inOrder } from "../../../src/hooks/dispatch/order.ts";
import type { HookContract, Participant } from "../../../src/hooks/dispatch/types.ts";

const contract = (dispatch: HookContract["dispatch"], rest: Partial<HookContract> = {}): HookContract => {
  return { name: "execute", dispatch, ...rest };
};
const one = (name: string, rest: Partial<Participant<unknown, unknown>> = {}): Participant<unknown, unknown> => {
  return { name, call: () => name, ...rest };
};
const code = (code: string, message?: RegExp) => (error: Error & { code?: string }): boolean => {
  assert.equal(error.code, code);
  if (message) assert.match(error.message, message);
  return true;
};

test("X-15 D-009 one order inside: priority ascending, then declaration", () => {
  const items = [
    one("a"),
    one("b", { priority: 10 }),
    one("c"),
    one("d", { priority: 90 }),
    one("e", { priority: 10 }),
  ];
  assert.deepEqual(inOrder(items).map(({ name }) => name), ["b", "e", "a", "c", "d"]);
});

test("X-15 D-009 kinds that count down and break ties by name are converted at the door", () => {
  const items = [one("b"), one("z", { priority: 100 }), one("a"), one("y", { priority: 1 })];
  assert.deepEqual(inOrder(fromCountdown(items)).map(({ name }) => name), ["z", "a", "b", "y"]);
});

test("D-009 singleton: the policy stands above the override, the override above priorities", () => {
  const all = [one("low", { priority: 1 }), one("mid", { priority: 5 }), one("high", { priority: 9 })];
  const hook = contract("singleton");
  assert.equal(dispatchSingleton(hook, all, {}), "low");
  assert.equal(dispatchSingleton(hook, all, {}, { override: "mid" }), "mid");
  assert.equal(dispatchSingleton(hook, all, {}, { override: "mid", policy: () => "high" }), "high");
  assert.equal(dispatchSingleton(hook, all, {}, { override: "mid", policy: () => null }), "mid");
  assert.equal(dispatchSingleton(hook, all, {}, { override: "" }), "low");
});

test("D-009 singleton: the policy sees the input and who could answer", () => {
  const seen: unknown[] = [];
  const policy = (input: unknown, names: readonly string[]) => (seen.push(input, names), null);
  dispatchSingleton(contract("singleton"), [one("a")], { tool: "x" }, { policy });
  assert.deepEqual(seen, [{ tool: "x" }, ["a"]]);
});

test("D-009 singleton: two of the first priority are ambiguous, and nobody is guessed", () => {
  const hook = contract("singleton");
  const all = [one("a"), one("b"), one("later", { priority: 60 })];
  assert.throws(() => dispatchSingleton(hook, all, {}), code("hook.ambiguous", /a, b have one priority/));
  assert.equal(dispatchSingleton(hook, all, {}, { override: "b" }), "b");
  assert.equal(dispatchSingleton(hook, [one("first", { priority: 1 }), ...all], {}), "first");
});

test("D-009 singleton: nobody, or a name nobody has, is an error that says so", () => {
  assert.throws(() => dispatchSingleton(contract("singleton"), [], {}), code("hook.nobody"));
  assert.throws(
    () => dispatchSingleton(contract("singleton"), [one("search")], {}, { override: "serach" }),
    (error: Error & { hint?: string }) =>
      code("hook.unknown_participant")(error) && error.hint === 'Did you mean "search"?',
  );
});

test("D-009 collect: answers stand in order, and the first failure ends it", async () => {
  const asked: string[] = [];
  const asking = (name: string, priority: number, fails = false) =>
    one(name, {
      priority,
      call: () => {
        asked.push(name);
        if (fails) throw new Error(`${name} broke`);
        return name;
      },
    });
  const hook = contract("broadcast_collect");
  assert.deepEqual(dispatchCollect(hook, [asking("b", 20), asking("a", 10)], {}), {
    answers: [{ name: "a", value: "a" }, { name: "b", value: "b" }],
    failures: [],
  });
  asked.length = 0;
  const all = [asking("a", 10), asking("bad", 20, true), asking("c", 30)];
  assert.throws(() => dispatchCollect(hook, all, {}), /bad broke/);
  assert.deepEqual(asked, ["a", "bad"]);
  const late = one("late", { priority: 1, call: () => Promise.reject(new Error("late broke")) });
  await assert.rejects(async () => await dispatchCollect(hook, [late, ...all], {}), /late broke/);
});

test("D-009 collect: with best effort everybody is asked and failures are told", async () => {
  const all = [
    one("a", { call: () => Promise.resolve(1) }),
    one("bad", { call: () => Promise.reject(new Error("no")) }),
    one("worse", {
      call: () => {
        throw new Error("never");
      },
    }),
    one("c", { call: () => 3 }),
  ];
  const { answers, failures } = await dispatchCollect(contract("broadcast_collect"), all, {}, { bestEffort: true });
  assert.deepEqual(answers, [{ name: "a", value: 1 }, { name: "c", value: 3 }]);
  assert.deepEqual(failures.map(({ name, error }) => [name, (error as Error).message]), [["bad", "no"], [
    "worse",
    "never",
  ]]);
});

test("D-009 collect: one is asked once the one before has answered", async () => {
  const steps: string[] = [];
  let release = (): void => {};
  const slow = one("slow", {
    call: () => new Promise<void>((resolve) => release = resolve).then(() => steps.push("slow")),
  });
  const next = one("next", { call: () => steps.push("next") });
  const done = dispatchCollect(contract("broadcast_collect"), [slow, next], {});
  await Promise.resolve();
  assert.deepEqual(steps, []);
  release();
  await done;
  assert.deepEqual(steps, ["slow", "next"]);
});

test("D-009 notify: everybody is told at once, and failures are logged and never thrown", async () => {
  const told: string[] = [];
  let release = (): void => {};
  const held = one("held", { call: () => new Promise<void>((resolve) => (told.push("held"), release = resolve)) });
  const broken = one("broken", {
    call: () => {
      throw new Error("broke");
    },
  });
  const last = one("last", { call: () => told.push("last") });
  const failures: string[] = [];
  const done = dispatchNotify(
    contract("broadcast_notify"),
    [held, broken, last],
    {},
    ({ name }) => failures.push(name),
  );
  assert.deepEqual(told, ["held", "last"]);
  assert.deepEqual(failures, ["broken"]);
  release();
  assert.equal(await done, undefined);
  const deaf = (): never => {
    throw new Error("nobody home");
  };
  assert.equal(await dispatchNotify(contract("broadcast_notify"), [broken, last], {}, deaf), undefined);
});

test("D-009 chain: what one leaves is what the next is given", async () => {
  const add = (name: string, priority: number) => ({
    name,
    priority,
    call: (text: string): Promise<string> | string => priority === 20 ? Promise.resolve(text + name) : text + name,
  });
  assert.deepEqual(dispatchChain(contract("chain"), [add("b", 30), add("a", 10)], "-"), {
    value: "-ab",
    stoppedBy: null,
  });
  assert.deepEqual(await dispatchChain(contract("chain"), [add("c", 30), add("b", 20), add("a", 10)], "-"), {
    value: "-abc",
    stoppedBy: null,
  });
});

test("D-009 chain: the sentinel ends it with what there was, a throw is the caller's", () => {
  const never = { name: "never", call: (): string => assert.fail("it ran") };
  const all = [{ name: "a", call: () => "a" }, { name: "b", call: (): typeof STOP => STOP }, never];
  assert.deepEqual(dispatchChain(contract("chain"), all, ""), { value: "a", stoppedBy: "b" });
  const throwing = {
    name: "t",
    call: (): string => {
      throw new Error("no further");
    },
  };
  assert.throws(() => dispatchChain(contract("chain"), [throwing, never], ""), /no further/);
});

test("D-009 chain: values travel as JSON, and what JSON cannot hold is refused", () => {
  const kept: { list: number[] }[] = [];
  const keep = { name: "keep", call: (value: { list: number[] }) => (kept.push(value), { list: [...value.list, 1] }) };
  const input = { list: [0] };
  const { value } = dispatchChain(contract("chain"), [keep, keep], input) as { value: { list: number[] } };
  kept[0]!.list.push(99);
  assert.deepEqual(input, { list: [0] });
  assert.deepEqual(value, { list: [0, 1, 1] });
  for (const bad of [() => 1, 7n, NaN, new Date(0), { a: [Symbol("s")] }, new Map(), undefined]) {
    const all = [{ name: "bad", call: (): unknown => ({ a: bad === undefined ? [bad] : bad }) }];
    assert.throws(() => dispatchChain(contract("chain"), all, {}), code("hook.output_invalid"), String(bad));
  }
  const spoil = { name: "spoil", call: (value: { list: number[] }): typeof STOP => (value.list.push(7), STOP) };
  assert.deepEqual(dispatchChain(contract("chain"), [spoil], input), { value: { list: [0] }, stoppedBy: "spoil" });
  const circle: { self?: unknown } = {};
  circle.self = circle;
  assert.throws(() => dispatchChain(contract("chain"), [], circle), code("hook.input_invalid", /deeper than 64/));
});

test("D-009 capability: the one that can, by priority; else the one fallback; else an error", () => {
  const hook = contract("capability");
  const pdf = one("pdf", { capabilities: ["pdf"], priority: 20 });
  const fast = one("fast-pdf", { capabilities: ["pdf", "txt"], priority: 10 });
  const any = one("any", { isFallback: true });
  assert.equal(dispatchCapability(hook, [pdf, fast, any], {}, "pdf"), "fast-pdf");
  assert.equal(dispatchCapability(hook, [pdf, any], {}, "png"), "any");
  assert.throws(() => dispatchCapability(hook, [pdf], {}, "png"), code("hook.no_capability", /"png"/));
  const same = one("same", { capabilities: ["pdf"], priority: 20 });
  assert.throws(() => dispatchCapability(hook, [pdf, same], {}, "pdf"), code("hook.ambiguous"));
  const twoFallbacks = [any, one("other", { isFallback: true })];
  assert.throws(() => dispatchCapability(hook, twoFallbacks, {}, "png"), code("hook.ambiguous", /any, other/));
});

test("D-009 every class checks its input, and each answer, against the contract", async () => {
  const schema = v.strictObject({ tool: v.string() });
  const input = { tool: 7 };
  const all = [one("a", { capabilities: ["x"] })];
  const bad = code("hook.input_invalid", /tool: /);
  assert.throws(() => dispatchSingleton(contract("singleton", { input: schema }), all, input), bad);
  assert.throws(() => dispatchCollect(contract("broadcast_collect", { input: schema }), all, input), bad);
  assert.throws(() => dispatchCapability(contract("capability", { input: schema }), all, input, "x"), bad);
  assert.throws(() => dispatchChain(contract("chain", { input: schema }), [], input), bad);
  await assert.rejects(dispatchNotify(contract("broadcast_notify", { input: schema }), all, input), bad);
  const output = v.number();
  const wrong = code("hook.output_invalid", /"a" answered "execute" wrongly/);
  assert.throws(() => dispatchSingleton(contract("singleton", { output }), all, {}), wrong);
  assert.throws(() => dispatchCollect(contract("broadcast_collect", { output }), all, {}), wrong);
  assert.throws(() => dispatchCapability(contract("capability", { output }), all, {}, "x"), wrong);
  assert.throws(() => dispatchChain(contract("chain", { output }), [{ name: "a", call: () => "text" }], "t"), wrong);
});

test("D-009 N-039 a function refuses the hook of another class, and names the right one", async () => {
  const functions: Readonly<Record<HookContract["dispatch"], (hook: HookContract) => unknown>> = {
    singleton: (hook) => dispatchSingleton(hook, [one("a")], {}),
    capability: (hook) => dispatchCapability(hook, [one("a", { capabilities: ["x"] })], {}, "x"),
    broadcast_collect: (hook) => dispatchCollect(hook, [one("a")], {}),
    broadcast_notify: (hook) => dispatchNotify(hook, [one("a")], {}),
    chain: (hook) => dispatchChain(hook, [one("a")], {}),
  };
  const names = Object.keys(functions) as HookContract["dispatch"][];
  for (const name of names) {
    await functions[name](contract(name));
    for (const other of names.filter((one) => one !== name)) {
      await assert.rejects(async () => await functions[name](contract(other)), code("hook.wrong_class"));
    }
  }
  await assert.rejects(async () => await functions.singleton(contract("chain")), {
    message: 'Cannot dispatch "execute" as singleton: its class is chain',
    hint: "Use dispatchChain",
  });
});
