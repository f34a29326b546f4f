import assert from "node:assert/strict";
import { test } from "node:test";
import { issuesOf, manifestOf, manifestText, problems } from "./manifest_text.ts";

/** Checks that each value of a field breaks one rule, where it stands. */
async function assertRefused(field: string, at: string, values: Readonly<Record<string, string>>): Promise<void> {
  for (const [value, code] of Object.entries(values)) {
    const issues = await problems(manifestText("", { [field]: value }));
    assert.deepEqual(issues, [`${code} ${at} ${field}`], `${field}: ${value}`);
  }
}

test("K-040 K-041 a manifest with only what is required gets every default", async () => {
  assert.deepEqual(await manifestOf(manifestText()), {
    name: "notes",
    version: "0.1.0",
    kaged_api: 1,
    description: "Keeps notes",
    command: ["js", "./notes.js"],
    env: {},
    capabilities: [],
    roles: [],
    hooks: [],
    tools: [],
    methods: [],
    notifications: [],
    knobs: {},
    shutdown_timeout_sec: 5,
    health_interval_sec: 30,
    hook_timeout_sec: 10,
  });
});

test("K-040 every missing field is named at once", async () => {
  assert.deepEqual(await problems("author: me"), [
    "manifest.missing_field 1:1 name",
    "manifest.missing_field 1:1 version",
    "manifest.missing_field 1:1 kaged_api",
    "manifest.missing_field 1:1 description",
    "manifest.missing_field 1:1 command",
    "manifest.missing_field 1:1 capabilities",
  ]);
  assert.deepEqual(await problems(manifestText("tools:\n  - name: find")), [
    "manifest.missing_field 8:5 tools[0].description",
    "manifest.missing_field 8:5 tools[0].parameters_schema",
  ]);
});

test("K-040 a name is a slug of at most 64 characters", async () => {
  const wrong = [
    "Notes",
    "1notes",
    "-notes",
    "no_tes",
    "no.tes",
    '"notes "',
    '"notes\\n"',
    '""',
    "n".repeat(65),
    "nötes",
  ];
  await assertRefused("name", "1:7", Object.fromEntries(wrong.map((name) => [name, "manifest.invalid_name"])));
  for (const name of ["n", "oh-my-pi", "n1-", "n".repeat(64)]) {
    assert.equal((await manifestOf(manifestText("", { name }))).name, name);
  }
});

test("K-040 a version is SemVer", async () => {
  const invalid = "manifest.invalid_version";
  const wrong = { "v1.0.0": invalid, "1.0.0.0": invalid, latest: invalid, "99999999999999999999.0.0": invalid };
  await assertRefused("version", "2:10", { ...wrong, "1.0": "manifest.wrong_type" });
  const [issue] = await issuesOf(manifestText("", { version: "1.0" }));
  assert.deepEqual([issue?.message, issue?.hint], ["Expected a text, got a number", "Put it in quotes"]);
});

test("K-040 an API version above the host's own is refused", async () => {
  const unsupported = "manifest.unsupported_api";
  const wrong = { "2": unsupported, "0": unsupported, "1.5": unsupported, "-1": unsupported };
  const [issue] = await issuesOf(manifestText("", { kaged_api: "2" }));
  assert.equal(issue?.hint, "Write kaged_api: 1");
  await assertRefused("kaged_api", "3:12", { ...wrong, '"1"': "manifest.wrong_type", "[1]": "manifest.wrong_type" });
});

test("K-040 a description is one line of at most 200 characters", async () => {
  const wrong = ['"two\\nlines"', '""', '" "', "d".repeat(201), '"bell\\a"', '"turned \\u202e round"'];
  const refused = Object.fromEntries(wrong.map((text) => [text, "manifest.invalid_description"]));
  await assertRefused("description", "4:14", refused);
  const folded = await manifestOf(manifestText("", { description: ">\n  Keeps\n  notes\n" }));
  assert.equal(folded.description, "Keeps notes");
  const longest = await manifestOf(manifestText("", { description: `|\n  ${"d".repeat(200)}\n\n` }));
  assert.equal(longest.description, "d".repeat(200));
});

test("K-041 author, license and homepage are what they say", async () => {
  const text = manifestText('author: "a\\nb"\nlicense: MIT License\nhomepage: javascript:alert(1)');
  assert.deepEqual(await problems(text), [
    "manifest.invalid_author 7:9 author",
    "manifest.invalid_license 8:10 license",
    "manifest.invalid_homepage 9:11 homepage",
  ]);
  const more =
    "author: Ann O'Nym <a@example.com>\nlicense: (MIT OR Apache-2.0) AND BSD-3-Clause\nhomepage: https://example.com/a?b#c";
  const { author, license, homepage } = await manifestOf(manifestText(more));
  assert.deepEqual([author, license, homepage], [
    "Ann O'Nym <a@example.com>",
    "(MIT OR Apache-2.0) AND BSD-3-Clause",
    "https://example.com/a?b#c",
  ]);
});

test("K-040 a command is a program and its arguments", async () => {
  const invalid = "manifest.invalid_command";
  await assertRefused("command", "5:10", { "[]": invalid, '[""]': invalid, "./run.sh": "manifest.wrong_type" });
  assert.deepEqual(await problems(manifestText("", { command: '[sh, "a\\0b", 8080]' })), [
    "manifest.invalid_command 5:15 command[1]",
    "manifest.wrong_type 5:23 command[2]",
  ]);
});

test("K-040 a program given by a relative path stays inside the plugin's folder", async () => {
  for (const program of ["../run.sh", "./../run.sh", "bin/../../run.sh", "./a/./../../a"]) {
    const issues = await problems(manifestText("", { command: `[${program}]` }));
    assert.deepEqual(issues, ["manifest.outside_command 5:11 command[0]"], program);
  }
  assert.deepEqual(await problems(manifestText("", { command: "[8080]" })), ["manifest.wrong_type 5:11 command[0]"]);
  for (const program of ["/../bin/x", "./a/../run.sh", "bin/run..sh", "/usr/bin/env", "js", "..run"]) {
    assert.deepEqual(await problems(manifestText("", { command: `[${program}, ../data]` })), [], program);
  }
});

test("K-047 env sets strings, and neither the host's own variables nor the loader's", async () => {
  const more = `env:
  LD_PRELOAD: /x.so
  LD_: x
  KAGED_PLUGIN_NAME: other
  KAGED_PLUGIN_DIR: /
  KAGED_API_VERSION: "2"
  1A: x
  A-B: x
  "": x
  PORT: 8080
  NUL: "\\0"
  EMPTY:`;
  assert.deepEqual(await problems(manifestText(more)), [
    "manifest.forbidden_env_name 8:3 env.LD_PRELOAD",
    "manifest.forbidden_env_name 9:3 env.LD_",
    "manifest.reserved_env_name 10:3 env.KAGED_PLUGIN_NAME",
    "manifest.reserved_env_name 11:3 env.KAGED_PLUGIN_DIR",
    "manifest.reserved_env_name 12:3 env.KAGED_API_VERSION",
    'manifest.invalid_env_name 13:3 env["1A"]',
    "manifest.invalid_env_name 14:3 env.A-B",
    'manifest.invalid_env_name 15:3 env[""]',
    "manifest.wrong_type 16:9 env.PORT",
    "manifest.invalid_env_value 17:8 env.NUL",
    "manifest.wrong_type 18:3 env.EMPTY",
  ]);
  const { env } = await manifestOf(manifestText("env: { KAGED_LOG_LEVEL: debug, PATH: /x, _a: '' }"));
  assert.deepEqual(env, { KAGED_LOG_LEVEL: "debug", PATH: "/x", _a: "" });
});

test("texts and lists have bounds", async () => {
  const texts: [string, (length: number) => string, number][] = [
    ["author", (length) => "a".repeat(length), 200],
    ["license", (length) => "M".repeat(length), 100],
    ["homepage", (length) => "https://".padEnd(length, "a"), 2048],
    ["command", (length) => `[${Array(length).fill("x").join(",")}]`, 256],
  ];
  for (const [field, make, max] of texts) {
    assert.deepEqual(await problems(manifestText("", { [field]: make(max) })), [], field);
    const codes = (await issuesOf(manifestText("", { [field]: make(max + 1) }))).map(({ code }) => code);
    assert.deepEqual(codes, [`manifest.invalid_${field}`]);
  }
  const tool = (length: number) =>
    manifestText(`tools: [{ name: ${"t".repeat(length)}, description: D, parameters_schema: { type: object } }]`);
  assert.deepEqual(await problems(tool(64)), []);
  assert.deepEqual(await problems(tool(65)), ["manifest.invalid_tool_name 7:17 tools[0].name"]);
});

test("K-041 times have bounds", async () => {
  const bounds: [string, number, number][] = [
    ["shutdown_timeout_sec", 0, 30],
    ["health_interval_sec", 5, 300],
    ["hook_timeout_sec", 1, 60],
  ];
  for (const [field, min, max] of bounds) {
    const column = field.length + 3;
    for (const value of [min - 1, max + 1, min + 0.5]) {
      const issues = await problems(manifestText(`${field}: ${value}`));
      assert.deepEqual(issues, [`manifest.out_of_range 7:${column} ${field}`], `${field}: ${value}`);
    }
    for (const value of [min, max]) assert.deepEqual(await problems(manifestText(`${field}: ${value}`)), []);
  }
  const [issue] = await issuesOf(manifestText("hook_timeout_sec: 61"));
  assert.equal(issue?.hint, "Use at most 60");
});

test("every unknown key is reported with the key it may have meant", async () => {
  const more = "desciption: x\ntool: []\ncolour: red\nconstructor: x\ntools:\n  - nmae: find";
  const issues = await issuesOf(manifestText(more));
  const unknown = issues.filter(({ code }) => code === "manifest.unknown_key");
  assert.deepEqual(unknown.map(({ path, line, column, hint }) => [path, `${line}:${column}`, hint?.slice(0, 26)]), [
    ["desciption", "7:1", 'Did you mean "description"'],
    ["tool", "8:1", 'Did you mean "tools"?'],
    ["colour", "9:1", "Keys here: name, version, "],
    ["constructor", "10:1", "Keys here: name, version, "],
    ["tools[0].nmae", "12:5", 'Did you mean "name"?'],
  ]);
});

test("a value of the wrong type is reported where it stands", async () => {
  const more = `env: [a]
roles: observer
hooks: { a: b }
tools: [find, []]
methods: [1]
config_schema: []
knobs: { a: [], b: x }
author:`;
  assert.deepEqual(await problems(manifestText(more)), [
    "manifest.wrong_type 7:6 env",
    "manifest.wrong_type 8:8 roles",
    "manifest.wrong_type 9:8 hooks",
    "manifest.wrong_type 10:9 tools[0]",
    "manifest.wrong_type 10:15 tools[1]",
    "manifest.wrong_type 11:11 methods[0]",
    "manifest.wrong_type 12:16 config_schema",
    "manifest.wrong_type 13:13 knobs.a",
    "manifest.wrong_type 13:20 knobs.b",
    "manifest.wrong_type 14:1 author",
  ]);
});

test("K-012 methods and notifications have 2 to 4 lowercase segments, none of them the host's", async () => {
  const valid = ["presets.list", "a.b.c.d", "a1_.b_2"];
  const invalid = ["list", "a.b.c.d.e", "Presets.list", "presets.", ".list", "a..b", "1a.b", "a.1b", "a-b.c", "a.b "];
  const reserved = ["kaged.storage", "system.cancel", "config.update", "projects.activated", "projects.deactivated"];
  for (const field of ["methods", "notifications"]) {
    const names = [...invalid, ...reserved];
    const issues = await issuesOf(manifestText(`${field}:\n${names.map((name) => `  - "${name}"`).join("\n")}`));
    assert.deepEqual(issues.map(({ code, line, path }) => `${code} ${line} ${path}`), [
      ...invalid.map((_, index) => `manifest.invalid_method_name ${8 + index} ${field}[${index}]`),
      ...reserved.map((_, index) =>
        `manifest.reserved_method_name ${8 + invalid.length + index} ${field}[${invalid.length + index}]`
      ),
    ]);
    assert.deepEqual(await problems(manifestText(`${field}: [${valid.join(", ")}, config.updated]`)), []);
  }
});
