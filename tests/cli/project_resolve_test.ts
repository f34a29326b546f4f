import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { runKaged } from "../support/run_kaged.ts";
import { scratchDir } from "../support/scratch_dir.ts";

const MANIFEST = `name: memory-hindsight
version: 0.1.0
kaged_api: 1
description: Memory
command: [js, ./p.js]
capabilities: []
hooks: [on_session_start, pre_compact]
tools: [{ name: recall, description: Finds, parameters_schema: { type: object } }]
config_schema: { type: object, properties: { tags: { type: array } }, additionalProperties: false }
system_config_schema: { type: object, properties: { api_token: { type: string } }, required: [api_token] }
`;
const PROJECT = `id: music
primary:
  plugins:
    memory: { package: "@kaged/memory-hindsight", isolation: project, config: { tags: [a] } }
  subagents:
    researcher: { plugins: { memory: { hooks: [on_session_start] } } }
`;
const SECRET = "s3cr3t-t0ken";

async function setUp(t: Parameters<typeof scratchDir>[0], project = PROJECT, token = `"${SECRET}"`) {
  const dir = await scratchDir(t);
  for (const folder of ["home", "plugin", "project"]) await mkdir(join(dir, folder));
  await writeFile(join(dir, "plugin/kaged-plugin.yaml"), MANIFEST);
  await writeFile(join(dir, "project/project.yaml"), project);
  await writeFile(join(dir, "home/local.toml"), `[plugins."@kaged/memory-hindsight"]\napi_token = ${token}\n`);
  const run = (...more: string[]) =>
    runKaged(
      ["project", "resolve", "project", "--home", "home", "--plugin", "@kaged/memory-hindsight=plugin", ...more],
      { cwd: dir },
    );
  return { dir, run };
}

test("kaged project resolve --json prints what each agent gets, and no secret", async (t) => {
  const { dir, run } = await setUp(t);
  const { code, stdout, stderr } = await run("--json");
  assert.deepEqual([code, stderr], [0, ""]);
  const plugin = {
    package: "@kaged/memory-hindsight",
    plugin: "memory-hindsight",
    isolation: "project",
    instance: "memory-hindsight@music",
    hooks: ["on_session_start", "pre_compact"],
    tools: ["memory-hindsight.recall"],
    config: { tags: ["a"], api_token: "‹set by operator›" },
  };
  const { agents, warnings, errors } = JSON.parse(stdout);
  assert.deepEqual(agents, {
    primary: { plugins: { memory: plugin } },
    "primary.subagents.researcher": { plugins: { memory: { ...plugin, hooks: [] } } },
  });
  assert.deepEqual(errors, []);
  const { code: warning, file, line } = warnings[0];
  assert.deepEqual([warning, file, line], ["project.hook_illegal", join(dir, "project/project.yaml"), 6]);
  assert.ok(!stdout.includes(SECRET));
});

test("kaged project resolve prints the same for a person", async (t) => {
  const { run } = await setUp(t);
  const { code, stdout, stderr } = await run();
  assert.deepEqual([code, stderr], [0, ""]);
  assert.deepEqual(stdout.split("\n").slice(0, 5), [
    "primary",
    "  memory  memory-hindsight (@kaged/memory-hindsight), project, memory-hindsight@music",
    "    hooks   on_session_start, pre_compact",
    "    tools   memory-hindsight.recall",
    '    config  tags: ["a"], api_token: "‹set by operator›"',
  ]);
  assert.match(stdout, /\nwarning: .*project\.yaml:6:\d+ Hook "on_session_start"/);
  assert.ok(!stdout.includes(SECRET));
});

test("kaged project resolve exits with 1 and says why when a plugin is refused or not installed", async (t) => {
  const { run } = await setUp(t, `${PROJECT}    writer: { plugins: { x: { package: "@x/y", source: ./y } } }\n`, "7");
  const { code, stdout } = await run("--json");
  assert.equal(code, 1);
  const { errors } = JSON.parse(stdout);
  assert.deepEqual(errors.map(({ agent, code }: { agent: string; code: string }) => [agent, code]), [
    ["primary", "project.config_invalid"],
    ["primary.subagents.researcher", "project.base_refused"],
    ["primary.subagents.writer", "plugin.not_installed"],
  ]);
  assert.deepEqual(errors[0].data.errors, [
    { path: "api_token", message: "Expected string, got number", line: 2, column: 13 },
  ]);
  const text = await run();
  assert.deepEqual([text.code, text.stdout.match(/^error\[[^\]]+\]/gm)], [1, [
    "error[project.config_invalid]",
    "error[project.base_refused]",
    "error[plugin.not_installed]",
  ]]);
});

test("kaged project resolve lists every issue of a project file and of local.toml with its place", async (t) => {
  const { dir, run } = await setUp(t, "memory: 1\nprimary: { plugins: [] }\n");
  const { code, stderr } = await run();
  assert.equal(code, 1);
  const file = join(dir, "project/project.yaml");
  const places = [
    "error[project.invalid]",
    `${file}:1:1 [project.misplaced_key] memory: `,
    `${file}:2:21 [project.wrong_type] primary.plugins: `,
  ];
  for (const place of places) assert.ok(stderr.includes(place), `${place} in:\n${stderr}`);
  await writeFile(join(dir, "project/project.yaml"), PROJECT);
  await writeFile(join(dir, "home/local.toml"), `token = ${SECRET}\n`);
  const toml = await run("--json");
  const { error } = JSON.parse(toml.stdout);
  assert.deepEqual([toml.code, error.code, error.data.issues[0].line], [1, "local.invalid", 1]);
  assert.ok(!toml.stdout.includes(SECRET));
});

test("kaged project resolve of a folder without a project, and a --plugin that is no pair, are refused", async (t) => {
  const dir = await scratchDir(t);
  const missing = await runKaged(["project", "resolve", dir, "--home", dir, "--json"]);
  assert.deepEqual([missing.code, JSON.parse(missing.stdout).error.code], [1, "project.missing"]);
  const misuse = await runKaged(["project", "resolve", dir, "--plugin", "x"]);
  assert.equal(misuse.code, 2);
});
