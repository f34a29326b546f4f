import assert from "node:assert/strict";
import { test } from "node:test";
import { issuesOf, manifestOf, manifestText, problems } from "./manifest_text.ts";

const MCP = "runtime: mcp_stdio\n";

test("D-012 runtime says what a plugin's process speaks", async () => {
  assert.equal((await manifestOf(manifestText(MCP))).runtime, "mcp_stdio");
  assert.equal((await manifestOf(manifestText("runtime: kaged_stdio"))).runtime, "kaged_stdio");
  assert.equal((await manifestOf(manifestText())).runtime, undefined);
});

test("home: says where HOME is in the cage", async () => {
  for (const home of ["private", "readonly"]) {
    assert.equal((await manifestOf(manifestText(`home: ${home}`))).home, home);
  }
  assert.equal((await manifestOf(manifestText(MCP))).home, undefined);
  assert.deepEqual(await problems(manifestText("home: /root")), ["manifest.invalid_home 7:7 home"]);
});

test("D-012 a runtime the host does not have is refused with the way out", async () => {
  const hints: Record<string, RegExp> = {
    in_process: /process of its own/,
    mcp_stdo: /Did you mean "mcp_stdio"/,
    7: /quotes|Runtimes/,
  };
  for (const [value, hint] of Object.entries(hints)) {
    const [issue, ...others] = await issuesOf(manifestText(`runtime: ${value}`));
    assert.match(issue!.code, /^manifest\.(unknown_runtime|wrong_type)$/);
    if (value !== "7") assert.match(issue!.hint ?? "", hint, value);
    assert.deepEqual([issue!.path, issue!.line, others], ["runtime", 7, []]);
  }
});

test("D-012 an MCP server is refused every part of the plugin wire, each where it stands", async () => {
  const more = [
    "hooks: [on_session_start]",
    "roles: [observer]",
    "methods: [notes.list]",
    "notifications: [notes.changed]",
    "config_schema: {type: object}",
    "tools: [{name: find, description: Finds, parameters_schema: {type: object}}]",
  ];
  for (const line of more) {
    const [field] = line.split(":");
    assert.deepEqual(await problems(manifestText(MCP + line)), [`manifest.mcp_contradiction 8:1 ${field}`], line);
    assert.deepEqual(await problems(manifestText(line)), [], line);
  }
  const storage = manifestText(MCP, { capabilities: "[kaged:storage:write]" });
  assert.deepEqual(await problems(storage), ["manifest.mcp_contradiction 6:16 capabilities[0]"]);
  assert.deepEqual(await problems(manifestText(MCP, { name: "n" })), ["manifest.short_tool_owner 1:7 name"]);
});

test("D-012 an MCP server may say that it wants nothing of the plugin wire", async () => {
  assert.deepEqual(await problems(manifestText(`${MCP}tools: []\nhooks: []\nknobs: {}`)), []);
});
