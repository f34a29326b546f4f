import assert from "node:assert/strict";
import { test } from "node:test";
import { runKaged } from "../support/run_kaged.ts";

test("kaged --help lists the commands and the exit codes", async () => {
  const { code, stdout, stderr } = await runKaged(["--help"], { isProcess: true });
  assert.equal(code, 0);
  for (const part of ["doctor", "plugin", "Exit codes: 0 done, 1 failed, 2 usage error"]) {
    assert.ok(stdout.includes(part), `${part} in ${stdout}`);
  }
  assert.equal(stderr, "");
});

test("kaged --help of each command gives examples", async () => {
  for (const command of [["doctor"], ["plugin", "new"], ["plugin", "check"], ["plugin", "call"]]) {
    const { code, stdout } = await runKaged([...command, "--help"]);
    assert.equal(code, 0);
    assert.match(stdout, new RegExp(`Usage: kaged ${command.join(" ")} [^]*Examples:\\n  kaged ${command.join(" ")}`));
  }
});

test("kaged without a command prints the help on stderr and exits with 2", async () => {
  const { code, stdout, stderr } = await runKaged([], { isProcess: true });
  assert.deepEqual([code, stdout], [2, ""]);
  assert.match(stderr, /Usage: kaged/);
});

test("kaged exits with 2 and a suggestion when a command is misspelt", async () => {
  assert.deepEqual(await runKaged(["plugin", "chekc", "."], { isProcess: true }), {
    code: 2,
    stdout: "",
    stderr: "error[host.misuse]: Unknown command 'chekc'\n  hint: Did you mean check?\n",
  });
});

test("kaged exits with 2 and JSON on stdout when an option is unknown and --json is given", async () => {
  const { code, stdout, stderr } = await runKaged(["doctor", "--json", "--frce"], { isProcess: true });
  assert.deepEqual([code, stderr], [2, ""]);
  assert.deepEqual(JSON.parse(stdout), {
    error: { code: "host.misuse", message: "Unknown option '--frce'", hint: "Add --help to see what it takes" },
  });
});

test("kaged exits with 2 when an argument is missing or malformed", async () => {
  for (
    const [args, complaint] of [
      [["plugin", "call", "."], /Missing required argument 'method'/],
      [["plugin", "call", ".", "a.b", "[1]"], /no object/],
      [["plugin", "call", ".", "a.b", "{"], /not JSON/],
      [["plugin", "call", ".", "a.b", "--timeout", "0"], /above zero/],
      [["plugin", "check", ".", "--config", "7"], /no object/],
      [["plugin", "check", ".", "--runtime-path", "deno"], /name=\/absolute\/path/],
      [["plugin", "call", ".", "a.b", "--project", "/nonexistent/project"], /does not exist/],
      [["plugin", "new", "x", "--runtime", "perl"], /Allowed choices are js, deno, bun, node, bash, python/],
    ] as const
  ) {
    const { code, stdout, stderr } = await runKaged(args);
    assert.deepEqual([code, stdout], [2, ""], args.join(" "));
    assert.match(stderr, /^error\[host\.misuse\]: /);
    assert.match(stderr, complaint);
    assert.doesNotMatch(stderr, /\n\s+at /, "no stack trace");
  }
});

test("kaged prints no colours into a pipe", async () => {
  const { stdout } = await runKaged(["--help"], { isProcess: true });
  // deno-lint-ignore no-control-regex
  assert.doesNotMatch(stdout, /\u001b/);
});
