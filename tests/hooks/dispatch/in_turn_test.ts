import assert from "node:assert/strict";
import { test } from "node:test";
import { type Asking, inTurn } from "../../../src/hooks/dispatch/in_turn.ts";

type Answer = string | Promise<string>;
type One = () => Answer;

/** Asks functions for texts, and writes down what happens. */
function asking(rest: Partial<Asking<One, string, string>> = {}): Asking<One, string, string> & { log: string[] } {
  const log: string[] = [];
  return {
    log,
    wants: () => true,
    ask: (one) => one(),
    take: (_, answer) => void log.push(answer),
    fail: (_, error) => void log.push((error as Error).message),
    result: () => log.join(" "),
    ...rest,
  };
}
const throws = (message: string): One => () => {
  throw new Error(message);
};

test("D-009 everybody is asked in turn, at once while answers come at once", async () => {
  const all: One[] = [() => "a", throws("b broke"), () => "c"];
  assert.equal(inTurn(all, asking()), "a b broke c");
  const waiting: One[] = [() => "a", () => Promise.resolve("b"), () => Promise.reject(new Error("c broke")), () => "d"];
  const done = inTurn(waiting, asking());
  assert.ok(done instanceof Promise);
  assert.equal(await done, "a b c broke d");
});

test("D-009 whether one is wanted is asked in its turn, and not before", async () => {
  const round = asking({ wants: () => !round.log.includes("stop") });
  assert.equal(
    await inTurn([() => "a", () => Promise.resolve("stop"), () => assert.fail("it was asked")], round),
    "a stop",
  );
});

test("D-009 a failure that may not be passed over ends it, before a wait or after it", async () => {
  const strict = (): Asking<One, string, string> =>
    asking({
      fail(_, error) {
        throw error;
      },
    });
  const never: One = () => assert.fail("it was asked");
  assert.throws(() => inTurn([throws("now"), never], strict()), /now/);
  await assert.rejects(async () => await inTurn([() => Promise.resolve("a"), throws("soon"), never], strict()), /soon/);
  await assert.rejects(async () => await inTurn([() => Promise.reject(new Error("later")), never], strict()), /later/);
});

test("D-009 an answer that cannot be used is a failure of the one who gave it, and the next is asked", async () => {
  const picky = (): Asking<One, string, string> => {
    const round = asking({
      take(_, answer) {
        if (answer === "bad") throw new Error("no use");
        round.log.push(answer);
      },
    });
    return round;
  };
  assert.equal(inTurn([() => "bad", () => "a"], picky()), "no use a");
  assert.equal(await inTurn([() => Promise.resolve("bad"), () => "a"], picky()), "no use a");
});

test("D-009 what only looks like a promise is waited for too, and answers once", async () => {
  const then = (resolve: (text: string) => void): void => ["soon", "twice"].forEach(resolve);
  const thenable = { then } as unknown as Promise<string>;
  const round = asking();
  await inTurn([() => "first", () => thenable, () => thenable, () => "last"], round);
  assert.deepEqual(round.log, ["first", "soon", "soon", "last"]);
});
