import assert from "node:assert/strict";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { fixturePlugin } from "../support/fixture_plugins.ts";
import { processesIn } from "../support/processes_in.ts";
import { runKaged, signalKaged } from "../support/run_kaged.ts";
import { scratchDir } from "../support/scratch_dir.ts";

test("kaged plugin call prints the result, and as { result } with --json", async () => {
  await using plugin = await fixturePlugin("echo");
  const plain = await runKaged(["plugin", "call", plugin.dir, "echo.config", "--config", '{"tags":["a"]}']);
  assert.deepEqual(plain, { code: 0, stdout: '{\n  "tags": [\n    "a"\n  ]\n}\n', stderr: "" });
  const json = await runKaged(["plugin", "call", plugin.dir, "echo.config", "--json"]);
  assert.deepEqual([json.code, JSON.parse(json.stdout), json.stderr], [0, { result: {} }, ""]);
});

test("K-015 kaged plugin call sends params from stdin, with the context of a call of the host", async () => {
  await using plugin = await fixturePlugin("echo");
  const { stdout } = await runKaged(["plugin", "call", plugin.dir, "echo.params", "-", "--json"], {
    input: '{ "who": "Ada" }\n',
  });
  const { result: { params, context } } = JSON.parse(stdout);
  assert.deepEqual(params, { who: "Ada" });
  assert.match(context.request_id, /^req_/);
  assert.deepEqual({ ...context, request_id: "" }, {
    operator_id: null,
    project_id: null,
    agent_path: null,
    session_id: null,
    request_id: "",
  });
});

test("K-017 kaged plugin call passes on the error a plugin chose", async () => {
  await using plugin = await fixturePlugin("echo");
  const args = ["plugin", "call", plugin.dir, "echo.read", '{"path":"/etc/passwd"}'];
  const plain = await runKaged(args);
  assert.deepEqual([plain.code, plain.stdout], [1, ""]);
  assert.match(plain.stderr, /^error\[plugin\.error\]: /);
  assert.doesNotMatch(plain.stderr, /\n\s+at /, "no stack trace");
  const json = await runKaged([...args, "--json"]);
  const { error } = JSON.parse(json.stdout);
  assert.deepEqual([json.code, error.code, error.rpc, error.data], [1, "plugin.error", -32000, { code: "ENOENT" }]);
});

test("kaged plugin call suggests a method when it does not know one, and starts nothing", async () => {
  await using plugin = await fixturePlugin("echo", { files: { "index.js": "not JavaScript at all" } });
  const { code, stderr } = await runKaged(["plugin", "call", plugin.dir, "echo.parms"]);
  assert.equal(code, 1);
  assert.equal(
    stderr,
    'error[protocol.method_unknown]: Plugin "echo" has no method "echo.parms"\n  hint: Did you mean "echo.params"?\n',
  );
});

test("kaged plugin call holds a tool's arguments against its schema, and starts nothing for wrong ones", async () => {
  await using plugin = await fixturePlugin("answers_hooks", { files: { "index.js": "not JavaScript at all" } });
  const call = (json: string, ...more: string[]) =>
    runKaged(["plugin", "call", plugin.dir, "answers-hooks.look", json, ...more]);
  const missing = await call("{}");
  assert.deepEqual([missing.code, missing.stdout], [1, ""]);
  assert.equal(
    missing.stderr,
    'error[tool.arguments_invalid]: Cannot call "answers-hooks.look": query: Field "query" is missing\n' +
      "  hint: Follow the tool's parameters_schema\n",
  );
  const { error } = JSON.parse((await call('{"query": 7, "tags": "a"}', "--json")).stdout);
  assert.deepEqual([error.code, error.data.path], ["tool.arguments_invalid", "query"]);
  assert.deepEqual(error.data.issues.map(({ path }: { path: string }) => path), ["query", "tags"]);
});

test("kaged plugin call holds the arguments of an MCP server's tool against what the server says it takes", async () => {
  await using plugin = await fixturePlugin("mcp_tools");
  const { code, stdout } = await runKaged(["plugin", "call", plugin.dir, "mcp-tools.say_it", '{"what": 7}', "--json"]);
  assert.deepEqual([code, JSON.parse(stdout).error.code], [1, "tool.arguments_invalid"]);
});

test("kaged plugin call shows the logs of the plugin on stderr, disarmed, unless --quiet is given", async () => {
  await using plugin = await fixturePlugin("echo");
  const args = ["plugin", "call", plugin.dir, "echo.log", '{"text":"a \\u001b[2J line\\n"}'];
  const loud = await runKaged(args);
  assert.deepEqual([loud.code, loud.stderr], [0, "echo: a \\u001b[2J line\n"]);
  assert.equal((await runKaged([...args, "-q"])).stderr, "");
});

test("K-013 kaged plugin call gives up after --timeout", async () => {
  await using plugin = await fixturePlugin("never_answers");
  const { code, stdout } = await runKaged([
    "plugin",
    "call",
    plugin.dir,
    "fixture.call",
    "--timeout",
    "50ms",
    "--json",
  ]);
  const { error } = JSON.parse(stdout);
  assert.deepEqual([code, error.code, error.rpc, error.data.timeout_ms], [1, "protocol.timeout", -32603, 50]);
});

test("kaged plugin call mounts the project that --project names, and keeps what the home of --home got", async (t) => {
  const dir = await scratchDir(t);
  const [home, project] = [join(dir, "home"), join(dir, "project")];
  await using plugin = await fixturePlugin("echo", {
    manifest: { capabilities: ["read:fs:project:/notes.txt", "write:fs:config:/echo"] },
  });
  const places = ["--home", home, "--project", project, "--json"];
  const missing = await runKaged(["plugin", "call", plugin.dir, "echo.config", ...places]);
  assert.equal(missing.code, 2);
  await runKaged(["plugin", "new", project, "--name", "unused"]);
  await writeFile(join(project, "notes.txt"), "noted");
  const read = JSON.stringify({ path: join(project, "notes.txt") });
  const { stdout } = await runKaged(["plugin", "call", plugin.dir, "echo.read", read, ...places]);
  assert.deepEqual(JSON.parse(stdout), { result: { text: "noted" } });
  const write = JSON.stringify({ path: join(home, "files/echo/x"), text: "kept" });
  await runKaged(["plugin", "call", plugin.dir, "echo.write", write, ...places]);
  assert.equal(await readFile(join(home, "files/echo/x"), "utf8"), "kept");
});

test("kaged plugin call leaves no process and no file behind", async (t) => {
  const tmp = await scratchDir(t);
  await using plugin = await fixturePlugin("echo");
  const { code } = await runKaged(["plugin", "call", plugin.dir, "echo.pid"], {
    env: { TMPDIR: tmp },
    isProcess: true,
  });
  assert.equal(code, 0);
  assert.deepEqual([await readdir(tmp), await processesIn(plugin.dir)], [[], []]);
});

test("kaged plugin call stops the plugin at Ctrl-C, leaves nothing behind and exits with 130", async (t) => {
  const tmp = await scratchDir(t);
  // One is interrupted in its call, one before it has answered initialize.
  for (const step of ["fixture.call", "initialize"]) {
    await using plugin = await fixturePlugin("never_answers", {
      files: {
        "index.js": `import { serve, writeAll } from "./wire.js";\n` +
          `serve({ ${JSON.stringify(step)}: () => writeAll(2, "reached\\n") });\n`,
      },
    });
    const { code, stderr } = await runKaged(["plugin", "call", plugin.dir, "fixture.call"], {
      env: { TMPDIR: tmp },
      onStart: (child) => child.stderr?.once("data", () => signalKaged(child, "SIGINT")),
    });
    assert.deepEqual(
      [code, stderr],
      [130, "never-answers: reached\nerror[host.interrupted]: Stopped by SIGINT\n"],
      step,
    );
    assert.deepEqual([await readdir(tmp), await processesIn(plugin.dir)], [[], []], step);
  }
});
