/**
 * An agent that embeds the plugin host: a loop around any OpenAI-compatible chat endpoint, with streaming, tools, a
 * subagent and a window that is compacted. The same file runs on Deno, Node and Bun.
 *
 *   agent.ts                        a short story in two sessions
 *   agent.ts "Where do we deploy?"  each argument is a turn of one session
 *   agent.ts --chat                 each line of stdin is a turn
 *
 *   --project <dir>   folder of project.yaml (default: the one beside this file)
 *   --home <dir>      operator's folder, where the memory is (default: one that is removed at the end)
 *   --ask             a person says yes before a task is delegated: here when this is a terminal, in the console, or with
 *                     `kaged approvals --home <dir>`
 *
 * OPENAI_BASE_URL, OPENAI_API_KEY and OPENAI_MODEL choose the model. Without a URL or key a small one is served on
 * loopback: it speaks the same wire and knows only the request.
 *
 * @module
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { createInterface as createTerminal } from "node:readline/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
// From outside this repository: "@kaged/plugin-host".
import {
  type AuditEvent,
  countTokens,
  createHost,
  detectRuntime,
  type Host,
  type Message,
  toolFromAlias,
} from "../../mod.ts";
import { type AgentHooks, agentHooks } from "../../src/hooks/mod.ts";
import { type OnAsk, serveHost } from "../../src/http/mod.ts";
import { type ChatTool, type Endpoint, type Reply, streamReply, type ToolCall } from "./chat_client.ts";
import { startLocalModel } from "./local_model.ts";
import { timeline } from "./timeline.ts";

/** How the agent runs. */
export interface AgentOptions {
  /** Folder of project.yaml. */
  readonly project: string;
  /** The operator's folder. */
  readonly home: string;
  /** The model. */
  readonly endpoint: Endpoint;
  /** Turns of the user, session by session. */
  readonly sessions: Iterable<Iterable<string> | AsyncIterable<string>>;
  /** Tokens at which the window is compacted. */
  readonly windowTokens: number;
  /** Takes what is to be shown, piece by piece. */
  readonly write: (text: string) => void;
  /** Whether a person is asked before a task is delegated. */
  readonly ask: boolean;
}

const PROMPTS: Readonly<Record<string, string>> = {
  primary: "You are Harbor's assistant. Answer in one or two sentences. Use recall when you do not know something.",
  researcher: "You are a researcher. A safe rollout starts with one percent of the users and grows over a week.",
};
const MAX_STEPS = 8;

const pluginDir = (name: string): string => fileURLToPath(new URL(`../../plugins/${name}`, import.meta.url));

/** Runs every session, then shows the audit trail. */
export async function runAgent(options: AgentOptions): Promise<void> {
  const { project, home, sessions, write } = options;
  const trail: AuditEvent[] = [];
  await using host = await createHost({
    project,
    home,
    operatorId: "operator",
    // Folders this program vouches for; an installed plugin needs no such line. They are caged like any other.
    plugins: {
      "@kaged/memory-markdown": pluginDir("memory-markdown"),
      "@kaged/smart-compactor": pluginDir("smart-compactor"),
    },
    events: { level: "summary" },
    // Without a terminal, the request waits for another front end.
    ...(options.ask && process.stdin.isTTY && { onAsk: askHere }),
  });
  host.onAudit((event) => trail.push(event));
  const console = options.ask ? await askBeforeDelegating(host, write) : null;

  write("Starting plugins, each in a cage of its own\n");
  const { failed } = await host.start();
  for (const { instance, error } of failed) write(`  ${instance} is not there: [${error.code}] ${error.message}\n`);
  for (const { instance, version, state, hooks, tools } of host.plugins()) {
    write(`  ${instance} ${version} is ${state}: ${hooks.length} hooks, ${tools.length} tools\n`);
  }
  let count = 0;
  for (const turns of sessions) await runSession(`ses_${++count}`, turns, host, options);
  await console?.close();
  await host.stop();
  write("\nWhat the audit trail says\n" + timeline(trail));
}

/** Has a person asked before the agent hands a task to another, and serves the console, where one can answer. */
async function askBeforeDelegating(host: Host, write: AgentOptions["write"]): Promise<{ close(): Promise<void> }> {
  host.hooks.register("PreToolUse", function delegation(event) {
    if (event.tool?.name === "delegate") event.ask({ reason: "Another agent would work on it" });
  });
  const served = await serveHost({ host, runtime: await detectRuntime(), port: 0 });
  write(`The console is at ${served.address}, its token is ${served.token}\n`);
  return served;
}

/** Asks at the terminal. `signal` aborts when somebody was faster elsewhere: the question goes away then. */
const askHere: OnAsk = async ({ tool, reason, arguments: args }, { signal }) => {
  const terminal = createTerminal({ input: process.stdin, output: process.stdout });
  try {
    const answer = await terminal.question(`\n  ? ${tool} ${JSON.stringify(args)}\n    ${reason}. Allow it? [y/N] `, {
      signal,
    });
    return /^y/i.test(answer) ? { decision: "allow" } : { decision: "deny", reason: "The person said no" };
  } finally {
    terminal.close();
  }
};

async function runSession(
  id: string,
  turns: Iterable<string> | AsyncIterable<string>,
  host: Host,
  options: AgentOptions,
): Promise<void> {
  const { write } = options;
  const session = host.openSession({ id });
  const { systemPrompt, injected } = await session.start(PROMPTS["primary"]!);
  write(`\nSession ${id}\n`);
  for (const { plugin, bytes } of injected) write(`  ${plugin} put ${bytes} bytes before the prompt:\n`);
  if (injected.length > 0) write(systemPrompt.replace(PROMPTS["primary"]!, "").trim().replace(/^/gm, "    ") + "\n");
  const agent = new Agent("primary", id, { host, options, systemPrompt });
  for await (const turn of turns) {
    write(`\n  you: ${turn.length > 160 ? `${turn.slice(0, 160)}…` : turn}\n`);
    session.record({ role: "user", content: turn });
    const answer = await agent.answer(turn);
    session.record({ role: "assistant", content: answer });
  }
  await session.idle(); // The host does so by itself when a session rests; here it is over.
  await session.close();
}

/** One agent of the project, with a window of its own. */
class Agent {
  readonly #path: string;
  readonly #session: string;
  readonly #host: Host;
  readonly #options: AgentOptions;
  readonly #hooks: AgentHooks;
  #window: Message[];

  constructor(
    path: string,
    session: string,
    { host, options, systemPrompt }: { host: Host; options: AgentOptions; systemPrompt: string },
  ) {
    this.#path = path;
    this.#session = session;
    this.#host = host;
    this.#options = options;
    this.#hooks = agentHooks(host.hooks, { session, agent: path });
    this.#window = [{ role: "system", content: systemPrompt }];
  }

  /** Answers one turn, with as many tool calls as it takes. */
  async answer(input: string): Promise<string> {
    const started = performance.now();
    const at = { agentName: this.#path, conversationId: this.#session, input };
    this.#host.emit("agent:start", at);
    this.#window.push({ role: "user", content: input });
    const toolsUsed: string[] = [];
    const usage = { promptTokens: 0, completionTokens: 0, totalTokens: 0 }; // Our own count: not every endpoint reports usage.
    for (let step = 0; step < MAX_STEPS; step++) {
      await this.#compactIfFull();
      usage.promptTokens += this.#size();
      const { content, tool_calls } = await this.#askModel();
      const said: Message = { role: "assistant", content, ...(tool_calls.length > 0 ? { tool_calls } : {}) };
      this.#window.push(said);
      usage.completionTokens += countTokens(said);
      if (tool_calls.length === 0) {
        usage.totalTokens = usage.promptTokens + usage.completionTokens;
        const duration = performance.now() - started;
        this.#host.emit("agent:end", { ...at, output: content, toolsUsed, usage, duration });
        return content;
      }
      for (const call of tool_calls) {
        toolsUsed.push(toolFromAlias(call.function.name));
        this.#window.push({ role: "tool", tool_call_id: call.id, content: await this.#callTool(call) });
      }
    }
    return "I went round in circles and stopped.";
  }

  #size(): number {
    return this.#window.reduce((sum, message) => sum + countTokens(message), 0);
  }

  async #askModel(): Promise<Reply> {
    const { endpoint, write } = this.#options;
    const name = this.#path.split(".").at(-1)!;
    let isFirst = true;
    return await streamReply(endpoint, { messages: this.#window, tools: this.#tools() }, (piece) => {
      write(isFirst ? `  ${name}: ${piece}` : piece);
      isFirst = false;
    }).finally(() => isFirst || write("\n"));
  }

  #tools(): ChatTool[] {
    const tools = this.#host.tools(this.#path).map((
      { alias: name, description, parametersSchema: parameters },
    ): ChatTool => ({ type: "function", function: { name, description, parameters } }));
    const children = this.#host.agents().filter(({ parent }) => parent === this.#path).map(({ path }) => path);
    if (children.length === 0) return tools;
    const names = children.map((path) => path.split(".").at(-1)!);
    const parameters = {
      type: "object",
      properties: { agent: { type: "string", enum: names }, task: { type: "string" } },
      required: ["agent", "task"],
    };
    const description = "Hand a task to another agent and get its answer.";
    return [...tools, { type: "function", function: { name: "delegate", description, parameters } }];
  }

  /** Returns the text that the model reads as the tool's result, or the reason of its failure. */
  async #callTool({ function: { name, arguments: json } }: ToolCall): Promise<string> {
    const tool = toolFromAlias(name);
    this.#options.write(`  → ${tool} ${json}\n`);
    try {
      const args = JSON.parse(json || "{}");
      const result = name === "delegate"
        ? await this.#delegateIfAllowed(args)
        : await this.#host.callTool(tool, args, { agent: this.#path, session: this.#session });
      return typeof result === "string" ? result : JSON.stringify(result);
    } catch (error) {
      this.#options.write(`  ← ${(error as Error).message}\n`);
      return `Error: ${(error as Error).message}`;
    }
  }

  /** Tools of plugins pass the host's gate by themselves; this one is the agent's own, so it asks the hooks itself. */
  async #delegateIfAllowed(args: { agent: string; task: string }): Promise<string> {
    const { blocked, blockedBy, reason, input } = await this.#hooks.beforeTool("delegate", args);
    if (blocked) throw new Error(`${blockedBy} said no: ${reason}`);
    return await this.#delegate(input as typeof args);
  }

  /** A subagent starts afresh: its own window and tools, the session of its primary. */
  async #delegate({ agent, task }: { agent: string; task: string }): Promise<string> {
    const child = `${this.#path}.subagents.${agent}`;
    const at = { parentAgent: this.#path, childAgent: child, conversationId: this.#session };
    const started = performance.now();
    this.#host.emit("delegate:start", { ...at, input: task });
    const systemPrompt = PROMPTS[agent] ?? "You help another agent.";
    const output = await new Agent(child, this.#session, { host: this.#host, options: this.#options, systemPrompt })
      .answer(task);
    this.#host.emit("delegate:end", { ...at, output, duration: performance.now() - started });
    return output;
  }

  async #compactIfFull(): Promise<void> {
    const { windowTokens, write } = this.#options;
    if (this.#size() <= windowTokens) return;
    const { messages, by, before, after, summary, retained, injected, fallback } = await this.#host.compact({
      agent: this.#path,
      session: this.#session,
      messages: this.#window,
      trigger: "threshold_crossed",
      targetTokens: Math.floor(windowTokens / 2),
    });
    this.#window = messages;
    const size =
      `${before.messages} messages, ${before.tokens} tokens → ${after.messages} messages, ${after.tokens} tokens`;
    write(`  window compacted by ${by}: ${size}${summary ? `; ${summary}` : ""}\n`);
    if (fallback) write(`    instead of the first choice: ${fallback.detail}\n`);
    for (const { plugin, text } of retained) write(`    ${plugin} kept: ${text}\n`);
    for (const { plugin, bytes } of injected) write(`    ${plugin} injected ${bytes} bytes\n`);
  }
}

const LOG = "03:14:07 GET /import 200 in 12 ms, nothing out of the ordinary was seen at this time. ".repeat(30);

/** The conversation that {@link main} plays by default. */
export const STORY: readonly (readonly string[])[] = [
  [
    "Let me tell you about Harbor. Our deploy target is Cloudflare Workers. Our database is SQLite. My reviewer is Grace.",
    "Ask the researcher: what does a safe rollout start with?",
  ],
  [
    "Who is my reviewer?",
    "What is our deploy target?",
    "Let's use feature flags in src/importer.ts.",
    `Here is last night's log. ${LOG}`,
    "What do we use in the importer?",
  ],
];

/** Opened at the first turn: lines that come before somebody listens would be lost. */
async function* linesOfStdin(): AsyncGenerator<string> {
  yield* createInterface({ input: process.stdin, terminal: false });
}

/** Reads the command line and runs the agent. Resolves with an exit code. */
export async function main(args: readonly string[]): Promise<number> {
  const text = { type: "string" } as const;
  const { values, positionals } = parseArgs({
    args: [...args],
    options: { project: text, home: text, chat: { type: "boolean" }, ask: { type: "boolean" } },
    allowPositionals: true,
  });
  const { OPENAI_BASE_URL, OPENAI_API_KEY: key = "", OPENAI_MODEL: model = "gpt-4o-mini" } = process.env;
  const isLocal = !OPENAI_BASE_URL && !key;
  const local = isLocal ? await startLocalModel() : null;
  const url = local?.url ?? (OPENAI_BASE_URL ?? "https://api.openai.com/v1").replace(/\/+$/, "");
  const home = values.home ?? await mkdtemp(join(tmpdir(), "kaged-agent-"));
  try {
    await runAgent({
      project: values.project ?? fileURLToPath(new URL(".", import.meta.url)),
      home,
      endpoint: { url, key, model },
      sessions: values.chat ? [linesOfStdin()] : positionals.length > 0 ? [positionals] : STORY,
      windowTokens: isLocal ? 960 : 16_000,
      write: (piece) => void process.stdout.write(piece),
      ask: values.ask ?? false,
    });
    return 0;
  } catch (error) {
    const { code, message, hint } = error as { code?: string; message: string; hint?: string };
    console.error(`error${code ? `[${code}]` : ""}: ${message}${hint ? `\n  hint: ${hint}` : ""}`);
    return 1;
  } finally {
    await local?.close();
    if (!values.home) await rm(home, { recursive: true, force: true });
  }
}

if (import.meta.main) process.exitCode = await main(process.argv.slice(2));
