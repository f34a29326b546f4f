import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import {
  type CanUseTool,
  type Options,
  query,
  type SDKMessage,
  type SDKUserMessage,
} from "@anthropic-ai/claude-agent-sdk";
import { claudeOptions, type KagedProgress } from "../../../src/frameworks/claude_agent.ts";
import { until } from "../../../tests/support/until.ts";
import { frameworkHost, heardSteps } from "../../../tests/support/frameworks.ts";
import { hosted } from "../../../tests/support/hosted.ts";
import { type ApiRequest, type Block, type MessagesApi, messagesApi, scripted } from "./messages_api.ts";

/** An API, and options for a program that knows nothing of this machine's user and reaches nothing but that API. */
interface Claude extends MessagesApi {
  readonly options: Options;
}

async function claude(answer: (request: ApiRequest) => readonly Block[]): Promise<Claude> {
  const api = await messagesApi(answer);
  const home = await mkdtemp(join(tmpdir(), "kaged-claude-"));
  const env = {
    PATH: process.env["PATH"],
    HOME: home,
    CLAUDE_CONFIG_DIR: home,
    ANTHROPIC_BASE_URL: api.url,
    ANTHROPIC_API_KEY: "none",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_TELEMETRY: "1",
    DISABLE_AUTOUPDATER: "1",
  };
  const exits: Promise<unknown>[] = [];
  const options: Options = {
    cwd: home,
    env,
    settingSources: [],
    permissionMode: "default",
    tools: [],
    model: "scripted",
    spawnClaudeCodeProcess: ({ command, args, cwd, env, signal }) => {
      const program = spawn(command, args, { cwd, env, signal, stdio: ["pipe", "pipe", "ignore"] });
      program.on("error", () => {}); // The signal has ended it.
      exits.push(once(program, "close"));
      return program;
    },
  };
  return {
    ...api,
    options,
    async [Symbol.asyncDispose]() {
      await Promise.all(exits);
      await api[Symbol.asyncDispose]();
      await rm(home, { recursive: true, force: true });
    },
  };
}

function calls(tool: string, input: object = {}, id = `toolu_${tool}`): Block {
  return {
    type: "tool_use",
    id,
    name: tool.includes("__") || /^[A-Z]/.test(tool) ? tool : `mcp__kaged__${tool}`,
    input,
  };
}

function says(text: string): Block {
  return { type: "text", text };
}

async function messagesOf(prompt: string, options: Options): Promise<SDKMessage[]> {
  const messages: SDKMessage[] = [];
  for await (const message of query({ prompt, options })) messages.push(message);
  return messages;
}

/** The text of the result message. */
async function resultOf(prompt: string, options: Options): Promise<string> {
  const last = (await messagesOf(prompt, options)).findLast(({ type }) => type === "result");
  return last?.type === "result" && last.subtype === "success" ? last.result : JSON.stringify(last);
}

/** What the model was told of a call, and whether as an error. */
function told(api: MessagesApi, id: string): string {
  const { content, is_error = false } = api.result(id)!;
  const words = typeof content === "string"
    ? content
    : (content as { text?: string }[]).map(({ text }) => text).join("\n");
  return `${is_error ? "error: " : ""}${words.replace(/\s*<system-reminder>[\s\S]*/, "")}`;
}

test("N-034 Claude Agent SDK: its program calls tools through the gate, and their hooks fire once", async () => {
  await using h = await frameworkHost();
  const fired: string[] = [];
  for (const hook of ["PreToolUse", "PostToolUse"] as const) {
    h.host.hooks.register(hook, ({ tool }) => void fired.push(`${hook} ${tool!.name}`));
  }
  await using api = await claude(scripted([calls("add", { a: 1, b: 2 })], [says("3")]));
  assert.equal(await resultOf("1 + 2?", claudeOptions(h.session, api.options)), "3");
  assert.equal(told(api, "toolu_add"), '{"sum":3}');
  assert.deepEqual(fired, ["PreToolUse toolbox.add", "PostToolUse toolbox.add"]);
  const names = api.requests[0]!.tools!.map(({ name }) => name);
  assert.ok(names.includes("mcp__kaged__add") && names.every((name) => /^[a-zA-Z0-9_-]{1,64}$/.test(name)), `${names}`);
});

test("N-034 Claude Agent SDK: a picture is a picture; a failed, blocked or denied call is an error to read", async () => {
  await using h = await frameworkHost();
  h.host.hooks.register("PreToolUse", ({ tool }) => {
    return tool!.name === "toolbox.steps" ? { action: "block", reason: "not today" } : undefined;
  });
  const answer = [calls("picture"), calls("fail"), calls("steps"), calls("secret"), calls("add", { a: "x" })];
  await using api = await claude(scripted(answer, [says("sorry")]));
  assert.equal(await resultOf("Go", claudeOptions(h.session, api.options)), "sorry");
  const [text, image] = api.result("toolu_picture")!.content as { type: string; source?: { media_type: string } }[];
  assert.deepEqual([text!.type, image!.type, image!.source!.media_type], ["text", "image", "image/png"]);
  assert.equal(told(api, "toolu_fail"), "error: error[plugin.error]: The disk is full");
  assert.match(told(api, "toolu_steps"), /^error: error\[tool\.blocked\].*not today/);
  assert.match(told(api, "toolu_secret"), /^error: error\[tool\.denied\]/);
  assert.match(told(api, "toolu_add"), /^error: .*(tool\.arguments_invalid|InputValidation)/);
});

test("N-034 Claude Agent SDK: canUseTool answers calls that are asked about, and no others", async () => {
  await using h = await frameworkHost();
  const fired: string[] = [];
  h.host.hooks.register("PreToolUse", ({ tool }) => void fired.push(tool!.name));
  const asked: unknown[] = [];
  const canUseTool: CanUseTool = (tool, input, { toolUseID, mcpServer }) => {
    asked.push([tool, input["path"], toolUseID, mcpServer?.source]);
    if (input["path"] === "a") return Promise.resolve({ behavior: "allow", updatedInput: input });
    if (input["path"] === "b") return Promise.resolve({ behavior: "allow", updatedInput: { path: "c" } });
    return Promise.resolve({ behavior: "deny", message: "Not that one" });
  };
  await using api = await claude(scripted(
    [calls("erase", { path: "a" }, "toolu_a")],
    [calls("erase", { path: "b" }, "toolu_b")],
    [calls("erase", { path: "d" }, "toolu_d")],
    [calls("add", { a: 1, b: 2 })],
  ));
  await resultOf("Erase", claudeOptions(h.session, { ...api.options, canUseTool }));
  assert.deepEqual(asked, ["a", "b", "d"].map((path) => ["mcp__kaged__erase", path, `toolu_${path}`, "sdk"]));
  assert.deepEqual([told(api, "toolu_a"), told(api, "toolu_b")], ["erased a", "erased c"]);
  assert.match(told(api, "toolu_d"), /^error: error\[tool\.denied\].*Not that one/);
  assert.deepEqual(fired, ["toolbox.erase", "toolbox.erase", "toolbox.erase", "toolbox.add"]);
});

test("N-034 Claude Agent SDK: without a canUseTool the host's desk answers", async () => {
  await using h = await frameworkHost({
    onAsk: ({ arguments: { path } }) => ({ decision: path === "a" ? "allow" : "deny" }),
  });
  const answer = [calls("erase", { path: "a" }, "toolu_a"), calls("erase", { path: "b" }, "toolu_b")];
  await using api = await claude(scripted(answer));
  await resultOf("Erase", claudeOptions(h.session, api.options));
  assert.equal(told(api, "toolu_a"), "erased a");
  assert.match(told(api, "toolu_b"), /^error: error\[tool\.denied\]/);
});

test("N-034 Claude Agent SDK: progress names its tool and call, and an aborted query ends the call", async () => {
  await using h = await frameworkHost();
  const ended = Promise.withResolvers<boolean>();
  h.host.hooks.register("PostToolUse", ({ tool }) => ended.resolve(tool!.success!));
  const abortController = new AbortController();
  const reports: KagedProgress[] = [];
  await using api = await claude(scripted([calls("wait")]));
  const options = claudeOptions(h.session, { ...api.options, abortController }, {
    onProgress: (report) => {
      reports.push(report);
      abortController.abort();
    },
  });
  await assert.rejects(messagesOf("Wait", options));
  assert.equal(await ended.promise, false);
  assert.deepEqual(reports.map(({ tool, toolUseID }) => [tool, toolUseID]), [["mcp__kaged__wait", "toolu_wait"]]);
  assert.equal((reports[0]!.progress as { message: string }).message, "halfway");
});

test("N-034 Claude Agent SDK: a subagent calls as its own agent, and no agent has another's tools", async () => {
  await using h = await frameworkHost();
  const callers: unknown[] = [];
  h.host.hooks.register("PreToolUse", ({ agent }) => void callers.push(agent));
  const main = scripted(
    [calls("mcp__kaged-researcher__add", { a: 1, b: 1 }, "toolu_foreign")],
    [calls("Agent", { description: "Adds", prompt: "Add", subagent_type: "researcher", run_in_background: false })],
    [calls("add", { a: 3, b: 4 }, "toolu_main")],
  );
  const sub = scripted([calls("mcp__kaged-researcher__add", { a: 1, b: 2 }, "toolu_sub")], [says("3")]);
  const isSub = ({ system }: ApiRequest): boolean => JSON.stringify(system).includes("You research");
  await using api = await claude((request) => isSub(request) ? sub() : main());
  const agents = { researcher: { description: "Researches", prompt: "You research" } };
  const own: Options = { ...api.options, tools: ["Agent"], agents };
  const path = "primary.subagents.helper";
  await resultOf("Go", claudeOptions(h.session, own, { agents: { researcher: path } }));
  assert.match(told(api, "toolu_foreign"), /^error: .*belongs to another agent/);
  assert.equal(told(api, "toolu_sub"), '{"sum":3}');
  assert.deepEqual(callers, [path, "primary"]);
  const names = api.requests.find(isSub)!.tools!.map(({ name }) => name);
  assert.ok(names.length > 0 && names.every((name) => !name.startsWith("mcp__kaged__")), `${names}`);
});

test("N-034 Claude Agent SDK: the session starts with the query, and its text is before the model", async () => {
  await using h = await hosted({ primary: { remembers: {} }, fixtures: { "@test/remembers": "remembers" } });
  const session = h.host.openSession();
  await session.callTool("remembers.retain", { text: "The user is called Ada" });
  await using api = await claude(scripted([says("Hello Ada")]));
  await resultOf("Hello", claudeOptions(session, api.options));
  assert.match(JSON.stringify(api.requests[0]), /The user is called Ada/);
  await session.idle();
  const { output } = await session.callTool("remembers.recall", {});
  assert.deepEqual(output, { text: "The user is called Ada\nHello\nHello Ada" });
});

test("N-034 Claude Agent SDK: a start that a hook blocked keeps the prompt from the model", async () => {
  await using h = await frameworkHost();
  h.host.hooks.register("SessionStart", () => ({ action: "block", reason: "closed today" }));
  await using api = await claude(scripted());
  const said = JSON.stringify(await messagesOf("Hello", claudeOptions(h.session, api.options)));
  assert.equal(api.requests.length, 0);
  assert.match(said, /closed today/);
});

test("N-034 Claude Agent SDK: own servers, rules and hooks stay beside those of the session", async () => {
  await using h = await frameworkHost();
  const own: Options = {
    allowedTools: ["Read"],
    hooks: { Stop: [{ hooks: [() => Promise.resolve({})] }] },
    mcpServers: { other: { type: "stdio", command: "true" } },
  };
  const options: Options = claudeOptions(h.session, own, { server: "plugins" });
  const inline: Options = claudeOptions(h.session, {
    permissionMode: "plan",
    tools: ["Read"],
    canUseTool: (_tool, input) => Promise.resolve({ behavior: "allow", updatedInput: input }),
    agents: { one: { description: "One", prompt: "You are one", model: "haiku" } },
    hooks: { PreToolUse: [{ matcher: "Read", hooks: [(input) => Promise.resolve({ continue: input.cwd !== "" })] }] },
  });
  assert.deepEqual([inline.permissionMode, Object.keys(inline.mcpServers!)], ["plan", ["kaged"]]);
  assert.deepEqual(options.allowedTools, ["Read", "mcp__plugins__*"]);
  assert.deepEqual(Object.keys(options.mcpServers!), ["other", "plugins"]);
  assert.equal(options.hooks!.Stop!.length, 2);
});

test("N-034 Claude Agent SDK: a server's name that is taken, and a path of no agent, are refused", async () => {
  await using h = await frameworkHost();
  const own: Options = { mcpServers: { kaged: { type: "stdio", command: "true" } } };
  assert.throws(() => claudeOptions(h.session, own), { code: "host.misuse", message: /"kaged" already/ });
  assert.throws(() => claudeOptions(h.session, {}, { agents: { one: "primary.subagents.nobody" } }), {
    code: "agent.unknown",
  });
});

test("N-035 Claude Agent SDK: the program compacts by itself, and the session's text is before the model again", async () => {
  await using h = await frameworkHost();
  let starts = 0;
  h.host.hooks.register("SessionStart", () => {
    starts++;
    return { action: "injectContext", additionalContext: ["The user is called Ada"] };
  });
  await using api = await claude((request) => {
    return [says(JSON.stringify(request.messages.at(-1)).includes("summary") ? "All was said" : "Hello")];
  });
  let next = Promise.withResolvers<void>();
  async function* prompts(): AsyncIterable<SDKUserMessage> {
    for (const content of ["Hello", "How are you?", "/compact", "And now?"]) {
      yield { type: "user", message: { role: "user", content }, parent_tool_use_id: null };
      await next.promise;
      next = Promise.withResolvers();
    }
  }
  for await (const message of query({ prompt: prompts(), options: claudeOptions(h.session, api.options) })) {
    if (message.type === "result") next.resolve();
  }
  const named = api.requests.map((request) => JSON.stringify(request).split("The user is called Ada").length - 1);
  assert.ok(starts === 1 && named.length >= 4 && named.every((times) => times === 1), `${starts}: ${named}`);
  assert.match(JSON.stringify(api.requests.at(-1)), /All was said/);
});

test("T-005 T-001b Claude Agent SDK: the work of a subagent is delegate:start and delegate:end", async () => {
  await using h = await frameworkHost({ events: { level: "trace" } });
  const heard = heardSteps(h.host);
  const isSub = ({ system }: ApiRequest): boolean => JSON.stringify(system).includes("You research");
  const main = scripted(
    [calls("Agent", { description: "Adds", prompt: "Add", subagent_type: "researcher", run_in_background: false })],
  );
  await using api = await claude((request) => isSub(request) ? [says("3")] : main());
  const agents = { researcher: { description: "Researches", prompt: "You research" } };
  const path = "primary.subagents.helper";
  await resultOf(
    "Go",
    claudeOptions(h.session, { ...api.options, tools: ["Agent"], agents }, {
      agents: { researcher: path },
    }),
  );
  await until(() => heard.length === 2, "the start and the end");
  const handed = { parentAgent: "primary", childAgent: path, conversationId: h.session.id };
  assert.deepEqual(heard, [
    { event: "delegate:start", ...handed, input: "Add" },
    { event: "delegate:end", ...handed, output: "3" },
  ]);
});
