import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { detectRuntime } from "../../src/adapters/default.ts";
import { trustHookFile } from "../../src/hooks/files/trust_store.ts";
import { openHookFiles } from "../../src/hooks/open_hook_files.ts";
import { connectClient, mcpProject } from "../support/mcp_client.ts";
import { mcpOverHttp } from "../support/mcp_http.ts";
import { allGone, processTree } from "../support/processes.ts";
import { runKaged, signalKaged } from "../support/run_kaged.ts";
import { until } from "../support/until.ts";

const memory = { memory: { fixture: "answers_hooks" } };
const server = { server: { fixture: "mcp_tools" } };

test("D-008 kaged mcp lists an agent's tools under names every client takes, with their schemas", async (t) => {
  const { args, dir } = await mcpProject(t, memory, { tools: { "answers-hooks.ask": { enabled: false } } });
  const { client } = await connectClient(t, [...args, "--no-hooks"], dir);
  const { tools } = await client.listTools();
  assert.deepEqual(tools, [{
    name: "answers-hooks__look",
    description: "Tells what it was asked",
    inputSchema: {
      type: "object",
      properties: { query: { type: "string" }, tags: { type: "array", items: { type: "string" } } },
      required: ["query"],
      additionalProperties: false,
    },
  }]);
});

test("D-008 a call through kaged mcp reaches the plugin, and its result comes back as text and as data", async (t) => {
  const { args, dir } = await mcpProject(t, memory);
  const { client } = await connectClient(t, args, dir);
  const result = await client.callTool({ name: "answers-hooks__look", arguments: { query: "x" } });
  const data = result.structuredContent as { params: { query: string; _context: { agent_path: string } } };
  assert.deepEqual(JSON.parse(result.content[0]!.text as string), data);
  const { query, _context: { agent_path } } = data.params;
  assert.deepEqual([query, agent_path, result.isError], ["x", "primary", undefined]);
  const again = await client.callTool({ name: "answers-hooks.look", arguments: { query: "y" } });
  assert.ok(!again.isError, "the full name is taken too");
});

test("D-008 an error of a tool comes back as a result with its code, message and hint", async (t) => {
  const { args, dir } = await mcpProject(t, { ...memory, ...server });
  const { client } = await connectClient(t, args, dir);
  const wrong = await client.callTool({ name: "answers-hooks__look", arguments: { tags: [] } });
  assert.equal(wrong.isError, true);
  assert.match(wrong.content[0]!.text as string, /^error\[tool\.arguments_invalid\]: Cannot call .*\nhint: Follow/);
  const facts = wrong._meta!["kaged/error"] as { code: string; data: { tool: string } };
  assert.deepEqual([facts.code, facts.data.tool], ["tool.arguments_invalid", "answers-hooks.look"]);
  const failed = await client.callTool({ name: "mcp-tools__fail" });
  assert.deepEqual([failed.isError, failed.content[0]!.text], [true, "error[mcp.tool_failed]: The disk is full"]);
  await assert.rejects(client.callTool({ name: "answers-hooks__lok" }), (error: { code?: number; message: string }) => {
    assert.equal(error.code, -32602);
    assert.match(error.message, /has no tool "answers-hooks\.lok"/);
    return true;
  });
});

test("D-008 tools of a caged MCP server pass through kaged mcp with title, annotations and content", async (t) => {
  const { args, dir } = await mcpProject(t, server);
  const { client } = await connectClient(t, args, dir);
  const { tools: [say, count] } = await client.listTools() as { tools: Record<string, unknown>[] };
  assert.deepEqual([say!.name, say!.title, say!.annotations], ["mcp-tools__say_it", "Say it", { readOnlyHint: true }]);
  assert.deepEqual(count!.outputSchema, { type: "object", properties: { words: { type: "number" } } });
  assert.deepEqual(await client.callTool({ name: "mcp-tools__count_words", arguments: { text: "a b c" } }), {
    content: [{ type: "text", text: '{"words":3}' }],
    structuredContent: { words: 3 },
  });
});

test("D-008 progress and cancellation go through kaged mcp", async (t) => {
  const { args, dir } = await mcpProject(t, server);
  const { client, stderr } = await connectClient(t, args, dir);
  const controller = new AbortController();
  const { promise, resolve: onprogress } = Promise.withResolvers<unknown>();
  const call = client.callTool({ name: "mcp-tools__slow" }, undefined, { signal: controller.signal, onprogress });
  assert.deepEqual(await promise, { progress: 1, total: 2, message: "half way" });
  controller.abort("enough");
  await assert.rejects(call, /enough/);
  await until(
    () => stderr().includes("mcp-tools: [info] cancelled"),
    () => `the plugin's last words; there were ${stderr()}`,
  );
});

test("D-008 kaged mcp ends with code 0 when its input ends, and leaves no process", async (t) => {
  const { args } = await mcpProject(t, { ...memory, ...server });
  let tree: Promise<number[]> | null = null;
  const run = await runKaged(args, {
    input: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n',
    onStart: (child) => {
      child.stdout!.once("data", () => tree = processTree(child.pid!));
    },
  });
  assert.deepEqual([run.code, run.stderr], [0, ""]);
  assert.equal(JSON.parse(run.stdout).id, 1, "stdout holds the protocol and nothing else");
  if (tree) await allGone(await tree);
});

test("D-008 kaged mcp ends at a signal though its client holds the input open", async (t) => {
  const { args, dir } = await mcpProject(t, memory);
  const { pid, stderr } = await connectClient(t, args, dir);
  const tree = await processTree(pid);
  assert.ok(tree.length > 1);
  signalKaged({ pid } as Parameters<typeof signalKaged>[0], "SIGTERM");
  await allGone(tree);
  assert.match(stderr(), /error\[host\.interrupted\]/);
});

test("D-008 kaged mcp says what is wrong before it serves anything", async (t) => {
  const { args } = await mcpProject(t, memory);
  const unknown = await runKaged([...args, "--agent", "primry"]);
  assert.deepEqual([unknown.code, unknown.stdout], [1, ""]);
  assert.match(unknown.stderr, /^error\[agent\.unknown\].*\n {2}hint: Did you mean "primary"\?/);
  const missing = await runKaged(["mcp", "--project", "/nonexistent"]);
  assert.deepEqual([missing.code, missing.stdout], [1, ""]);
  assert.match(missing.stderr, /^error\[project\.missing\]/);
});

test("N-001 kaged mcp asks the hook files that the operator trusts, and warns of those that nobody does", async (t) => {
  const { dir, args } = await mcpProject(t, { memory: { fixture: "answers_hooks" } });
  const home = args[args.indexOf("--home") + 1]!;
  const answer = { action: "block", reason: "Not on a Monday" };
  const hooks = { preToolUse: [{ type: "command", bash: `echo '${JSON.stringify(answer)}'`, timeoutSec: 30 }] };
  await mkdir(`${dir}/.github/hooks`, { recursive: true });
  await writeFile(`${dir}/.github/hooks/guard.json`, JSON.stringify({ version: 1, hooks }));
  const call = { name: "answers-hooks__look", arguments: { query: "x" } };
  const before = await connectClient(t, args, dir);
  assert.equal((await before.client.callTool(call)).isError, undefined);
  assert.match(before.stderr(), /guard\.json is not trusted, and its hooks do not run: kaged hooks trust/);
  const runtime = await detectRuntime();
  await using opened = await openHookFiles({ runtime, dir, home, userHome: null });
  for (const { evidence } of opened.judged) await trustHookFile({ home, dir, evidence }, runtime);
  const { client } = await connectClient(t, args, dir);
  const { isError, content } = await client.callTool(call);
  const reason =
    'The call of "answers-hooks.look" was blocked by .github/hooks/guard.json:preToolUse[0]: Not on a Monday';
  assert.deepEqual([isError, content], [true, [
    { type: "text", text: `error[tool.blocked]: ${reason}\nhint: The tool was not called` },
  ]]);
});

test("B-018 kaged hooks fire says that a person would be asked", async (t) => {
  const { dir, args } = await mcpProject(t, { memory: { fixture: "answers_hooks" } });
  const home = args[args.indexOf("--home") + 1]!;
  const bash = `echo '{"permissionDecision":"ask","permissionDecisionReason":"It goes to everybody"}'`;
  await mkdir(`${dir}/.github/hooks`, { recursive: true });
  const hooks = { preToolUse: [{ type: "command", bash, timeoutSec: 20 }] };
  await writeFile(`${dir}/.github/hooks/guard.json`, JSON.stringify({ version: 1, hooks }));
  const runtime = await detectRuntime();
  await using opened = await openHookFiles({ runtime, dir, home, userHome: null });
  for (const { evidence } of opened.judged) await trustHookFile({ home, dir, evidence }, runtime);
  const fire = ["hooks", "fire", "PreToolUse", ...args.slice(1)];
  const by = ".github/hooks/guard.json:preToolUse[0]";
  assert.ok((await runKaged(fire)).stdout.includes(`a person would be asked, by ${by}: It goes to everybody\n`));
  const { asked, blocked } = JSON.parse((await runKaged([...fire, "--json"])).stdout);
  assert.deepEqual([asked, blocked.by], [[{ by, reason: "It goes to everybody" }], by]);
});

test("B-018 kaged mcp and kaged hooks fire block where a trusted gate would have been asked, though its file is gone", async (t) => {
  const { dir, args } = await mcpProject(t, { memory: { fixture: "answers_hooks" } });
  const home = args[args.indexOf("--home") + 1]!;
  const gate = { type: "command", bash: "true", onFailure: "block" };
  const hooks = { preToolUse: [gate], sessionStart: [gate] };
  await mkdir(`${dir}/.github/hooks`, { recursive: true });
  await writeFile(`${dir}/.github/hooks/guard.json`, JSON.stringify({ version: 1, hooks }));
  const runtime = await detectRuntime();
  await using opened = await openHookFiles({ runtime, dir, home, userHome: null });
  for (const { evidence } of opened.judged) await trustHookFile({ home, dir, evidence }, runtime);
  await rm(`${dir}/.github/hooks/guard.json`);
  const { client, stderr } = await connectClient(t, args, dir);
  const { isError, content } = await client.callTool({ name: "answers-hooks__look", arguments: { query: "x" } });
  assert.equal(isError, true);
  assert.match(content[0]!.text as string, /tool\.blocked.*guard\.json: it was trusted and is gone.*kaged hooks trust/);
  assert.match(stderr(), /warning: .*guard\.json: it was trusted and is gone, so its gates block/);
  const fired = await runKaged(["hooks", "fire", "on_session_start", ...args.slice(1)]);
  assert.match(fired.stdout, /blocked by \.github\/hooks\/guard\.json:sessionStart\[0\]: .*is gone/);
});

test("N-029 kaged mcp --http serves until SIGTERM, with a token of its own, and leaves nothing behind", async (t) => {
  const { args } = await mcpProject(t, memory);
  const home = args[args.indexOf("--home") + 1]!;
  const { url, facts, pid, ended } = await mcpOverHttp(t, args, {});
  assert.match(url, /^http:\/\/127\.0\.0\.1:[0-9]+\/mcp$/);
  const { token_file, project, agent, running, failed } = facts;
  assert.deepEqual([project, agent, running, failed], ["music", "primary", ["answers-hooks@music/primary"], []]);
  assert.equal(token_file, `${home}/mcp_token`);
  assert.equal((await stat(token_file)).mode & 0o777, 0o600);
  const token = (await readFile(token_file, "utf8")).trim();
  const headers = {
    "Content-Type": "application/json",
    Accept: "application/json, text/event-stream",
    Authorization: `Bearer ${token}`,
  };
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1.0.0" } };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params });
  assert.equal((await fetch(url, { method: "POST", body, headers: { ...headers, Authorization: "" } })).status, 401);
  const answer = await fetch(url, { method: "POST", body, headers });
  assert.match(await answer.text(), /"serverInfo":\{"name":"kaged"/);
  const session = { "Mcp-Session-Id": answer.headers.get("mcp-session-id")! };
  // A stream that is open holds nothing up.
  const stream = await fetch(url, { headers: { ...headers, ...session } });
  assert.equal(stream.status, 200);
  const tree = await processTree(pid);
  signalKaged({ pid } as Parameters<typeof signalKaged>[0], "SIGTERM");
  await allGone(tree);
  const { code, stderr } = await ended;
  assert.deepEqual([code, stderr], [0, ""]);
  await stream.body?.cancel().catch(() => {});
});

test("N-029 kaged mcp says which options do not go together, before it starts anything", async (t) => {
  const { args } = await mcpProject(t, memory);
  const token = { KAGED_MCP_TOKEN: "t".repeat(40) };
  const wrong: readonly (readonly [readonly string[], RegExp, Readonly<Record<string, string>>?])[] = [
    [["mcp"], /Required option '--project <dir>' not specified/],
    [[...args, "--port", "0"], /--port is about --http/],
    [[...args, "--json"], /--json is about --http/],
    [[...args, "--token-file", "x"], /--token-file is about --http/],
    [[...args, "--http", "--port", "70000"], /It takes a number from 0 to 65535/],
    [[...args, "--offer", "roots,rotos"], /"rotos" is none of elicitation, sampling, roots/],
    [[...args, "--names", "tiny"], /Allowed choices are long, short/],
    [[...args, "--http", "--port", "0", "--token-file", "x"], /There are two tokens/, token],
    [[...args, "--http", "--port", "0"], /KAGED_MCP_TOKEN is no token/, { KAGED_MCP_TOKEN: "short" }],
  ];
  for (const [given, message, env = {}] of wrong) {
    const { code, stdout, stderr } = await runKaged(given, { env });
    const shown = given.includes("--json") ? stdout : stderr;
    assert.equal(code, 2, `${given.join(" ")}: ${stderr}`);
    assert.match(shown, message);
    assert.match(shown, /host\.misuse/);
  }
});

test("N-029 kaged mcp --http says that its port is taken", async (t) => {
  const { args } = await mcpProject(t, memory);
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => new Promise<void>((resolve) => server.close(() => resolve())));
  const { port } = server.address() as AddressInfo;
  const { code, stderr } = await runKaged([...args, "--http", "--port", String(port)]);
  assert.equal(code, 1);
  assert.match(stderr, /error\[http\.port_taken\].*\n {2}hint: Use another --port/);
});
