import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage } from "node:http";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { createHookEngine } from "../../../../src/hooks/engine/engine.ts";
import { openHookFiles, type OpenHookFilesOptions } from "../../../../src/hooks/open_hook_files.ts";
import { filledPrompt } from "../../../../src/hooks/sources/action/fill_in.ts";
import { eventPoster, requestProblem } from "../../../../src/hooks/sources/action/post_event.ts";
import { canCage, hookEvent, type HookRepo, hookRepo } from "../../../support/hook_repo.ts";
import { runtimeName } from "../../../support/require_or_skip.ts";

/** A web server that answers each request with the next of these, and keeps what it was sent. */
async function webServer(t: TestContext, answers: readonly { status?: number; text: string }[]) {
  const seen: { headers: IncomingMessage["headers"]; body: Record<string, unknown>; method: string | undefined }[] = [];
  const server = createServer(async (request, response) => {
    const parts: Uint8Array[] = [];
    for await (const part of request) parts.push(part);
    seen.push({ headers: request.headers, body: JSON.parse(Buffer.concat(parts).toString()), method: request.method });
    const { status = 200, text } = answers[seen.length - 1] ?? { text: "" };
    response.writeHead(status).end(text);
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as { port: number };
  return { seen, url: `http://127.0.0.1:${port}/hook`, host: `127.0.0.1:${port}` };
}

const claude = (hooks: object): string => JSON.stringify({ hooks });
const group = (hook: object) => [{ hooks: [hook] }];

/** An engine with the trusted hooks of a repository. */
async function engineOf(t: TestContext, repo: HookRepo, own: Partial<OpenHookFilesOptions> = {}) {
  const { runtime, dir, home, userHome } = repo;
  const opened = await openHookFiles({ runtime, dir, home, userHome, ...own });
  t.after(() => opened.close());
  const engine = createHookEngine({ clock: runtime.clock });
  engine.add(opened.registrations);
  return { engine, opened };
}

test("N-038 an http hook posts the event to a host that the operator names, and its JSON decides", async (t) => {
  const deny = {
    hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision: "deny", permissionDecisionReason: "no" },
  };
  const server = await webServer(t, [
    { text: JSON.stringify(deny) },
    { text: "" },
    { text: "fine" },
    { status: 403, text: JSON.stringify(deny) },
  ]);
  const hook = {
    type: "http",
    url: server.url,
    headers: { "X-Key": "key ${HOOK_KEY}$OTHER" },
    allowedEnvVars: ["HOOK_KEY"],
  };
  const repo = await hookRepo(t, { ".claude/settings.json": claude({ PreToolUse: group(hook) }) });
  const before = await engineOf(t, repo);
  assert.match(
    before.opened.found.leftOut[0]?.reason ?? "",
    /^It is of type "http": network of \[hooks\].*does not name "127/,
  );
  await writeFile(`${repo.home}/config.toml`, `[hooks]\nnetwork = ["${server.host}"]\nenv = ["HOOK_KEY", "OTHER"]\n`);
  await repo.trust();
  const env = (name: string): string | null => ({ HOOK_KEY: "k1", OTHER: "secret" })[name] ?? repo.runtime.env(name);
  const { engine } = await engineOf(t, repo, { runtime: { ...repo.runtime, env } });
  const fire = async () => {
    const { blocked, reason, warnings } = await engine.fire(hookEvent());
    return [blocked, reason, warnings.length];
  };
  assert.deepEqual(await fire(), [true, "no", 0]);
  const [{ headers, body, method }] = server.seen as [typeof server.seen[number]];
  assert.deepEqual([method, headers["content-type"], headers["x-key"]], ["POST", "application/json", "key k1"]);
  assert.deepEqual([body["hook_event_name"], body["tool_input"]], ["PreToolUse", { command: "ls" }]);
  assert.deepEqual(await fire(), [false, null, 0], "an empty answer");
  assert.deepEqual(await fire(), [false, null, 1], "an answer that is no JSON");
  assert.deepEqual(await fire(), [false, null, 1], "a status blocks nothing");
});

test("N-038 an http hook reaches no host that is not named, and never one of http elsewhere", () => {
  const problem = (url: string, network: string[]) => requestProblem({ url }, network);
  assert.equal(problem("https://api.example.com/x", ["api.example.com:443"]), null);
  assert.match(
    problem("https://api.example.com/x", ["api.example.com:8443"]) ?? "",
    /does not name "api\.example\.com:443"/,
  );
  assert.match(problem("https://evil.example.com/", ["api.example.com:443"]) ?? "", /does not name/);
  assert.match(problem("http://api.example.com/", ["api.example.com:80"]) ?? "", /neither https nor/);
  assert.match(problem("https://u:p@api.example.com/", ["api.example.com:443"]) ?? "", /neither https nor/);
});

test("N-038 the sender of events itself refuses a host that is not named", async (t) => {
  const { runtime } = await hookRepo(t);
  const post = eventPoster(runtime, { network: [], handed: {} });
  const request = { type: "http", url: "http://127.0.0.1:9/", headers: {}, allowedEnvVars: [] } as const;
  await assert.rejects(post(request, "{}", new AbortController().signal), {
    code: "hook.command_failed",
    message: /not name/,
  });
});

const SERVER: string = await readFile(
  fileURLToPath(new URL("../../../fixtures/mcp/hook_server.mjs", import.meta.url)),
  "utf8",
);
const script = "${workspaceFolder}/tools/server.mjs";
const guard = {
  command: runtimeName,
  args: runtimeName === "deno" ? ["run", "-A", "--quiet", script] : [script],
  env: { WHO: "the guard" },
};

test("N-038 an mcp_tool hook calls a tool of a server of a trusted mcp.json, with fields of the event", async (t) => {
  if (!await canCage(t)) return;
  const hook = (tool: string, input: object) => ({ type: "mcp_tool", server: "guard", tool, input, timeout: 20 });
  const repo = await hookRepo(t, {
    ".claude/settings.json": claude({
      UserPromptSubmit: group(hook("remember", { hook: "${hook_event_name}", sessionId: "the ${prompt}" })),
      PreToolUse: group(hook("remember", { hook: "${no.such.field}" })),
    }),
    ".mcp.json": JSON.stringify({ mcpServers: { guard } }),
    "tools/server.mjs": SERVER,
  });
  const { opened } = await engineOf(t, repo);
  assert.deepEqual(opened.judged.map(({ file }) => file.name), [".claude/settings.json", ".mcp.json"]);
  await repo.trust();
  const { engine } = await engineOf(t, repo);
  const prompt = { hook: "UserPromptSubmitted" as const, input: "be quick" };
  const { context, warnings } = await engine.fire(hookEvent(prompt));
  assert.deepEqual([context, warnings], [["Remembered for UserPromptSubmit of the be quick by the guard"], []]);
  const missing = await engine.fire(hookEvent());
  assert.match(missing.warnings[0] ?? "", /the event has no field "no\.such\.field"/);
  await repo.write("tools/server.mjs", `${SERVER}\n`);
  const changed = await engineOf(t, repo);
  const refused = await changed.engine.fire(hookEvent(prompt));
  assert.match(refused.warnings[0] ?? "", /No trusted mcp\.json of this repository names the server "guard"/);
});

test("N-038 prompt and agent hooks ask the embedder's function, and are left out where there is none", async (t) => {
  const question = { type: "prompt", prompt: "Is $ARGUMENTS safe? It costs \\$5", model: "small" };
  const repo = await hookRepo(t, {
    ".claude/settings.json": claude({
      PreToolUse: group(question),
      PostToolUse: [{ hooks: [{ ...question, continueOnBlock: true }] }],
      Stop: group({ type: "agent", prompt: "Done?" }),
      SessionStart: group(question),
    }),
  });
  await repo.trust();
  const without = await engineOf(t, repo);
  assert.deepEqual(without.opened.registrations, []);
  assert.deepEqual(without.opened.found.leftOut.map(({ reason }) => reason.split(":")[0]), [
    'Hooks of type "prompt" do not run at this moment',
    'It is of type "prompt"',
    'It is of type "prompt"',
    'It is of type "agent"',
  ]);
  const asked: unknown[] = [];
  let verdict: { ok: boolean; reason?: string; impossible?: boolean } = { ok: true };
  const { engine } = await engineOf(t, repo, {
    onPrompt({ type, prompt, model, event }) {
      asked.push([
        type,
        prompt.startsWith('Is {"hook":"PreToolUse"') && prompt.endsWith("safe? It costs $5"),
        model,
        event["tool_name"],
      ]);
      return Promise.resolve(verdict);
    },
  });
  const fire = async (own: Parameters<typeof hookEvent>[0]) => {
    const { blocked, reason, context } = await engine.fire(hookEvent(own), { turnEnd: own?.hook === "SessionEnd" });
    return [blocked, reason, context];
  };
  assert.deepEqual(await fire({}), [false, null, []]);
  assert.deepEqual(asked, [["prompt", true, "small", "Bash"]]);
  verdict = { ok: false, reason: "not safe" };
  assert.deepEqual(await fire({}), [true, "not safe", []]);
  assert.deepEqual(await fire({ hook: "PostToolUse", output: "x" }), [false, null, ["not safe"]]);
  assert.deepEqual(await fire({ hook: "SessionEnd" }), [true, "not safe", []]);
  verdict = { ok: false, reason: "not safe", impossible: true };
  assert.deepEqual(await fire({ hook: "SessionEnd" }), [false, null, []]);
  verdict = {} as typeof verdict;
  const broken = await engine.fire(hookEvent());
  assert.match(broken.warnings[0] ?? "", /the model's answer has no ok/);
});

test("filledPrompt() puts the event behind a question that does not say where", () => {
  assert.equal(filledPrompt("Safe?", '{"a":1}\n'), 'Safe?\n\n{"a":1}');
});
