import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { HostError } from "@kaged/plugin-host";

test("a HostError is called HostError in its stack and in a trace, whatever a bundler calls the class", () => {
  const error = new HostError("host.misuse", "No such agent");
  assert.match(String(error.stack), /^HostError: No such agent/);
  assert.match(inspect(error), /^HostError: No such agent/);
  assert.deepEqual([error.name, HostError.name, Object.keys(error).includes("name")], [
    "HostError",
    "HostError",
    false,
  ]);
});
