import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { type Child, startChild } from "../docs/support/child.ts";
import { blocksFor } from "../docs/support/guides.ts";
import { isShown, shownCommands } from "../docs/support/shown_output.ts";
import { compiledCode } from "../support/compiled_code.ts";
import { canCage } from "../support/hook_repo.ts";
import { runtimeName } from "../support/require_or_skip.ts";
import { scratchDir } from "../support/scratch_dir.ts";

const root = new URL("../../", import.meta.url);
const blocks = (runtime: string): Promise<string[]> =>
  blocksFor("tests/examples/embed_test.ts", `docs/embed-${runtime}.md`);
/** Each example is run on the runtime it is for. */
const on = (runtime: string) => runtimeName === runtime ? test : () => {};

interface Desk {
  readonly home: string;
  /** Starts a command as a reader would, from the root of a clone. */
  start(command: string): Child;
  /** Runs the commands of a block, at the port that was free here, and compares what they print. */
  show(block: string, port?: string): Promise<void>;
}

/** A reader's terminal with a home of its own. */
async function desk(t: TestContext): Promise<Desk> {
  const home = await scratchDir(t);
  const env = {
    PATH: `${fileURLToPath(new URL("node_modules/.bin", root))}:/usr/local/bin:/usr/bin:/bin`,
    HOME: home,
    PORT: "0",
    NO_COLOR: "1",
    ...compiledCode,
  };
  const start = (command: string): Child => {
    const child = startChild("/bin/bash", ["-ec", command], { cwd: fileURLToPath(root), env });
    t.after(() => {
      child.signal("SIGKILL");
      return child.ended;
    });
    return child;
  };
  return {
    home,
    start,
    async show(block, port) {
      for (const { command, output: shown } of shownCommands(block)) {
        const { code, output } = await start(port ? command.replace(/:47\d\d\b/, `:${port}`) : command).ended;
        assert.equal(code, 0, output);
        assert.ok(isShown(shown ?? "", output), `${command} prints\n${output}\nand the guide shows\n${shown}`);
      }
    },
  };
}

/** Resolves with the port an example says it listens at. */
async function portOf(child: Child): Promise<string> {
  return /Listening at http:\/\/127\.0\.0\.1:(\d+)/.exec(await child.printed("Listening at http://127.0.0.1:"))![1]!;
}

test("the guides docs/embed-deno.md, docs/embed-node.md and docs/embed-bun.md show the examples as they are", async () => {
  for (const [guide, example] of [["deno", "deno_agent"], ["node", "node_service"], ["bun", "bun_worker"]]) {
    const source = await readFile(new URL(`examples/embed/${example}.ts`, root), "utf8");
    const shown = source.replace(/^\/\*\*.*\*\/\n/, "").replace('"../../mod.ts"', '"@kaged/plugin-host"')
      .replace('"../../src/http/mod.ts"', '"@kaged/plugin-host/http"');
    assert.equal((await blocks(guide!))[0], shown, guide);
  }
});

on("deno")("the Deno agent shows its tools, calls them, and tells a model what is wrong with a call", async (t) => {
  if (!await canCage(t)) return;
  const { start, show } = await desk(t);
  const [, shown] = await blocks("deno");
  await show(shown!);
  const lines = ['notes.add {"text": "Reviews are on Tuesday"}', "notes.find", "notes.add {Tuesday}", "hello"];
  const typed = lines.map((line) => `'${line}'`).join(" ");
  const { code, output } = await start(`printf '%s\n' ${typed} | deno run -A examples/embed/deno_agent.ts`).ended;
  assert.equal(code, 0, output);
  const said = output.trimEnd().split("\n").slice(-3);
  assert.match(said.splice(1, 1)[0]!, /^error: .*JSON/);
  assert.deepEqual(said, [
    'error[tool.arguments_invalid]: Cannot call "notes.find": query: Field "query" is missing',
    'error[tool.unknown]: Agent "primary" has no tool "hello"',
  ]);
});

on("node")("the Node service answers behind its token, tells metrics, and stops when it is told to", async (t) => {
  if (!await canCage(t)) return;
  const { home, start, show } = await desk(t);
  const [, command, shown] = await blocks("node");
  const service = start(command!);
  const port = await portOf(service);
  await show(shown!, port);
  const token = (await readFile(`${home}/.local/share/kaged/token`, "utf8")).trim();
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const ask = (path: string, init: RequestInit = {}) => fetch(`http://127.0.0.1:${port}${path}`, { headers, ...init });
  assert.equal((await ask("/app/remember", { method: "POST", body: "{}", headers: {} })).status, 401);
  const wrong = await ask("/app/remember", { method: "POST", body: "{}" });
  assert.deepEqual([wrong.status, (await wrong.json()).code], [400, "tool.arguments_invalid"]);
  assert.match(await (await ask("/metrics")).text(), /kaged_calls_total\{.*notes.*\} 1/);
  service.signal("SIGINT");
  const { code, output } = await service.ended;
  assert.deepEqual([code, output.trimEnd().split("\n").at(-1)], [0, "Stopped"], output);
  const audit = await readFile(`${home}/.local/share/kaged/audit/embed.jsonl`, "utf8");
  assert.match(audit, /"plugin\.stopped".*"exit_code":0/);
});

on("bun")("the Bun worker runs a job, streams it, and stops when it is told to", async (t) => {
  if (!await canCage(t)) return;
  const { start, show } = await desk(t);
  const [, command, shown] = await blocks("bun");
  const worker = start(command!);
  await show(shown!, await portOf(worker));
  worker.signal("SIGINT");
  const { code, output } = await worker.ended;
  assert.deepEqual([code, output.trimEnd().split("\n").at(-1)], [0, "Stopped"], output);
});
