import assert from "node:assert/strict";
import { test } from "node:test";
import { parseShebang } from "../../../src/core/cage/shebang.ts";

const read = (text: string): unknown => parseShebang(new TextEncoder().encode(text));

test("the first line of a script names its interpreter", () => {
  assert.deepEqual(read("#!/bin/sh\nexit"), { interpreter: "/bin/sh", envName: null });
  assert.deepEqual(read("#! /bin/bash -eu\n"), { interpreter: "/bin/bash", envName: null });
  assert.deepEqual(read("#!/bin/sh"), { interpreter: "/bin/sh", envName: null });
  assert.deepEqual(read("#!\n"), { interpreter: "", envName: null });
});

test("env names the program it looks for", () => {
  const env = "/usr/bin/env";
  assert.deepEqual(read("#!/usr/bin/env python3\n"), { interpreter: env, envName: "python3" });
  assert.deepEqual(read("#!/usr/bin/env -S deno run -A\n"), { interpreter: env, envName: "deno" });
  assert.deepEqual(read("#!/usr/bin/env -S A=1 node\n"), { interpreter: env, envName: "node" });
  assert.deepEqual(read("#!/usr/bin/env\n"), { interpreter: env, envName: "" });
});

test("a file that is no script has no interpreter", () => {
  for (const text of ["", "#", "# !/bin/sh", "\x7fELF", " #!/bin/sh"]) assert.equal(read(text), null);
});
