import assert from "node:assert/strict";
import { test } from "node:test";
import { homeFolder } from "../../../src/core/files/home.ts";

const env = (variables: Readonly<Record<string, string>>) => (name: string) => variables[name] ?? null;

test("the operator's folder is the one given, else KAGED_HOME, else one of the user's", () => {
  const both = env({ KAGED_HOME: "/srv/kaged/", HOME: "/home/ada" });
  assert.equal(homeFolder("/given", both), "/given");
  assert.equal(homeFolder(undefined, both), "/srv/kaged");
  assert.equal(homeFolder(undefined, env({ HOME: "/home/ada" })), "/home/ada/.local/share/kaged");
  assert.equal(homeFolder("/", both), "/");
});

test("a folder that is not absolute, or none at all, is refused with what to set", () => {
  const told = (given: string | undefined, variables = {}) => () => homeFolder(given, env(variables));
  assert.throws(told("here"), { code: "host.misuse", message: 'The home folder "here" is not absolute' });
  assert.throws(told(undefined, { KAGED_HOME: "~/x" }), { code: "host.misuse", hint: /KAGED_HOME/ });
  assert.throws(told(undefined), { code: "host.misuse", message: "There is no home folder" });
});
