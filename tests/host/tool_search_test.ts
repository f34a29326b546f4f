import assert from "node:assert/strict";
import { test } from "node:test";
import type { HostError } from "../../src/core/errors/host_error.ts";
import { agentHooks } from "../../src/hooks/agent/agent_hooks.ts";
import type { Session, ToolOutcome } from "../../src/host/types.ts";
import { notes } from "../support/gate_doors.ts";
import { hosted, type HostedOptions } from "../support/hosted.ts";
import { until } from "../support/until.ts";

const RESEARCHER = "primary.subagents.researcher";

interface Found {
  readonly tools: readonly { name: string; description: string; parameters?: object; parameters_bytes?: number }[];
  readonly more: number;
  readonly note?: string;
  readonly plugins?: unknown;
}

/** A plugin of its own name with these tools, each of which returns what it was called with. */
const withTools = (name: string, tools: Readonly<Record<string, string>>, properties: object = {}) => ({
  fixture: "answers_hooks",
  manifest: {
    name,
    hooks: [],
    tools: Object.entries(tools).map(([tool, description]) => ({
      name: tool,
      description,
      parameters_schema: { type: "object", properties },
    })),
  },
});

const DESK: HostedOptions = {
  primary: { mail: {}, files: {} },
  fixtures: {
    "@test/mail": withTools("mail", { send: "Sends a message to people", list: "Lists messages" }),
    "@test/files": withTools("files", { read: "Returns the text of a file", remove: "Removes a file" }),
  },
};

const search = async (session: Session, args: object, agent?: string): Promise<Found> =>
  (await session.callTool("search_tools", { ...args }, agent ? { agent } : {})).output as Found;
const names = ({ tools }: Found): string[] => tools.map(({ name }) => name);
const toolOf = ({ output }: ToolOutcome): unknown => (output as { tool: string }).tool;

test("N-036 a session lists two tools in place of many, of the same shape; either form names the agent", async () => {
  const desk = { package: "@test/mail" };
  await using h = await hosted({
    yaml: { primary: { plugins: { desk }, subagents: { researcher: {} } } },
    fixtures: DESK.fixtures!,
  });
  const session = h.host.openSession();
  const listed = session.tools({ search: true });
  assert.deepEqual(listed.map(({ name, alias, plugin }) => [name, alias, plugin]), [
    ["search_tools", "search_tools", "host"],
    ["call_tool", "call_tool", "host"],
  ]);
  for (const { parametersSchema, description } of listed) {
    assert.equal(parametersSchema["type"], "object");
    assert.ok(description.length > 20);
  }
  assert.deepEqual(session.tools({ search: true, results: true }).map(({ name }) => name).at(-1), "read_result");
  assert.deepEqual(session.tools(), h.host.tools("primary"));
  assert.deepEqual([session.tools({}), session.tools({ agent: "primary" })], [
    session.tools(),
    session.tools("primary"),
  ]);
  assert.deepEqual([session.tools({ agent: RESEARCHER }), session.tools(RESEARCHER)], [[], []]);
  assert.throws(() => session.tools({ agent: "secondary", search: true }), { code: "agent.unknown" });
  const keeping = h.host.openSession({ results: {} });
  assert.deepEqual(keeping.tools().map(({ name }) => name), ["mail.send", "mail.list", "read_result"]);
  assert.deepEqual(keeping.tools({ results: false }).map(({ name }) => name), ["mail.send", "mail.list"]);
});

test("N-036 a model finds a tool, reads its schema and calls it by its name", async () => {
  await using h = await hosted(DESK);
  const session = h.host.openSession();
  const found = await search(session, { query: "send a message" });
  assert.deepEqual(names(found), ["mail.send", "mail.list"]);
  assert.deepEqual(found.tools[0], {
    name: "mail.send",
    description: "Sends a message to people",
    parameters: { type: "object", properties: {} },
  });
  assert.equal(found.more, 0);
  const { output, context, warnings } = await session.callTool("call_tool", {
    name: "mail.send",
    arguments: { to: "a@example.org" },
  });
  const { tool, params: { _context, ...args } } = output as { tool: string; params: Record<string, unknown> };
  assert.deepEqual([tool, args, context, warnings], ["send", { to: "a@example.org" }, [], []]);
  assert.equal(toolOf(await session.callTool("call_tool", { name: "mail__list" })), "list");
});

test("N-036 a search is bounded, says how many more there are, and lists a plugin's tools without words", async () => {
  await using h = await hosted(DESK);
  const session = h.host.openSession();
  const one = await search(session, { query: "", limit: 1 });
  assert.deepEqual([names(one), one.more], [["files.read"], 3]);
  assert.match(one.note!, /^3 more match/);
  assert.deepEqual(names(await search(session, { query: "", plugin: "mail" })), ["mail.list", "mail.send"]);
  const none = await search(session, { query: "submarine" });
  assert.deepEqual([none.tools, none.plugins], [
    [],
    [{ name: "mail", tools: 2 }, { name: "files", tools: 2 }].reverse(),
  ]);
  await assert.rejects(search(session, { query: "x", plugin: "mial" }), {
    code: "tool.arguments_invalid",
    hint: 'Did you mean "mail"?',
  });
});

test("N-036 of many tools at most 20 come back, and no more bytes than fit: the others say that they had no room", async () => {
  const many = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`tool_${at}`, `Works on rows ${at}`]));
  const filter = { filter: { type: "string", description: "f".repeat(3_000) } };
  await using h = await hosted({
    primary: { rows: {} },
    fixtures: { "@test/rows": withTools("rows", many, filter) },
  });
  const session = h.host.openSession();
  await assert.rejects(search(session, { query: "rows", limit: 21 }), { code: "tool.arguments_invalid" });
  const found = await search(session, { query: "rows", limit: 20 });
  assert.ok(JSON.stringify(found.tools).length < 33 * 1024);
  assert.equal(found.tools.length + found.more, 60);
  assert.deepEqual([Boolean(found.tools[0]?.parameters), found.tools.at(-1)?.parameters], [true, undefined]);
  assert.ok(found.tools.at(-1)!.parameters_bytes! > 3_000);
  assert.match(found.note!, /parameters_bytes/);
  const [named] = (await search(session, { query: found.tools.at(-1)!.name, limit: 1 })).tools;
  assert.deepEqual([named?.name, Boolean(named?.parameters)], [found.tools.at(-1)!.name, true]);
  const small = h.host.openSession({ results: { maxBytes: 2_000 } });
  assert.ok(JSON.stringify((await search(small, { query: "rows", limit: 20 })).tools).length < 2_100);
});

test("N-036 call_tool walks the gate as the tool it names: rules, hooks, events and audit never hear of call_tool", async () => {
  await using h = await hosted({
    ...DESK,
    events: { level: "trace" },
    config: '[[tool_rules]]\ntool = "files.remove"\ndecision = "deny"\n',
  });
  const session = h.host.openSession();
  const heard: unknown[] = [];
  for (const hook of ["PreToolUse", "PostToolUse", "OnError"] as const) {
    h.host.hooks.register(hook, ({ tool, input }) => void heard.push([hook, tool?.name, input]));
  }
  const executed: string[] = [];
  h.host.on("tool:execute", ({ toolName }) => void executed.push(toolName));
  await session.callTool("call_tool", { name: "mail.send", arguments: { to: "x" } });
  await assert.rejects(session.callTool("call_tool", { name: "files.remove", arguments: {} }), {
    code: "tool.denied",
    message: /^The call of "files\.remove" was denied/,
  });
  await search(session, { query: "file" });
  assert.deepEqual(heard, [
    ["PreToolUse", "mail.send", { to: "x" }],
    ["PostToolUse", "mail.send", { to: "x" }],
  ]);
  await until(() => executed.length === 2, "two events");
  assert.deepEqual(executed, ["mail.send", "files.remove"]);
  assert.deepEqual(h.all("plugin.tool_denied").map(({ data: { tool } }) => tool), ["files.remove"]);
  const called = JSON.stringify(h.events);
  assert.doesNotMatch(called, /call_tool|search_tools/);
  assert.match(called, /mail\.send/);
});

test("N-036 call_tool checks the arguments by the schema of the tool, and hands on progress of hooks and their text", async () => {
  await using h = await hosted(notes());
  const session = h.host.openSession();
  await assert.rejects(session.callTool("call_tool", { name: "notes.look", arguments: { query: 7 } }), {
    code: "tool.arguments_invalid",
    message: /^Cannot call "notes\.look": query/,
  });
  h.host.hooks.register("PreToolUse", () => ({ action: "injectContext", additionalContext: ["hint"] }));
  const { context } = await session.callTool("call_tool", { name: "notes.look", arguments: { query: "x" } });
  assert.deepEqual(context, ["hint"]);
  h.host.hooks.register("PreToolUse", () => ({ action: "block", reason: "no" }));
  await assert.rejects(session.callTool("call_tool", { name: "notes.ask" }), { code: "tool.blocked" });
});

test("N-036 a name that nobody has is tool.unknown with a few that are near, and never the whole list", async () => {
  const many = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`tool_${at}`, "Works"]));
  await using h = await hosted({
    ...DESK,
    primary: { ...DESK.primary, rows: {} },
    fixtures: { ...DESK.fixtures, "@test/rows": withTools("rows", many) },
  });
  const session = h.host.openSession();
  const failure = (name: string): Promise<HostError> =>
    session.callTool("call_tool", { name }).then(() => assert.fail(name), (error) => error);
  const misspelt = await failure("mail.sned");
  assert.deepEqual([misspelt.code, misspelt.message, misspelt.hint], [
    "tool.unknown",
    'Agent "primary" has no tool "mail.sned"',
    'Did you mean "mail.send"? Find tools with search_tools',
  ]);
  const guessed = await failure("send_message_to_somebody");
  assert.equal(guessed.code, "tool.unknown");
  assert.deepEqual((guessed.data as { near: string[] }).near, ["mail.send", "mail.list"]);
  assert.match(guessed.hint!, /^Near it: mail\.send, mail\.list\. Find tools with search_tools$/);
  const odd = await failure("submarine");
  assert.match(odd.hint!, /^No tool has a name like it\. /);
  for (const error of [misspelt, guessed, odd]) assert.ok(JSON.stringify([error.data, error.hint]).length < 500);
  for (const own of ["call_tool", "search_tools", "read_result"]) {
    assert.equal((await failure(own)).code, "tool.unknown");
  }
});

test("N-036 arguments of the host's own tools are checked, and a closed session answers none of them", async () => {
  await using h = await hosted(DESK);
  const session = h.host.openSession();
  const invalid = { code: "tool.arguments_invalid" };
  await assert.rejects(session.callTool("search_tools", {}), invalid);
  await assert.rejects(session.callTool("search_tools", { query: "x", pattern: "y" }), invalid);
  await assert.rejects(session.callTool("call_tool", { name: "mail.send", arguments: "{}" }), invalid);
  await assert.rejects(session.callTool("read_result", { handle: "x", offset: -1 }), invalid);
  const at = { agent: "primary", session: session.id };
  await assert.rejects(h.host.callTool("search_tools", { query: "x" }, at), { code: "tool.unknown" });
  const aborted = { signal: AbortSignal.abort() };
  await assert.rejects(session.callTool("search_tools", { query: "x" }, aborted), { code: "protocol.cancelled" });
  await session.close();
  for (const name of ["search_tools", "call_tool", "read_result"]) {
    await assert.rejects(session.callTool(name, { query: "x" }), { code: "session.unknown" }, name);
  }
});

test("N-036 a subagent finds and calls its own tools, and no tool of a plugin that is disabled is found", async () => {
  const [mail, files] = [{ package: "@test/mail" }, { package: "@test/files" }];
  await using h = await hosted({
    yaml: { primary: { plugins: { mail }, subagents: { researcher: { plugins: { files } } } } },
    fixtures: DESK.fixtures!,
  });
  const session = h.host.openSession();
  assert.deepEqual(names(await search(session, { query: "" }, RESEARCHER)), ["files.read", "files.remove"]);
  assert.deepEqual(names(await search(session, { query: "" })), ["mail.list", "mail.send"]);
  const called = await session.callTool("call_tool", { name: "files.read" }, { agent: RESEARCHER });
  assert.equal(toolOf(called), "read");
  await assert.rejects(session.callTool("call_tool", { name: "files.read" }), { code: "tool.unknown" });
  await h.host.disable("mail");
  assert.deepEqual(names(await search(session, { query: "message" })), []);
});

test("N-036 a tool that an MCP server lists later is found from then on", async () => {
  await using h = await hosted({ primary: { server: {} }, fixtures: { "@test/server": "mcp_tools" } });
  const session = h.host.openSession();
  assert.deepEqual(names(await search(session, { query: "grown" })), []);
  await h.next("plugin.tools_listed");
  await session.callTool("call_tool", { name: "mcp-tools.grow" });
  await h.pass(5_000);
  await h.next("plugin.tools_listed");
  assert.deepEqual(names(await search(session, { query: "grown" })), ["mcp-tools.grown"]);
});

test("N-036 a loop's own hooks pass over the host's tools once they are listed, and hear its own tools of such a name before", async () => {
  await using h = await hosted(DESK);
  const session = h.host.openSession({ id: "ses_1" });
  const heard: unknown[] = [];
  h.host.hooks.register("PreToolUse", ({ tool }) => void heard.push(tool?.name));
  const hooks = agentHooks(h.host.hooks, { session: "ses_1" });
  await hooks.beforeTool("call_tool", {});
  assert.deepEqual(heard, ["call_tool"]);
  session.tools({ search: true });
  await hooks.beforeTool("call_tool", { name: "mail.send" });
  await session.callTool("call_tool", { name: "mail.send" });
  await hooks.beforeTool("read_result", {});
  assert.deepEqual(heard, ["call_tool", "mail.send", "read_result"]);
});

test("N-036 in a background job call_tool is the job's own call, and waits for a person as such", async () => {
  await using h = await hosted({ ...DESK, config: '[[tool_rules]]\ntool = "mail.*"\ndecision = "ask"\n' });
  h.host.agent("primary", async ({ session }) => {
    const { tools } = await search(session, { query: "message", limit: 1 });
    const listed = session.tools({ search: true }).length;
    const called = await session.callTool("call_tool", { name: tools[0]!.name });
    return JSON.stringify([listed, toolOf(called), session.usage().length]);
  });
  const { id } = await h.host.jobs.start({ agentName: "primary", input: "Hello" });
  const request = await until(async () => (await h.host.approvals.list()).items[0], "a request");
  assert.deepEqual([request!.tool, request!.jobId], ["mail.list", id]);
  await h.host.approvals.answer(request!.id, { decision: "allow", scope: "once" });
  const { status, result } = await h.host.jobs.finished(id);
  assert.deepEqual([status, result], ["completed", '[2,"list",3]']);
});

test("N-036 who answers for one call is asked about the tool that call_tool names, and hears when it is allowed", async () => {
  await using h = await hosted({ ...DESK, config: '[[tool_rules]]\ntool = "mail.*"\ndecision = "ask"\n' });
  const session = h.host.openSession();
  const heard: unknown[] = [];
  const called = await session.callTool("call_tool", { name: "mail.send", arguments: { to: "x" } }, {
    onAsk(request) {
      heard.push([request.tool, request.arguments]);
      return Promise.resolve({ decision: "allow", scope: "once" });
    },
    whenAllowed: () => Promise.resolve(void heard.push("allowed")),
  });
  assert.equal(toolOf(called), "send");
  assert.deepEqual(heard, [["mail.send", { to: "x" }], "allowed"]);
});

test("N-036 usage counts what definitions and results of each plugin cost, by the host's own count", async () => {
  const counted: string[] = [];
  await using h = await hosted({
    ...DESK,
    countTokens({ content }) {
      counted.push(content as string);
      return (content as string).length;
    },
  });
  const session = h.host.openSession({ usage: true });
  const before = session.usage();
  assert.deepEqual(before.map(({ plugin, tools }) => [plugin, tools]), [["mail", 2], ["files", 2], ["host", 3]]);
  const length = ({ plugin }: { plugin: string }): number =>
    session.tools().filter((tool) => tool.plugin === plugin).reduce(
      (sum, { name, description, parametersSchema: parameters }) =>
        sum + JSON.stringify({ name, description, parameters }).length,
      0,
    );
  assert.deepEqual(before.slice(0, 2).map(({ definitionTokens }) => definitionTokens), before.slice(0, 2).map(length));
  const definitions = counted.length;
  session.usage();
  assert.equal(counted.length, definitions, "each list is counted once");
  const { output } = await session.callTool("call_tool", { name: "mail.send" });
  await assert.rejects(session.callTool("mail.send", { _context: {} }));
  await search(session, { query: "file" });
  const [mail, files, host] = session.usage().map((row) => row.counted);
  assert.deepEqual(mail, { calls: 2, failed: 1, resultTokens: JSON.stringify(output).length });
  assert.deepEqual(files, { calls: 0, failed: 0, resultTokens: 0 });
  assert.deepEqual([host?.calls, host?.failed], [1, 0]);
  assert.ok(host!.resultTokens > 100);
  assert.deepEqual(h.host.openSession().usage()[0]?.counted, null);
  assert.throws(() => session.usage("secondary"), { code: "agent.unknown" });
});
