import assert from "node:assert/strict";
import { test } from "node:test";
import { readCapabilities } from "../../../src/core/manifest/capability.ts";
import { missingProgramHint, missingPrograms, withMissingProgram } from "../../../src/core/cage/missing_program.ts";
import { HostError } from "../../../src/core/errors/host_error.ts";

test("missingPrograms() finds the program that shells, runtimes and libraries could not start", () => {
  const said = [
    "/usr/bin/bash: line 1: jq: command not found",
    "./main.sh: line 12: jq: command not found",
    "/bin/sh: 1: jq: not found",
    "sh: jq: not found",
    "env: ‘jq’: No such file or directory",
    "/usr/bin/env: 'jq': No such file or directory",
    "Error: spawn jq ENOENT",
    "Error: spawnSync jq ENOENT",
    "error: Uncaught (in promise) NotFound: Failed to spawn 'jq': entity not found",
    'error: Executable not found in $PATH: "jq"',
    'panic: exec: "jq": executable file not found in $PATH',
    "FileNotFoundError: [Errno 2] No such file or directory: 'jq'",
  ];
  for (const line of said) assert.deepEqual(missingPrograms(["starting", line, "bye"]), ["jq"], line);
});

test("missingPrograms() takes nothing else for a program, and names each of several once", () => {
  const other = [
    "FileNotFoundError: [Errno 2] No such file or directory: '/data/x.json'",
    "GET /jq: 404 not found, sorry",
    "bash: line 1: \u001b[31mjq: command not found",
    `x: ${"a".repeat(65)}: command not found`,
    "",
  ];
  assert.deepEqual([missingPrograms(other), missingProgramHint(other)], [[], null]);
  const several = ["jq", "yq", "jq"].map((name, at) => `bash: line ${at}: ${name}: command not found`);
  assert.deepEqual(missingPrograms(several), ["jq", "yq"]);
});

test("a plugin that did not answer is explained by the program it could not start, any other failure is not", () => {
  const stderr = ["bash: line 1: jq: command not found"];
  const late = new HostError("initialize.timeout", "No answer", { data: { timeout_ms: 1 }, hint: "Answer first" });
  const explained = withMissingProgram(late, stderr) as HostError;
  assert.deepEqual([explained.code, explained.data, explained.hint], [
    late.code,
    late.data,
    missingProgramHint(stderr),
  ]);
  assert.match(explained.hint ?? "", /"jq".*exec:jq:plugin:\//);
  assert.equal(withMissingProgram(late, ["all well"]), late);
  const other = new HostError("initialize.refused", "No");
  assert.equal(withMissingProgram(other, stderr), other);
});

test("missingProgramHint() names the way to grant a program that the operator withheld", () => {
  const places = { installDir: "/p", home: "/h", projectDir: null };
  const withheld = { plugin: "notes", capabilities: readCapabilities(["exec:jq:plugin:/", "exec:git:/srv"]), places };
  const stderr = ["./plugin.sh: line 3: jq: command not found"];
  assert.equal(
    missingProgramHint(stderr, withheld),
    "exec:jq:plugin:/: withheld by the operator. Grant with kaged plugin grant notes 'exec:jq:plugin:/'",
  );
  assert.match(missingProgramHint(["x: line 1: sed: command not found"], withheld)!, /Add exec:sed:plugin:\//);
});
