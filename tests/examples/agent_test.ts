import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import process from "node:process";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { compiledCode } from "../support/compiled_code.ts";
import { nextMove } from "../../examples/deno-agent/local_model.ts";
import { blocksFor } from "../docs/support/guides.ts";
import { requireOrSkip, runtimeName } from "../support/require_or_skip.ts";
import { runKaged } from "../support/run_kaged.ts";
import { scratchDir } from "../support/scratch_dir.ts";
import { until } from "../support/until.ts";

const path = (relative: string): string => fileURLToPath(new URL(`../../${relative}`, import.meta.url));
const AGENT = path("examples/deno-agent/agent.ts");

const bubblewrap = (t: TestContext): Promise<boolean> =>
  requireOrSkip(t, "bubblewrap", existsSync("/usr/bin/bwrap"), "install the package bubblewrap");

interface AgentOptions {
  readonly env?: Record<string, string>;
  readonly input?: string;
}

/** Runs the agent on the runtime of the test. */
async function runAgent(args: readonly string[], options: AgentOptions = {}): Promise<Awaited<ReturnType<typeof run>>> {
  const { versions, execPath } = process;
  const prefix = versions["deno"]
    ? ["run", "-A", "--quiet", "--no-lock", "--no-check", "--config", path("deno.json")]
    : versions["bun"]
    ? ["--config=/dev/null", "--no-env-file", "--no-install"]
    : ["--disable-warning=ExperimentalWarning"];
  return await run([execPath, ...prefix, AGENT, ...args], options);
}

/** Runs what a guide shows, from the root of the repository. */
const runShown = (script: string, { env = {}, input = "" }: AgentOptions = {}): ReturnType<typeof run> =>
  run(["/bin/bash", "-ec", script], {
    env: { PATH: `${path("node_modules/.bin")}:${process.env["PATH"]}`, ...env },
    input,
  });

async function run([file, ...args]: readonly string[], { env = {}, input = "" }: AgentOptions): Promise<
  { code: number | null; stdout: string; stderr: string }
> {
  const child = spawn(file!, args, {
    cwd: path(""),
    env: { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: "/nonexistent", ...compiledCode, ...env },
  });
  let [stdout, stderr] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => void (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => void (stderr += text));
  child.stdin.on("error", () => {}); // It may end without reading.
  child.stdin.end(input);
  const [code] = await once(child, "close") as [number | null];
  return { code, stdout, stderr };
}

/** The same variables under other names: a guide sets those it names itself. */
const mine = (env: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(env).map(([name, value]) => [`MY_${name}`, value]));

/** The conversation and nothing else: what the user and the agents say, and the tools they call. */
const spoken = (stdout: string): string[] =>
  stdout.split("\n").filter((line) => /^ {2}(you|primary|researcher|→)/.test(line)).map((line) =>
    line.trim().slice(0, 90)
  );

/** The blocks of its guide: how it is started, and how with a model of one's own. */
const [STARTS, WITH_A_MODEL] = await blocksFor("tests/examples/agent_test.ts", "examples/deno-agent/README.md");

test("K-067 the example agent shows cages, memory, a tool, a subagent, a compaction and the audit trail", async (t) => {
  if (!await bubblewrap(t)) return;
  const home = await scratchDir(t);
  const shown = STARTS!.split("\n").map((line) => line.replace(/ *#.*/, ""));
  const start = shown[["node", "deno", "bun"].indexOf(runtimeName)]!;
  const { code, stdout, stderr } = await runShown(`${start}${runtimeName === "node" ? " --" : ""} --home ${home}`);
  assert.deepEqual([code, stderr], [0, ""], stdout);
  assert.deepEqual(spoken(stdout), [
    "you: Let me tell you about Harbor. Our deploy target is Cloudflare Workers. Our database i",
    "primary: Understood.",
    "you: Ask the researcher: what does a safe rollout start with?",
    '→ delegate {"agent":"researcher","task":"what does a safe rollout start with?"}',
    "researcher: A safe rollout starts with one percent of the users and grows over a week.",
    "primary: The other agent says: A safe rollout starts with one percent of the users and gro",
    "you: Who is my reviewer?",
    "primary: My reviewer is Grace.",
    "you: What is our deploy target?",
    '→ memory-markdown.recall {"query":"What is our deploy target?"}',
    "primary: I looked it up: Our deploy target is Cloudflare Workers.",
    "you: Let's use feature flags in src/importer.ts.",
    "primary: Understood.",
    "you: Here is last night's log. 03:14:07 GET /import 200 in 12 ms, nothing out of the ordin",
    "primary: Understood.",
    "you: What do we use in the importer?",
    "primary: Let's use feature flags in src/importer.ts.",
  ]);
  for (
    const shown of [
      /memory-markdown@harbor\/primary 0\.1\.0 is running: 4 hooks, 4 tools/,
      /memory-markdown@harbor\/primary\.subagents\.researcher 0\.1\.0 is running: 2 hooks, 4 tools/,
      /smart-compactor@harbor\/primary 0\.1\.0 is running/,
      /<plugin:memory-markdown>\n.*- My reviewer is Grace\.\n\s+<\/plugin:memory-markdown>/s,
      /window compacted by compactor: \d+ messages, \d+ tokens → \d+ messages, \d+ tokens; Replaced \d+ messages by a digest/,
      /smart-compactor@harbor\/primary +started in cage \S+, process \d+/,
      /memory-markdown@harbor\/primary +memory-markdown\.recall called by primary/,
      /harbor +compacted by compactor to \d+ tokens/,
      /memory-markdown@harbor\/primary +stopped with exit code 0/,
    ]
  ) assert.match(stdout, shown);
  assert.deepEqual((await readdir(join(home, "files/memory/harbor"))).sort(), ["agent"]);
  const trail = (await readFile(join(home, "audit/harbor.jsonl"), "utf8")).trimEnd().split("\n");
  assert.ok(trail.map((line) => JSON.parse(line).type).includes("compaction.completed"));
});

test("without its memory the same agent, told the same, knows less", async (t) => {
  if (!await bubblewrap(t)) return;
  const project = await scratchDir(t);
  const compactor = 'compactor: { package: "@kaged/smart-compactor" }';
  await writeFile(join(project, "project.yaml"), `id: harbor\nprimary:\n  plugins:\n    ${compactor}\n`);
  const { code, stdout, stderr } = await runAgent(["--project", project]);
  assert.deepEqual([code, stderr], [0, ""], stdout);
  const lines = spoken(stdout);
  const answerTo = (question: string): string | undefined => lines[lines.indexOf(`you: ${question}`) + 1];
  assert.equal(answerTo("Who is my reviewer?"), "primary: I do not know: nothing I was told says so.");
  assert.equal(answerTo("What is our deploy target?"), "primary: I do not know: nothing I was told says so.");
  assert.doesNotMatch(stdout, /memory-markdown|researcher 0\.1\.0|<plugin:/);
});

test("what one run was told, another remembers: turns come as arguments or from stdin", async (t) => {
  if (!await bubblewrap(t)) return;
  const home = await scratchDir(t);
  await runAgent(["--home", home, "Our database is SQLite."]);
  const { code, stdout } = await runAgent(["--home", home, "--chat"], { input: "What is our database?\n" });
  assert.equal(code, 0);
  assert.deepEqual(spoken(stdout), ["you: What is our database?", "primary: Our database is SQLite."]);
});

test("the agent speaks to any chat endpoint: key, model, aliases of tools, and answers in pieces", async (t) => {
  if (!await bubblewrap(t)) return;
  const requests: { headers: Record<string, unknown>; body: Record<string, unknown> }[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += chunk;
    requests.push({ headers: { ...request.headers }, body: JSON.parse(body) });
    const calls = [
      { tool_calls: [{ index: 1, id: "c9", function: { name: "memory-markdown__list_tags", arguments: "" } }] },
      { tool_calls: [{ index: 1, function: { arguments: "{" } }] },
      { tool_calls: [{ index: 1, function: { arguments: "}" } }] },
    ];
    const deltas = requests.length === 1 ? calls : [{ content: "No t" }, { content: "ags yet ü." }];
    const text = deltas.map((delta) => `data: ${JSON.stringify({ choices: [{ delta }] })}\r\n\r\n`).join("") +
      ": a comment\n\ndata: [DONE]\n\n";
    const bytes = new TextEncoder().encode(text);
    response.writeHead(200, { "content-type": "text/event-stream" });
    // In pieces of any length, also within a character.
    for (let at = 0; at < bytes.length; at += 7) response.write(bytes.slice(at, at + 7));
    response.end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => new Promise((done) => void server.close(done)));
  const env = {
    OPENAI_BASE_URL: `http://127.0.0.1:${(server.address() as { port: number }).port}/v1/`,
    OPENAI_API_KEY: "test-key",
    OPENAI_MODEL: "test-model",
  };
  const { code, stdout, stderr } = runtimeName === "deno"
    ? await runShown(
      WITH_A_MODEL!.replace(/^export .*$/m, (names) => names.replaceAll(/(\w+)=\S+/g, '$1="$MY_$1"')),
      { env: { HOME: await scratchDir(t), ...mine(env) }, input: "Which tags are there?\n" },
    )
    : await runAgent(["Which tags are there?"], { env });
  assert.deepEqual([code, stderr], [0, ""], stdout);
  assert.deepEqual(spoken(stdout), [
    "you: Which tags are there?",
    "→ memory-markdown.list_tags {}",
    "primary: No tags yet ü.",
  ]);
  // deno-lint-ignore no-explicit-any
  const [first, second] = requests.map(({ body }) => body) as Record<string, any>[];
  assert.deepEqual([requests[0]!.headers["authorization"], first!["model"], first!["stream"]], [
    "Bearer test-key",
    "test-model",
    true,
  ]);
  assert.deepEqual(first!["tools"].map(({ function: { name } }: { function: { name: string } }) => name), [
    "memory-markdown__retain",
    "memory-markdown__recall",
    "memory-markdown__forget",
    "memory-markdown__list_tags",
    "delegate",
  ]);
  assert.deepEqual(second!["messages"].slice(-2), [
    {
      role: "assistant",
      content: "",
      tool_calls: [{ id: "c9", type: "function", function: { name: "memory-markdown__list_tags", arguments: "{}" } }],
    },
    { role: "tool", tool_call_id: "c9", content: '{"tags":[],"memories":0}' },
  ]);
});

test("an endpoint that refuses, or is not there, ends the agent with a word", async (t) => {
  if (!await bubblewrap(t)) return;
  const server = createServer((_request, response) => void response.writeHead(401).end("no such key"));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
  const refused = await runAgent(["Hello there."], { env: { OPENAI_BASE_URL: url } });
  assert.deepEqual([refused.code, refused.stderr], [1, `error: ${url} answered 401: no such key\n`]);
  server.closeAllConnections();
  await new Promise((done) => void server.close(done));
  const gone = await runAgent(["Hello there."], { env: { OPENAI_BASE_URL: url } });
  assert.equal(gone.code, 1);
  assert.ok(gone.stderr.startsWith(`error: Cannot reach ${url}: `), gone.stderr);
});

test("the local model answers from the request alone, asks a tool for the rest, and admits what it does not know", () => {
  const ask = (content: string, told: string, tools: string[] = []): unknown =>
    nextMove({
      messages: [{ role: "system", content: told }, { role: "user", content }],
      tools: tools.map((name) => ({ function: { name } })),
    });
  assert.deepEqual(ask("Where do we deploy?", "Be brief.\n- We deploy to Berlin."), { say: "We deploy to Berlin." });
  assert.deepEqual(ask("Where do we deploy?", "Be brief."), { say: "I do not know: nothing I was told says so." });
  assert.deepEqual(ask("Where do we deploy?", "Be brief.", ["m__recall"]), {
    call: "m__recall",
    args: { query: "Where do we deploy?" },
  });
});

test("N-026 with --ask a person is asked before a task is delegated, and can answer with the command", async (t) => {
  if (!await bubblewrap(t)) return;
  const home = await scratchDir(t);
  const question = "Ask the researcher: what does a safe rollout start with?";
  for (const decision of ["allow", "deny"]) {
    const running = runAgent(["--ask", "--home", home, question]);
    const kaged = (...args: string[]) => runKaged(["approvals", ...args, "--home", home]);
    const request = await until(async () => {
      const { approvals } = JSON.parse((await kaged("list", "--json")).stdout);
      return approvals[0];
    }, "a request");
    assert.deepEqual([request.tool, request.source], ["delegate", { kind: "hook", id: "delegation" }]);
    assert.equal((await kaged(decision, request.id, "--reason", "by hand")).code, 0);
    const { code, stdout } = await running;
    assert.equal(code, 0);
    assert.match(stdout, /The console is at http:\/\/127\.0\.0\.1:\d+/);
    assert.match(stdout, decision === "allow" ? /researcher: A safe rollout starts/ : /← command said no: by hand/);
  }
});
