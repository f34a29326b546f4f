import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { fixturePlugin } from "../support/fixture_plugins.ts";
import { processesIn } from "../support/processes_in.ts";
import { runKaged } from "../support/run_kaged.ts";
import { scratchDir } from "../support/scratch_dir.ts";

/** A project with one plugin, and the flags that name both. */
async function projectIn(dir: string, plugin: { dir: string }, project: object): Promise<string[]> {
  await mkdir(join(dir, "music"));
  await writeFile(join(dir, "music/project.yaml"), JSON.stringify(project));
  return ["--project", join(dir, "music"), "--home", join(dir, "home"), "--plugin", `@test/memory=${plugin.dir}`];
}

const answering = (answers: object) => ({
  primary: {
    plugins: { memory: { package: "@test/memory", config: { answers } } },
    subagents: { researcher: {} },
  },
});

test("kaged hooks fire shows what each plugin answers and what goes before the model", async (t) => {
  const dir = await scratchDir(t);
  await using plugin = await fixturePlugin("answers_hooks");
  const flags = await projectIn(dir, plugin, answering({ on_session_start: { inject: "Known" } }));
  const json = await runKaged(["hooks", "fire", "on_session_start", ...flags, "--json"]);
  const { session, results, ...rest } = JSON.parse(json.stdout);
  assert.deepEqual([json.code, json.stderr], [0, ""]);
  assert.match(session, /^ses_/);
  const [{ duration_ms, ...result }] = results;
  assert.equal(typeof duration_ms, "number");
  assert.deepEqual(result, {
    plugin: "answers-hooks",
    instance: "answers-hooks@music/primary",
    outcome: "ok",
    result: { inject: "Known" },
  });
  assert.deepEqual(rest.text, "<plugin:answers-hooks>\nKnown\n</plugin:answers-hooks>");
  assert.deepEqual([rest.hook, rest.agent, rest.injected.length], ["on_session_start", "primary", 1]);
  const plain = await runKaged(["hooks", "fire", "on_session_start", ...flags]);
  assert.match(
    plain.stdout,
    /^✓ answers-hooks {2}\{"inject":"Known"\} {2}\d+ ms\n\n {2}│ <plugin:answers-hooks>\n {2}│ Known\n {2}│ <\/plugin:answers-hooks>\n$/,
  );
  assert.deepEqual(await processesIn(plugin.dir), []);
});

test("kaged hooks fire sends the params of --input, and says when nobody takes a hook", async (t) => {
  const dir = await scratchDir(t);
  await using plugin = await fixturePlugin("answers_hooks");
  const flags = await projectIn(dir, plugin, answering({}));
  const input = '{ "transcript": [{ "role": "user", "content": "Hello" }] }';
  const run = await runKaged(["hooks", "fire", "on_session_idle", ...flags, "--input", "-"], { input });
  assert.deepEqual([run.code, run.stderr], [0, ""]);
  const none = await runKaged(["hooks", "fire", "pre_compact", ...flags, "--agent", "primary.subagents.researcher"]);
  assert.deepEqual([none.code, none.stdout], [0, 'No plugin of "primary.subagents.researcher" takes pre_compact\n']);
  const stranger = await runKaged(["hooks", "fire", "pre_compact", ...flags, "--agent", "nobody"]);
  assert.deepEqual([stranger.code, stranger.stderr.split("\n")[0]], [
    1,
    'error[agent.unknown]: The project has no agent "nobody"',
  ]);
  const unknown = await runKaged(["hooks", "fire", "pre_compactt", ...flags]);
  assert.deepEqual([unknown.code, unknown.stderr], [
    1,
    'error[hook.unknown]: There is no hook "pre_compactt"\n  hint: Did you mean "pre_compact"?\n',
  ]);
  const broken = await runKaged(["hooks", "fire", "pre_compact", ...flags, "--input", "-"], { input: "[1]" });
  assert.deepEqual([broken.code, broken.stderr.split(":")[0]], [2, "error[host.misuse]"]);
});

test("kaged hooks fire exits with 1 when a plugin fails, and warns of plugins that do not run", async (t) => {
  const dir = await scratchDir(t);
  await using plugin = await fixturePlugin("throws_in_hook");
  const plugins = { memory: { package: "@test/memory" }, absent: { package: "@test/absent" } };
  const flags = await projectIn(dir, plugin, { primary: { plugins } });
  const { code, stdout, stderr } = await runKaged(["hooks", "fire", "on_session_start", ...flags, "--json"]);
  const { results: [{ outcome, error }] } = JSON.parse(stdout);
  assert.deepEqual([code, outcome, error.code, error.rpc], [1, "failed", "plugin.error", -32050]);
  assert.equal(stderr, "warning: @test/absent is not installed\n");
});

test("kaged compact makes a window smaller and prints what is left", async (t) => {
  const dir = await scratchDir(t);
  await using plugin = await fixturePlugin("compacts");
  const flags = await projectIn(dir, plugin, {
    primary: {
      plugins: { memory: { package: "@test/memory" } },
      compaction: { delegate: { plugin: "memory" }, keep_last: 1 },
    },
  });
  const messages = Array.from({ length: 6 }, (_, at) => ({ id: `m${at}`, role: "user", content: "word ".repeat(50) }));
  await writeFile(join(dir, "window.json"), JSON.stringify(messages));
  const args = ["compact", ...flags, "--messages", join(dir, "window.json"), "--target-tokens", "100"];
  const json = await runKaged([...args, "--json"]);
  const result = JSON.parse(json.stdout);
  assert.deepEqual([json.code, result.by, result.superseded], [0, "compactor", ["m0", "m1", "m2", "m3", "m4"]]);
  const plain = await runKaged(args);
  assert.match(
    plain.stdout,
    /^Compacted by compactor: 6 → 2 messages, \d+ → \d+ tokens\nSummary:\n {2}│ Took 5 messages\n/,
  );
});

test("kaged compact says what is wrong with its window", async (t) => {
  const dir = await scratchDir(t);
  await using plugin = await fixturePlugin("compacts");
  const flags = await projectIn(dir, plugin, { primary: {} });
  const run = async (input: string, more: string[] = []) => {
    const { code, stderr } = await runKaged(["compact", ...flags, "--messages", "-", ...more], { input });
    return [code, stderr.split("\n")[0]];
  };
  assert.deepEqual(await run("{}"), [2, 'error[host.misuse]: "-" holds no list of messages']);
  assert.deepEqual((await run("[{]"))[0], 2);
  assert.deepEqual(await run('[{ "content": "x" }]'), [
    2,
    "error[host.misuse]: Cannot compact these messages: message 0 has no role",
  ]);
  assert.deepEqual((await run("[]", ["--target-tokens", "many"]))[0], 2);
  assert.deepEqual(await run("[]"), [0, ""]);
});

test("commands about a project that is not there say so", async (t) => {
  const dir = await scratchDir(t);
  const places = ["--project", join(dir, "none"), "--home", join(dir, "home")];
  for (const command of [["hooks", "fire", "pre_compact"], ["compact", "--messages", "-"]]) {
    const { code, stderr } = await runKaged([...command, ...places], { input: "[]" });
    assert.deepEqual([code, stderr.slice(0, 22)], [1, "error[project.missing]"], command[0]);
  }
});
