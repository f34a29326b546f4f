/**
 * Every door through which a tool can be called, each asked in the same way, and the three sources of hooks that a call
 * must pass.
 *
 * @module
 */
import { mkdir, writeFile } from "node:fs/promises";
import type { TestContext } from "node:test";
import { detectRuntime } from "../../src/adapters/default.ts";
import { asHostError } from "../../src/core/errors/host_error.ts";
import { trustHookFile } from "../../src/hooks/files/trust_store.ts";
import { openHookFiles } from "../../src/hooks/open_hook_files.ts";
import { serveHost } from "../../src/mcp/serve_host.ts";
import { ERROR_KEY } from "../../src/mcp/tool_answer.ts";
import type { HostedOptions } from "./hosted.ts";
import { memoryWire, newClient, type TestClient } from "./mcp_client.ts";
import { type Served, served } from "./served.ts";

/** The tool behind every door: it returns what it was called with. */
export const TOOL = "notes.ask";

/** How a call came back through a door. */
export interface Called {
  /** Params without `_context`, as the plugin echoes them; or the output that a hook put in its place. */
  readonly output?: unknown;
  readonly context: readonly string[];
  readonly error?: { readonly code: string; readonly message: string; readonly data?: unknown };
}

/** A host behind all doors. */
export interface Gated extends AsyncDisposable {
  readonly s: Served;
  readonly doors: Readonly<Record<string, (args: Record<string, unknown>) => Promise<Called>>>;
}

type Answers = Readonly<Record<string, object>>;

/** Opens a host whose tool can be called through each door. */
export async function gated(options: HostedOptions = notes()): Promise<Gated> {
  const s = await served(options);
  const { host } = s.h;
  const session = host.openSession({ id: "ses_1" });
  host.agent("primary", async ({ input, tools, session }) => {
    const { error, output } = await caught(() => tools.call(TOOL, JSON.parse(input)));
    return JSON.stringify({ output, error, context: session.takeContext() });
  });
  const client = await mcpClient(s);
  const over = async (path: string, json: object): Promise<Called & { readonly body: Record<string, unknown> }> => {
    const { status, body } = await s.ask(path, { method: "POST", json });
    if (status === 200) return { body, context: body.context ?? [] };
    return { body, context: [], error: { code: `${status} ${body.code}`, message: body.detail, data: body.data } };
  };
  return {
    s,
    doors: {
      async "session.callTool"(args) {
        const { error, output: outcome } = await caught(() => session.callTool(TOOL, args));
        if (error) return { error, context: session.takeContext() };
        const { output, context } = outcome as { output: unknown; context: string[] };
        return { output: bare(output), context };
      },
      async "host.callTool"(args) {
        const context: string[] = [];
        const onContext = (texts: readonly string[]) => void context.push(...texts);
        const at = { agent: "primary", session: "ses_1", onContext };
        return { ...await caught(() => host.callTool(TOOL, args, at)), context };
      },
      async "a run's tools.call"(args) {
        const { id } = await host.jobs.start({ agentName: "primary", input: JSON.stringify(args) });
        const { result } = await host.jobs.finished(id);
        return JSON.parse(result!);
      },
      async "POST /agents/…/tools/…"(args) {
        const { body, ...called } = await over("/api/v1/agents/primary/tools/notes__ask", { arguments: args });
        return called.error ? called : { ...called, output: bare(body.output) };
      },
      async "POST /plugins/…/call/…"(args) {
        const path = `/api/v1/plugins/notes/call/${TOOL}?agent=primary&session=ses_1`;
        const { body, error } = await over(path, args);
        return { context: session.takeContext(), ...(error ? { error } : { output: bare(body.result) }) };
      },
      async "kaged mcp"(args) {
        const { content, isError, _meta } = await client.callTool({ name: "notes__ask", arguments: args });
        const [first, ...rest] = content.map(({ text }) => String(text));
        const context = rest;
        if (isError) return { context, error: _meta![ERROR_KEY] as NonNullable<Called["error"]> };
        return { context, output: bare(JSON.parse(first!)) };
      },
    },
    async [Symbol.asyncDispose]() {
      await client.close();
      await s[Symbol.asyncDispose]();
    },
  };
}

/** A host with the tool, and a plugin `guard` that answers its hooks so. */
export function notes(answers: Answers | null = null): HostedOptions {
  const guard = { guard: { config: { answers } } };
  const hooks = Object.keys(answers ?? {});
  return {
    primary: { notes: {}, ...(answers && guard) },
    fixtures: {
      "@test/notes": { fixture: "answers_hooks", manifest: { name: "notes", hooks: [] } },
      ...(answers && {
        "@test/guard": { fixture: "answers_hooks", manifest: { name: "guard", tools: [], hooks } },
      }),
    },
  };
}

/** A source of hooks at the gate. */
export interface Source extends Gated {
  /** Id of the handler that answers `PreToolUse`. */
  readonly by: string;
  /** How often each hook was asked since the last look. */
  heard(): Promise<Record<string, number>>;
}

/** The three sources; each answers `pre_tool_use`, `post_tool_use` and `on_error` as given. */
export const SOURCES: Readonly<Record<string, (t: TestContext, answers: Answers) => Promise<Source>>> = {
  "a plugin": async (_, answers) => {
    const g = await gated(notes(answers));
    let seen = 0;
    return Object.assign(g, {
      by: "guard@music/primary",
      async heard() {
        const { calls } = await g.s.h.host.callMethod("guard", "fixture.call") as { calls: { method: string }[] };
        const fresh = calls.slice(seen).map(({ method }) => method.slice("kaged.hook.".length));
        seen = calls.length;
        return counted(fresh);
      },
    });
  },
  "a code handler": async (_, answers) => {
    const g = await gated();
    let fresh: string[] = [];
    for (const [hook, answer] of Object.entries(answers)) {
      g.s.h.host.hooks.register(hook, function guard() {
        fresh.push(hook);
        return answer as never;
      });
    }
    return Object.assign(g, {
      by: "guard",
      heard() {
        const taken = fresh;
        fresh = [];
        return Promise.resolve(counted(taken));
      },
    });
  },
  "a trusted hook file": async (t, answers) => {
    const g = await gated();
    const { dir, home } = g.s.h;
    const runtime = await detectRuntime();
    const native: Record<string, string> = {
      pre_tool_use: "preToolUse",
      post_tool_use: "postToolUse",
      on_error: "errorOccurred",
    };
    const hooks = Object.entries(answers).map(([hook, answer]) => [
      native[hook]!,
      [{ type: "command", bash: `echo '${JSON.stringify(answer)}'`, timeoutSec: 30 }],
    ]);
    await mkdir(`${dir}/.github/hooks`, { recursive: true });
    const text = JSON.stringify({ version: 1, hooks: Object.fromEntries(hooks) });
    await writeFile(`${dir}/.github/hooks/guard.json`, text);
    let fresh: string[] = [];
    const open = () => {
      const onEnd = ({ hook }: { hook: string }) => void fresh.push(hook);
      return openHookFiles({ runtime, dir, home, userHome: null, onEnd });
    };
    await using untrusted = await open();
    for (const { evidence } of untrusted.judged) await trustHookFile({ home, dir, evidence }, runtime);
    const opened = await open();
    t.after(() => opened.close());
    g.s.h.host.hooks.add(opened.registrations);
    const manifest: Record<string, string> = {
      PreToolUse: "pre_tool_use",
      PostToolUse: "post_tool_use",
      OnError: "on_error",
    };
    return Object.assign(g, {
      by: ".github/hooks/guard.json:preToolUse[0]",
      heard() {
        const taken = fresh.map((hook) => manifest[hook]!);
        fresh = [];
        return Promise.resolve(counted(taken));
      },
    });
  },
};

async function mcpClient({ h: { host } }: Served): Promise<TestClient> {
  const [ours, theirs] = memoryWire();
  const { id: session } = host.openSession();
  await serveHost({ host, agent: "primary", session, transport: ours, hooks: false });
  const client = newClient();
  await client.connect(theirs);
  return client;
}

async function caught(work: () => Promise<unknown>): Promise<Pick<Called, "output" | "error">> {
  try {
    return { output: bare(await work()) };
  } catch (thrown) {
    const { code, message, data } = asHostError(thrown);
    return { error: { code, message, data } };
  }
}

/** The arguments that the tool echoes, without the context; any other output as it is. */
function bare(output: unknown): unknown {
  const { params } = (output ?? {}) as { params?: Record<string, unknown> };
  if (!params) return output;
  const { _context, ...args } = params;
  return args;
}

function counted(hooks: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const hook of hooks) counts[hook] = (counts[hook] ?? 0) + 1;
  return counts;
}
