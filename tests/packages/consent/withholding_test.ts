import assert from "node:assert/strict";
import { test } from "node:test";
import { addedAfter, unanswered, withheldAfter, withWithheld } from "../../../src/packages/consent/withholding.ts";

const ASKED = ["read:fs:/srv/a", "net:a.example:443", "kaged:storage:read", "kaged:storage:write", "net:[]"];
const plugin = { name: "notes", capabilities: ASKED };

test("N-028 withheldAfter() keeps what was withheld until a grant names it or covers it", () => {
  const after = (granted: string[], before: string[]) => withheldAfter(plugin, { granted }, before);
  assert.deepEqual(after([], ["net:a.example:443"]), ["net:a.example:443"]);
  assert.deepEqual(after(["read:fs:/srv/a"], ["net:a.example:443"]), ["net:a.example:443"]);
  assert.deepEqual(after(["net:a.example:443"], ["net:a.example:443"]), []);
  assert.deepEqual(after(["kaged:storage:write"], ["kaged:storage:write", "kaged:storage:read"]), []);
  assert.deepEqual(after(["net:*"], ["net:a.example:443"]), ["net:a.example:443"], "the plugin does not ask for net:*");
  assert.deepEqual(after([], ["net:gone.example:1"]), ["net:gone.example:1"], "kept for a version that asks again");
});

test("N-028 withheldAfter() withholds with a capability those that cover it", () => {
  assert.deepEqual(withheldAfter(plugin, { granted: [], withhold: ["kaged:storage:read"] }, []), [
    "kaged:storage:read",
    "kaged:storage:write",
  ]);
});

test("N-028 withheldAfter() refuses to withhold what is not asked for, with the list of what is", () => {
  const asked = ASKED.slice(0, -1);
  assert.throws(() => withheldAfter(plugin, { granted: [], withhold: ["net:b.example:443"] }, []), {
    code: "install.capability_unknown",
    message: 'Cannot withhold net:b.example:443: "notes" does not ask for it',
    hint: `It asks for ${asked.join(", ")}`,
    data: { plugin: "notes", unknown: ["net:b.example:443"], asked },
  });
  assert.throws(() => withheldAfter(plugin, { granted: [], withhold: ["secret:token"] }, []), {
    code: "install.capability_unknown",
    hint: "A secret is not handed over while it is not set: kaged secret unset",
  });
});

test("N-028 withheldAfter() refuses two answers about one capability", () => {
  const both = (granted: string, withheld: string) => () =>
    withheldAfter(plugin, { granted: [granted], withhold: [withheld] }, []);
  assert.throws(both("read:fs:/srv/a", "read:fs:/srv/a"), { code: "install.withhold_granted", hint: "Name it once" });
  assert.throws(both("kaged:storage:write", "kaged:storage:read"), {
    code: "install.withhold_granted",
    hint: "Withhold kaged:storage:write as well, or grant both",
  });
});

test("N-028 addedAfter() takes away the hosts that are withheld by name, and those that cover one", () => {
  const added = ["net:a.example:443", "net:b.example:*"];
  assert.deepEqual(addedAfter(added, ["net:a.example:443"]), ["net:b.example:*"]);
  assert.deepEqual(addedAfter(added, ["net:b.example:80"]), ["net:a.example:443"]);
  assert.deepEqual(addedAfter(added), added);
});

test("N-028 unanswered() returns what an answer neither grants nor withholds; a secret that is seen must be granted", () => {
  const answer = { granted: ["read:fs:/srv/a"], withhold: ["kaged:storage:read"] };
  assert.deepEqual(unanswered([...ASKED.slice(0, 4), "secret:token"], answer), ["net:a.example:443", "secret:token"]);
  assert.deepEqual(unanswered(["secret:token"], { granted: [], withhold: ["secret:token"] }), ["secret:token"]);
});

test("N-028 withWithheld() warns of a capability that covers a withheld one, or is a part of it", () => {
  const danger = (capability: string, own: string | null, ...withheld: string[]) =>
    withWithheld({ capability, text: "", danger: own }, withheld).danger;
  assert.equal(danger("net:a.example:*", null, "net:a.example:443"), "It covers net:a.example:443, which you withheld");
  assert.equal(
    danger("net:*", "All of it", "net:a.example:443"),
    "All of it. It covers net:a.example:443, which you withheld",
  );
  assert.equal(danger("read:fs:/srv/a", null, "read:fs:/srv"), "It is a part of read:fs:/srv, which you withheld");
  assert.equal(danger("read:fs:/srv/a", null, "read:fs:/opt"), null);
});
