import assert from "node:assert/strict";
import { test } from "node:test";
import { HOOK_NAMES } from "../../../src/core/contract/hook_names.ts";
import { doubts, issuesOf, manifestOf, manifestText, problems } from "./manifest_text.ts";

const tool = (name: string) => `{ name: ${name}, description: Does it, parameters_schema: { type: object } }`;

test("K-018 a plugin may subscribe to twelve hooks, and to no other", async () => {
  const { hooks } = await manifestOf(manifestText(`hooks: [${HOOK_NAMES.join(", ")}]`));
  assert.deepEqual(hooks, [
    ...["on_session_start", "on_session_idle", "pre_compact", "post_compact", "session_end", "user_prompt_submitted"],
    ...["pre_tool_use", "post_tool_use", "subagent_start", "subagent_stop", "on_error", "on_budget_exceeded"],
  ]);
  const [issue, other] = await issuesOf(manifestText("hooks: [on_sesion_start, before_tool_call]"));
  assert.deepEqual([issue?.code, issue?.line, issue?.column, issue?.path], ["manifest.unknown_hook", 7, 9, "hooks[0]"]);
  assert.equal(issue?.hint, 'Did you mean "on_session_start"?');
  assert.deepEqual([other?.code, other?.column, other?.path], ["manifest.unknown_hook", 26, "hooks[1]"]);
});

test("K-018 hooks by their portable names become the canonical ones", async () => {
  const { hooks } = await manifestOf(manifestText("hooks: [SessionStart, PreCompact, PostCompact, SessionEnd]"));
  assert.deepEqual(hooks, ["on_session_start", "pre_compact", "post_compact", "session_end"]);
});

test("K-025 a plugin with hooks is an observer unless it says otherwise", async () => {
  const rolesOf = async (more: string) => (await manifestOf(manifestText(more))).roles;
  assert.deepEqual(await rolesOf("hooks: [on_session_start]"), ["observer"]);
  assert.deepEqual(await rolesOf("hooks: []"), []);
  assert.deepEqual(await rolesOf("hooks: [pre_compact]\nroles: [compactor]"), ["compactor"]);
  assert.deepEqual(await rolesOf("hooks: [pre_compact]\nroles: [observer, compactor]"), ["observer", "compactor"]);
  assert.deepEqual(await rolesOf("hooks: [pre_compact]\nroles: []"), []);
});

test("X-07 a single role is taken, and not beside roles", async () => {
  const { roles } = await manifestOf(manifestText("role: compactor\nhooks: [PreCompact]"));
  assert.deepEqual(roles, ["compactor"]);
  assert.deepEqual(await problems(manifestText("role: observer\nroles: [observer]")), [
    "manifest.role_and_roles 7:1 role",
  ]);
  assert.deepEqual(await problems(manifestText("roles: [observer, critic]")), ["manifest.unknown_role 7:19 roles[1]"]);
});

test("K-025 a compactor subscribes to pre_compact", async () => {
  const code = "manifest.compactor_without_hook";
  assert.deepEqual(await problems(manifestText("roles: [observer, compactor]")), [`${code} 7:19 roles[1]`]);
  assert.deepEqual(await problems(manifestText("role: compactor\nhooks: [post_compact]")), [`${code} 7:7 role`]);
});

test("K-029 a tool has a short lowercase name, a description and a schema of an object", async () => {
  const more = `tools:
  - { name: Find, description: Finds, parameters_schema: { type: object } }
  - { name: notes.find, description: " ", parameters_schema: { type: array } }
  - { name: find, description: Finds, parameters_schema: {} }
  - { name: list, description: Lists, parameters_schema: { type: object, properties: [] } }
  - { name: drop, description: Drops, parameters_schema: { type: object, properties: { a: 1, b: true } } }`;
  assert.deepEqual(await problems(manifestText(more)), [
    "manifest.invalid_tool_name 8:13 tools[0].name",
    "manifest.invalid_tool_name 9:13 tools[1].name",
    "manifest.invalid_tool_description 9:38 tools[1].description",
    "manifest.schema_not_object 9:70 tools[1].parameters_schema.type",
    "manifest.missing_field 10:58 tools[2].parameters_schema.type",
    "manifest.invalid_schema 11:86 tools[3].parameters_schema.properties",
    "manifest.invalid_schema 12:91 tools[4].parameters_schema.properties.a",
  ]);
});

test("K-029 two tools of one name are refused, for neither could be the right one", async () => {
  const text = manifestText(`tools:\n  - ${tool("find")}\n  - ${tool("find")}`);
  assert.deepEqual(await problems(text), ["manifest.duplicate_tool 9:13 tools[1].name"]);
});

test("X-14 a plugin with tools has a name of two characters or more", async () => {
  assert.deepEqual(await problems(manifestText("", { name: "n" })), []);
  const text = manifestText(`tools: [${tool("find")}]`, { name: "n" });
  assert.deepEqual(await problems(text), ["manifest.short_tool_owner 1:7 name"]);
});

test("a tool whose full name is a method's is refused", async () => {
  const declared = manifestText(`methods: [notes.find]\ntools: [${tool("find")}, ${tool("list")}]`);
  assert.deepEqual(await problems(declared), ["manifest.taken_tool_name 8:17 tools[0].name"]);
  const systems = [["config", "update"], ["projects", "activated"], ["projects", "deactivated"], ["system", "cancel"]];
  for (const [name, method] of systems) {
    const text = manifestText(`tools: [${tool(method!)}]`, { name: name! });
    assert.deepEqual(await problems(text), ["manifest.taken_tool_name 7:17 tools[0].name"], `${name}.${method}`);
  }
});

test("K-030 a plugin named like a group of built-in tools gets a warning", async () => {
  for (const name of ["file", "search", "code", "debug", "shell", "kaged"]) {
    assert.deepEqual(await doubts(manifestText("", { name })), ["manifest.builtin_name 1:7 name"]);
  }
  assert.deepEqual(await doubts(manifestText()), []);
});

test("what is said twice counts once, with a warning", async () => {
  const text = manifestText(
    "hooks: [pre_compact, PreCompact]\nroles: [observer, observer]\nmethods: [a.b, a.b]\nnotifications: [c.d, c.d]",
    { capabilities: '["read:fs:/opt", "read:fs:/opt/", net: [], net: []]' },
  );
  assert.deepEqual(await doubts(text), [
    "manifest.duplicate_entry 6:32 capabilities[1]",
    "manifest.duplicate_entry 6:58 capabilities[3]",
    "manifest.duplicate_entry 7:22 hooks[1]",
    "manifest.duplicate_entry 8:19 roles[1]",
    "manifest.duplicate_entry 9:16 methods[1]",
    "manifest.duplicate_entry 10:22 notifications[1]",
  ]);
  const { hooks, roles, methods, notifications, capabilities } = await manifestOf(text);
  assert.deepEqual({ hooks, roles, methods, notifications, capabilities }, {
    hooks: ["pre_compact"],
    roles: ["observer"],
    methods: ["a.b"],
    notifications: ["c.d"],
    capabilities: ["read:fs:/opt", "net:[]"],
  });
});

test("K-043 every capability is checked, and comes out canonical", async () => {
  const listed = "\n  - net: []\n  - read:fs:config://memory/\n  - kaged:storage:write";
  const { capabilities } = await manifestOf(manifestText("", { capabilities: listed }));
  assert.deepEqual(capabilities, ["net:[]", "read:fs:config:/memory", "kaged:storage:write"]);
  const hosts = '\n  - net: ["A.example:1", "b.example:*"]';
  const unfolded = await manifestOf(manifestText("", { capabilities: hosts }));
  assert.deepEqual(unfolded.capabilities, ["net:a.example:1", "net:b.example:*"]);
  const wrong = `
  - read:fs:/a/../b
  - net: api.example.com:443
  - net: ["a.example:1", "127.1:80", 3]
  - 7
  -
  - red:fs:/x`;
  assert.deepEqual(await problems(manifestText("", { capabilities: wrong })), [
    "capability.parent_path 7:5 capabilities[0]",
    "capability.invalid 8:5 capabilities[1]",
    "capability.invalid_host 9:26 capabilities[2].net[1]",
    "capability.invalid 9:38 capabilities[2].net[2]",
    "capability.invalid 10:5 capabilities[3]",
    "capability.invalid 11:4 capabilities[4]",
    "capability.unknown 12:5 capabilities[5]",
  ]);
  assert.deepEqual(await problems(manifestText("", { capabilities: "none" })), [
    "manifest.wrong_type 6:15 capabilities",
  ]);
});

test("X-02 net:[] beside another network grant is refused", async () => {
  for (const other of ["net:*", "net:example.com:443", '{ net: ["example.com:443"] }']) {
    const text = manifestText("", { capabilities: `\n  - ${other}\n  - net: []` });
    assert.deepEqual(await problems(text), ["capability.net_contradiction 8:5 capabilities[1]"], other);
  }
});

test("K-033 a config field belongs to the project or to the operator", async () => {
  const more = `config_schema: { type: object, properties: { url: {}, token: {} } }
system_config_schema: { type: object, properties: { token: {}, key: {} } }`;
  const at = "8:53 system_config_schema.properties.token";
  assert.deepEqual(await problems(manifestText(more)), [`manifest.shared_config_field ${at}`]);
});

test("X-13 a field of the operator's config is not named like the install record's", async () => {
  const names = ["installed", "version", "hash", "local", "enabled", "package"];
  const fields = names.map((name) => `    ${name}: {}`).join("\n");
  const text = (schema: string) => manifestText(`${schema}:\n  type: object\n  properties:\n${fields}`);
  const expected = names.map((name, index) =>
    `manifest.reserved_config_field ${10 + index}:5 system_config_schema.properties.${name}`
  );
  assert.deepEqual(await problems(text("system_config_schema")), expected);
  assert.deepEqual(await problems(text("config_schema")), []);
});

test("K-033 config schemas describe objects", async () => {
  const more = "config_schema: { type: string }\nsystem_config_schema: { properties: x, type: [object] }";
  assert.deepEqual(await problems(manifestText(more)), [
    "manifest.schema_not_object 7:24 config_schema.type",
    "manifest.invalid_schema 8:37 system_config_schema.properties",
    "manifest.schema_not_object 8:46 system_config_schema.type",
  ]);
});
