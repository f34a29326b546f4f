import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import process from "node:process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { guideBlock } from "../docs/support/guides.ts";
import { compiledCode } from "../support/compiled_code.ts";
import { canCage } from "../support/hook_repo.ts";
import { runtimeName } from "../support/require_or_skip.ts";
import { scratchDir } from "../support/scratch_dir.ts";

const root = new URL("../../", import.meta.url);
const PREFIX: Readonly<Record<string, readonly string[]>> = {
  node: ["--disable-warning=ExperimentalWarning"],
  deno: ["run", "-A", "--quiet", "--no-lock", "--no-check", "--config", fileURLToPath(new URL("deno.json", root))],
  bun: ["--config=/dev/null", "--no-env-file", "--no-install"],
};
/** Each example is run on the runtime it is for. */
const on = (runtime: string) => runtimeName === runtime ? test : () => {};

interface Running {
  readonly child: ChildProcess;
  /** What it printed so far. */
  printed(): string;
  /** Resolves with its exit code once it has ended. */
  readonly ended: Promise<number | null>;
  /** Resolves with the address it says it listens at. */
  address(): Promise<string>;
}

/** Starts an example with a home of its own; it is gone when the test is. */
function start(t: { after(run: () => Promise<unknown>): void }, file: string, home: string): Running {
  const child = spawn(process.execPath, [...PREFIX[runtimeName]!, fileURLToPath(new URL(file, root))], {
    env: { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: home, KAGED_HOME: `${home}/kaged`, PORT: "0", ...compiledCode },
  });
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => void (printed += text));
  }
  const ended = once(child, "close").then(([code]) => code as number | null);
  t.after(() => {
    child.kill("SIGKILL");
    return ended;
  });
  return {
    child,
    printed: () => printed,
    ended,
    async address() {
      for (;;) {
        const found = /Listening at (http:\S+?)\/?\n/.exec(printed)?.[1];
        if (found !== undefined) return found;
        await Promise.race([once(child.stdout, "data"), ended.then(() => assert.fail(`It has ended:\n${printed}`))]);
      }
    },
  };
}

test("the guides docs/embed-deno.md, docs/embed-node.md and docs/embed-bun.md show the examples as they are", async () => {
  for (const [guide, example] of [["deno", "deno_agent"], ["node", "node_service"], ["bun", "bun_worker"]]) {
    const source = await readFile(new URL(`examples/embed/${example}.ts`, root), "utf8");
    const shown = source.replace(/^\/\*\*.*\*\/\n/, "").replace('"../../mod.ts"', '"@kaged/plugin-host"')
      .replace('"../../src/core/http/mod.ts"', '"@kaged/plugin-host/http"');
    assert.equal(await guideBlock(`docs/embed-${guide}.md`, "ts"), shown, guide);
  }
});

on("deno")("the Deno agent shows its tools, calls them, and tells a model what is wrong with a call", async (t) => {
  if (!await canCage(t)) return;
  const { child, ended, printed } = start(t, "examples/embed/deno_agent.ts", await scratchDir(t));
  child.stdin!.end(
    'notes.add {"text": "Reviews are on Tuesday"}\nnotes.find {"query": "tuesday"}\nnotes.find\nnotes.add {Tuesday}\nhello',
  );
  assert.equal(await ended, 0, printed());
  const lines = printed().trimEnd().split("\n");
  assert.match(lines.splice(-2, 1)[0]!, /^error: .*JSON/);
  assert.deepEqual(lines, [
    "You keep notes for Ada.",
    "  notes.add: Keeps a note for later sessions.",
    "  notes.find: Finds notes that contain a text.",
    '{"count":1}',
    '{"notes":["Reviews are on Tuesday"]}',
    'error[tool.arguments_invalid]: Cannot call "notes.find": query: Field "query" is missing',
    'error[tool.unknown]: Agent "primary" has no tool "hello"',
  ]);
});

on("node")("the Node service answers behind its token, tells metrics, and stops when it is told to", async (t) => {
  if (!await canCage(t)) return;
  const home = await scratchDir(t);
  const { child, address, ended, printed } = start(t, "examples/embed/node_service.ts", home);
  const url = await address();
  const token = (await readFile(`${home}/kaged/token`, "utf8")).trim();
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const ask = (path: string, init: RequestInit = {}) => fetch(`${url}${path}`, { headers, ...init });
  const kept = await ask("/app/remember", { method: "POST", body: '{"text":"Reviews are on Tuesday"}' });
  assert.deepEqual([kept.status, await kept.json()], [200, { count: 1 }]);
  assert.equal((await ask("/app/remember", { method: "POST", body: "{}", headers: {} })).status, 401);
  const wrong = await ask("/app/remember", { method: "POST", body: "{}" });
  assert.deepEqual([wrong.status, (await wrong.json()).code], [400, "tool.arguments_invalid"]);
  assert.match(await (await ask("/metrics")).text(), /kaged_calls_total\{.*notes.*\} 1/);
  process.kill(child.pid!, "SIGTERM");
  assert.equal(await ended, 0, printed());
  assert.match(printed(), /Stopped\n$/);
  const audit = await readFile(`${home}/kaged/audit/embed.jsonl`, "utf8");
  assert.match(audit, /"plugin\.stopped".*"exit_code":0/);
});

on("bun")("the Bun worker runs a job, streams it, and stops when it is told to", async (t) => {
  if (!await canCage(t)) return;
  const { child, address, ended, printed } = start(t, "examples/embed/bun_worker.ts", await scratchDir(t));
  const message = "Reviews are on Tuesday. Releases are on Friday.";
  const answer = await fetch(`${await address()}/agents/primary?stream=true`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ message }),
  });
  const told = await answer.text();
  assert.match(told, /event: note\ndata: .*Reviews are on Tuesday\./);
  assert.match(told, /event: done\ndata: .*2 notes kept/);
  process.kill(child.pid!, "SIGTERM");
  assert.equal(await ended, 0, printed());
  assert.match(printed(), /Stopped\n$/);
});
