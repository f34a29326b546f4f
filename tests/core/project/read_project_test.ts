import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { detectRuntime } from "../../../src/adapters/default.ts";
import { HostError } from "../../../src/core/errors/host_error.ts";
import { parseProject, readProject, slugOf } from "../../../src/core/project/read_project.ts";
import { scratchDir } from "../../support/scratch_dir.ts";
import { DIR, FILE, issuesOf, problems, projectOf } from "./project_text.ts";
import fc from "../../support/fast_check.ts";

test("K-034 the project of the contract is read whole, agents in tree order", async () => {
  const { id, dir, file, agents, warnings } = await projectOf(`id: music                      # optional
primary:
  model: large
  plugins:
    memory:                    # key; the plugin's own name comes from its manifest
      package: "@kaged/memory-markdown"
      source: ./plugins/memory # optional; ./path, https://…, git+https://…
      version: ^0.1            # optional
      isolation: project
      hooks: [on_session_start, PreCompact]
      config: { tags: [project] }
  tools: { "memory-markdown.recall": { enabled: false }, file.read: { paths: [a] } }
  compaction: { strategy: drop, delegate: { plugin: memory }, target_tokens: 50000, keep_last: 4 }
  subagents:
    researcher: { plugins: { memory: { hooks: [], config: { tags: [research] } } }, subagents: { clerk: } }
    writer: {}
`);
  assert.deepEqual({ id, dir, file, warnings }, { id: "music", dir: DIR, file: FILE, warnings: [] });
  const compaction = { strategy: "drop", delegate: null, target_tokens: null, target_messages: null, keep_last: 4 };
  assert.deepEqual(agents, [
    {
      path: "primary",
      parent: null,
      plugins: [{
        key: "memory",
        package: "@kaged/memory-markdown",
        source: "./plugins/memory",
        version: "^0.1",
        isolation: "project",
        hooks: ["on_session_start", "pre_compact"],
        config: { tags: ["project"] },
        at: { line: 5, column: 5, path: "primary.plugins.memory" },
      }],
      tools: { "memory-markdown.recall": { enabled: false }, "file.read": { enabled: true } },
      approvals: {},
      compaction: { ...compaction, delegate: "memory", target_tokens: 50000 },
      rest: { model: "large" },
    },
    {
      path: "primary.subagents.researcher",
      parent: "primary",
      plugins: [{
        key: "memory",
        hooks: [],
        config: { tags: ["research"] },
        at: { line: 15, column: 30, path: "primary.subagents.researcher.plugins.memory" },
      }],
      tools: {},
      approvals: {},
      compaction,
      rest: {},
    },
    {
      path: "primary.subagents.researcher.subagents.clerk",
      parent: "primary.subagents.researcher",
      plugins: [],
      tools: {},
      approvals: {},
      compaction,
      rest: {},
    },
    {
      path: "primary.subagents.writer",
      parent: "primary",
      plugins: [],
      tools: {},
      approvals: {},
      compaction,
      rest: {},
    },
  ]);
});

test("K-066 what the documents foreclose is refused with where it goes", async () => {
  const cases: [string, string, RegExp][] = [
    ["plugins: {}\nprimary: {}", "project.misplaced_key 1:1 plugins", /primary: plugins:/],
    ["memory: x\nprimary: {}", "project.misplaced_key 1:1 memory", /Memory is a plugin/],
    ["primary:\n  memory: {}", "project.misplaced_key 2:3 primary.memory", /Memory is a plugin/],
    [
      "primary:\n  subagents:\n    a:\n      memory: {}",
      "project.misplaced_key 4:7 primary.subagents.a.memory",
      /Memory is a plugin/,
    ],
    ["primary:\n  plugin_hooks: {}", "project.misplaced_key 2:3 primary.plugin_hooks", /hooks:/],
    ["primary: {}\nsubagents: {}", "project.misplaced_key 2:1 subagents", /primary: subagents:/],
    ["primary: {}\ntools: {}", "project.misplaced_key 2:1 tools", /primary: tools:/],
  ];
  for (const [text, expected, hint] of cases) {
    assert.deepEqual(await problems(text), [expected]);
    assert.match((await issuesOf(text))[0]?.hint ?? "", hint);
  }
});

test("every rule of a project file has its issue, at its place", async () => {
  const cases: [string, string][] = [
    ["[]", "project.not_a_map 1:1"],
    ["", "project.not_a_map 1:1"],
    ["id: a", "project.missing_field 1:1"],
    ["id: Music\nprimary: {}", "project.invalid_id 1:5 id"],
    [`id: ${"a".repeat(65)}\nprimary: {}`, "project.invalid_id 1:5 id"],
    ["id: 7\nprimary: {}", "project.wrong_type 1:5 id"],
    ["primary: {}\ncolour: red", "project.unknown_key 2:1 colour"],
    ["primary: []", "project.wrong_type 1:10 primary"],
    ["primary:\n  plugins: [a]", "project.wrong_type 2:12 primary.plugins"],
    ["primary:\n  plugins: a", "project.wrong_type 2:12 primary.plugins"],
    ["primary:\n  plugins: { m: a }", "project.wrong_type 2:17 primary.plugins.m"],
    ["primary:\n  plugins: { a.b: {} }", 'project.invalid_plugin_key 2:14 primary.plugins["a.b"]'],
    ["primary:\n  plugins: { m: { pakage: a } }", "project.unknown_key 2:19 primary.plugins.m.pakage"],
    ["primary:\n  plugins: { m: { package: A } }", "project.invalid_package 2:28 primary.plugins.m.package"],
    ["primary:\n  plugins: { m: { package: ../x } }", "project.invalid_package 2:28 primary.plugins.m.package"],
    ["primary:\n  plugins: { m: { package: [] } }", "project.wrong_type 2:28 primary.plugins.m.package"],
    ["primary:\n  plugins: { m: { source: /etc } }", "project.invalid_source 2:27 primary.plugins.m.source"],
    ["primary:\n  plugins: { m: { source: 'http://a' } }", "project.invalid_source 2:27 primary.plugins.m.source"],
    ["primary:\n  plugins: { m: { version: new } }", "project.invalid_version 2:28 primary.plugins.m.version"],
    ["primary:\n  plugins: { m: { version: 0.1 } }", "project.wrong_type 2:28 primary.plugins.m.version"],
    ["primary:\n  plugins: { m: { isolation: all } }", "project.invalid_value 2:30 primary.plugins.m.isolation"],
    ["primary:\n  plugins: { m: { hooks: pre_compact } }", "project.wrong_type 2:26 primary.plugins.m.hooks"],
    ["primary:\n  plugins: { m: { hooks: [on_lunch] } }", "project.unknown_hook 2:27 primary.plugins.m.hooks[0]"],
    ["primary:\n  plugins: { m: { config: [] } }", "project.wrong_type 2:27 primary.plugins.m.config"],
    ["primary:\n  tools: []", "project.wrong_type 2:10 primary.tools"],
    ["primary:\n  tools: { a.b: false }", 'project.wrong_type 2:17 primary.tools["a.b"]'],
    ["primary:\n  tools: { a.b: { enabled: no } }", 'project.wrong_type 2:28 primary.tools["a.b"].enabled'],
    ["primary:\n  tools: { a.b: { enable: false } }", 'project.unknown_key 2:19 primary.tools["a.b"].enable'],
    ["primary:\n  compaction: 3", "project.wrong_type 2:15 primary.compaction"],
    ["primary:\n  compaction: { strategy: drip }", "project.invalid_value 2:27 primary.compaction.strategy"],
    ["primary:\n  compaction: { keep_last: -1 }", "project.invalid_value 2:28 primary.compaction.keep_last"],
    ["primary:\n  compaction: { target_tokens: 0 }", "project.invalid_value 2:32 primary.compaction.target_tokens"],
    ["primary:\n  compaction: { delegate: memory }", "project.wrong_type 2:27 primary.compaction.delegate"],
    ["primary:\n  compaction: { delegate: {} }", "project.missing_field 2:27 primary.compaction.delegate.plugin"],
    ["primary:\n  compaction: { keep: 1 }", "project.unknown_key 2:17 primary.compaction.keep"],
    ["primary:\n  subagents: [a]", "project.wrong_type 2:14 primary.subagents"],
    ["primary:\n  subagents: { a.b: {} }", 'project.invalid_agent_name 2:16 primary.subagents["a.b"]'],
    ["primary:\n  subagents: { a/b: {} }", 'project.invalid_agent_name 2:16 primary.subagents["a/b"]'],
    ["primary:\n  subagents: { a: {}, a: {} }", "project.yaml_duplicate_key 2:23"],
    ["primary: {}\nprimary: {}", "project.yaml_duplicate_key 2:1"],
    ["primary: &a { x: *a }", "project.yaml_alias 1:18 primary.x"],
    ["primary: !x {}", "project.yaml_tag 1:13 primary"],
    ["primary: { __proto__: {} }", "project.forbidden_key 1:12 primary.__proto__"],
    ["primary: {}\n---\nprimary: {}", "project.yaml_documents 2:1"],
    ["primary: {", "project.yaml_syntax 1:11"],
  ];
  for (const [text, expected] of cases) assert.deepEqual(await problems(text), [expected], text);
});

test("all issues of a file are reported at once, in its order", async () => {
  const text =
    "id: A\nmemory: 1\nprimary:\n  plugins:\n    m: { package: X, hooks: [nope] }\n  compaction: { keep: 1 }\n";
  assert.deepEqual((await problems(text)).map((problem) => problem.split(" ")[0]), [
    "project.invalid_id",
    "project.misplaced_key",
    "project.invalid_package",
    "project.unknown_hook",
    "project.unknown_key",
  ]);
});

test("a key of an agent that looks like one of ours is carried, with a warning", async () => {
  const { agents, warnings } = await projectOf("primary:\n  plugin: { a: 1 }\n  cage: { net: [] }\n");
  assert.deepEqual(agents[0]?.rest, { plugin: { a: 1 }, cage: { net: [] } });
  assert.deepEqual(warnings.map(({ code, path, hint }) => [code, path, hint]), [
    ["project.carried_key", "primary.plugin", 'Did you mean "plugins"?'],
  ]);
});

test("anchors and notes have a place at the root: keys that start with x-", async () => {
  const { agents } = await projectOf("x-memory: &m { package: a }\nprimary: { plugins: { memory: *m } }\n");
  assert.equal(agents[0]?.plugins[0]?.package, "a");
});

test("the id of a project that names none is its folder's name as a slug, never a path", () => {
  const slugs = ["/a/My Music", "/a/Über-Größe", "/a/2048", "/a/…", "/", "/a/b/", `/${"x".repeat(90)}`, "/a/-b-"];
  assert.deepEqual(slugs.map(slugOf), [
    "my-music",
    "uber-gro-e",
    "project-2048",
    "project",
    "project",
    "b",
    "x".repeat(56),
    "b",
  ]);
});

test("any folder's name gives an id that is one", () => {
  fc.assert(fc.property(fc.string({ unit: "binary" }), (name) => {
    assert.match(slugOf(`/a/${name.replaceAll("/", "")}`), /^[a-z][a-z0-9-]{0,63}$/);
  }));
});

test("a folder without project.yaml, a folder in its place, a file of 10 MB and one that is no UTF-8 have errors of their own", async (t) => {
  const dir = await scratchDir(t);
  const { files } = await detectRuntime();
  const codeOf = async (): Promise<string> => {
    try {
      await readProject(dir, files);
      return "read";
    } catch (thrown) {
      if (!(thrown instanceof HostError)) throw thrown;
      const { issues = [] } = (thrown.data ?? {}) as { issues?: { code: string }[] };
      return issues[0]?.code ?? thrown.code;
    }
  };
  assert.equal(await codeOf(), "project.missing");
  const file = join(dir, "project.yaml");
  await writeFile(file, "primary: {}\n");
  assert.equal(await codeOf(), "read");
  await writeFile(file, `primary: {}\n# ${"x".repeat(10_000_000)}`);
  assert.equal(await codeOf(), "project.too_large");
  await writeFile(file, new Uint8Array([0x70, 0x3a, 0x20, 0xff, 0xfe]));
  assert.equal(await codeOf(), "project.not_utf8");
  await assert.rejects(readProject(file, files), { code: "project.missing" });
});

test("a bomb of aliases and a tower of brackets are refused", async () => {
  const levels = Array.from({ length: 9 }, (_, level) => {
    return `x-${level + 1}: &l${level + 1} [${Array(9).fill(`*l${level}`).join(", ")}]`;
  });
  const bomb = ["x-0: &l0 [lol]", ...levels, "primary: {}"].join("\n");
  assert.deepEqual((await issuesOf(bomb)).map(({ code }) => code), ["project.too_large"]);
  assert.deepEqual((await issuesOf(`primary: ${"[".repeat(10_000)}`)).map(({ code }) => code), ["project.too_deep"]);
});

test("any text is a project or an error with places", async () => {
  const word = fc.constantFrom(
    "primary",
    "plugins",
    "subagents",
    "tools",
    ":",
    " ",
    "\n",
    "  ",
    "- ",
    "{",
    "}",
    "&a",
    "*a",
    "x",
  );
  await fc.assert(fc.asyncProperty(fc.array(word, { maxLength: 40 }).map((words) => words.join("")), async (text) => {
    try {
      await parseProject(text, { dir: DIR });
    } catch (thrown) {
      if (!(thrown instanceof HostError)) throw thrown;
      assert.equal(thrown.code, "project.invalid");
    }
  }));
});
