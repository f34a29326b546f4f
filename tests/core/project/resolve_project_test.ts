import assert from "node:assert/strict";
import { test } from "node:test";
import type { HostError } from "../../../src/core/errors/host_error.ts";
import { FILE, manifestOf, pluginOf, refusalsOf, resolve, warningsOf } from "./project_text.ts";

const ALL_HOOKS = "[on_session_start, on_session_idle, pre_compact, post_compact]";
const TOOLS = `tools:
  - { name: retain, description: Stores, parameters_schema: { type: object } }
  - { name: recall, description: Finds, parameters_schema: { type: object } }`;

const hindsight = await manifestOf(
  "memory-hindsight",
  `hooks: ${ALL_HOOKS}
${TOOLS}
config_schema:
  type: object
  properties:
    api_url: { type: string, default: "https://api.hindsight.vectorize.io" }
    recall_budget: { type: string, enum: [low, mid, high], default: mid }
    tags: { type: array, items: { type: string } }
  additionalProperties: false
system_config_schema:
  type: object
  properties: { api_token: { type: string } }
  required: [api_token]
  additionalProperties: false
`,
);
const markdown = await manifestOf(
  "memory-markdown",
  `hooks: ${ALL_HOOKS}
${TOOLS}
config_schema:
  type: object
  properties:
    isolation: { type: string, enum: [agent, project], default: agent }
    store: { type: string, default: "config:/memory" }
    tags: { type: array, items: { type: string } }
  additionalProperties: false
`,
);
const compactor = await manifestOf("smart-compactor", "roles: [compactor]\nhooks: [pre_compact]\n");
const plain = await manifestOf("notes", `hooks: ${ALL_HOOKS}\n`);

const LOCAL_TOML = '[plugins."@kaged/memory-hindsight"]\napi_token = "${KAGED_HINDSIGHT_TOKEN}"\n';
const HINDSIGHT = {
  plugins: { "@kaged/memory-hindsight": hindsight },
  local: LOCAL_TOML,
  env: { KAGED_HINDSIGHT_TOKEN: "tok_1" },
};
const MARKDOWN = { plugins: { "@kaged/memory-markdown": markdown } };

const CASCADE = `primary:
  plugins:
    memory:
      package: "@kaged/memory-hindsight"
      isolation: project
      hooks:
        - on_session_start
        - on_session_idle
        - pre_compact
        - post_compact
      config:
        recall_budget: mid
        tags: [primary]

  subagents:
    researcher:
      plugins:
        memory:
          # package + isolation inherited from primary's declaration
          hooks: [ on_session_idle ]
          config:
            tags: [researcher]
    bystander: {}
`;

test("K-035 K-036 X-12 the document's cascade: a subagent's block overrides the primary's, field by field", async () => {
  const resolved = await resolve(CASCADE, HINDSIGHT);
  assert.deepEqual(refusalsOf(resolved), []);
  const { manifest: _m, dir: _d, ...primary } = pluginOf(resolved, "primary", "memory")!;
  const base = { recall_budget: "mid", api_url: "https://api.hindsight.vectorize.io" };
  assert.deepEqual(primary, {
    key: "memory",
    package: "@kaged/memory-hindsight",
    plugin: "memory-hindsight",
    isolation: "project",
    instance: "memory-hindsight@my-music",
    hooks: ["on_session_start", "on_session_idle", "pre_compact", "post_compact"],
    illegalHooks: [],
    tools: ["memory-hindsight.retain", "memory-hindsight.recall"],
    toolsOff: [],
    config: { ...base, tags: ["primary"], api_token: "tok_1" },
    shownConfig: { ...base, tags: ["primary"], api_token: "‹set by operator›" },
    override: null,
  });
  const { manifest: _n, dir: _e, ...researcher } = pluginOf(resolved, "primary.subagents.researcher", "memory")!;
  assert.deepEqual(researcher, {
    ...primary,
    hooks: [],
    illegalHooks: ["on_session_idle"],
    config: { ...base, tags: ["researcher"], api_token: "tok_1" },
    shownConfig: { ...base, tags: ["researcher"], api_token: "‹set by operator›" },
    override: { tags: ["researcher"] },
  });
  assert.deepEqual(resolved.instances.map(({ manifest: _, ...instance }) => instance), [{
    instance: "memory-hindsight@my-music",
    package: "@kaged/memory-hindsight",
    plugin: "memory-hindsight",
    dir: "/plugins/memory-hindsight",
    config: primary.config,
    agents: ["primary", "primary.subagents.researcher"],
  }]);
});

test("K-034 K-035 an agent that does not declare a plugin has no part in it", async () => {
  const resolved = await resolve(CASCADE, HINDSIGHT);
  assert.deepEqual(resolved.agents.map(({ path, plugins }) => [path, plugins.length]), [
    ["primary", 1],
    ["primary.subagents.researcher", 1],
    ["primary.subagents.bystander", 0],
  ]);
});

test("K-022 a primary-only hook that a subagent lists is warned of and never fires; one it inherits is no slip", async () => {
  const resolved = await resolve(CASCADE, HINDSIGHT);
  assert.deepEqual(warningsOf(resolved), [
    "project.hook_illegal 20:18 primary.subagents.researcher.plugins.memory.hooks",
  ]);
  const inherited = await resolve(CASCADE.replace("          hooks: [ on_session_idle ]\n", ""), HINDSIGHT);
  const plugin = pluginOf(inherited, "primary.subagents.researcher", "memory");
  assert.deepEqual([plugin?.hooks, plugin?.illegalHooks], [["pre_compact", "post_compact"], []]);
  assert.deepEqual(inherited.warnings, []);
});

test("K-035 isolation agent: declarations are their own, one instance for each agent", async () => {
  const text = `primary:
  plugins: { memory: { package: "@kaged/memory-markdown", config: { tags: [project] } } }
  subagents:
    a: { plugins: { memory: { package: "@kaged/memory-markdown" } } }
    b: { plugins: { memory: { hooks: [] } } }
`;
  const resolved = await resolve(text, MARKDOWN);
  assert.deepEqual(resolved.instances.map(({ instance, agents }) => [instance, agents]), [
    ["memory-markdown@my-music/primary", ["primary"]],
    ["memory-markdown@my-music/primary.subagents.a", ["primary.subagents.a"]],
  ]);
  assert.deepEqual(pluginOf(resolved, "primary.subagents.a", "memory")?.config, {
    store: "config:/memory",
    isolation: "agent",
  });
  assert.deepEqual(refusalsOf(resolved), ["primary.subagents.b/memory project.missing_package"]);
  assert.match(resolved.refusals[0]!.error.hint ?? "", /isolation: project at primary\.plugins\.memory/);
});

test("K-036 hooks are inherited with the rest, and an empty list is an override", async () => {
  const text = `primary:
  plugins: { memory: { package: "@kaged/memory-markdown", isolation: project, hooks: [pre_compact, on_session_idle] } }
  subagents: { a: { plugins: { memory: } }, b: { plugins: { memory: { hooks: [] } } } }
`;
  const resolved = await resolve(text, MARKDOWN);
  assert.deepEqual(resolved.agents.map(({ plugins }) => plugins[0]?.hooks), [
    ["on_session_idle", "pre_compact"],
    ["pre_compact"],
    [],
  ]);
});

test("K-036 package and isolation cannot be overridden; to say them again is no override", async () => {
  const declare = (fields: string) =>
    resolve(
      `primary:
  plugins: { memory: { package: "@kaged/memory-markdown", isolation: project } }
  subagents: { a: { plugins: { memory: ${fields} } } }
`,
      { plugins: { ...MARKDOWN.plugins, "@x/notes": plain } },
    );
  const refused = async (fields: string) => {
    const { refusals } = await declare(fields);
    const data = refusals[0]?.error.data as { field: string; base: string };
    return [refusals.length, refusals[0]?.agent, refusals[0]?.error.code, data?.field, data?.base];
  };
  const forbidden = [1, "primary.subagents.a", "project.forbidden_override"];
  assert.deepEqual(await refused('{ package: "@x/notes" }'), [...forbidden, "package", "primary"]);
  assert.deepEqual(await refused("{ isolation: agent }"), [...forbidden, "isolation", "primary"]);
  const same = await declare('{ package: "@kaged/memory-markdown", isolation: project }');
  assert.deepEqual([refusalsOf(same), same.instances[0]?.agents], [[], ["primary", "primary.subagents.a"]]);
});

test("K-036 a subagent cannot share what the primary has for itself", async () => {
  const text = `primary:
  plugins: { memory: { package: "@kaged/memory-markdown" } }
  subagents: { a: { plugins: { memory: { package: "@kaged/memory-markdown", isolation: project } } } }
`;
  assert.deepEqual(refusalsOf(await resolve(text, MARKDOWN)), [
    "primary.subagents.a/memory project.forbidden_override",
  ]);
});

test("X-12 without the primary the base is the first in tree order that names the package", async () => {
  const text = `primary:
  subagents:
    a: { plugins: { memory: { config: { tags: [a] } } } }
    b: { plugins: { memory: { package: "@kaged/memory-markdown", isolation: project, config: { store: "config:/b" } } } }
`;
  const resolved = await resolve(text, MARKDOWN);
  assert.deepEqual(refusalsOf(resolved), []);
  assert.deepEqual(resolved.instances.map(({ instance, config, agents }) => [instance, config, agents]), [[
    "memory-markdown@my-music",
    { store: "config:/b", isolation: "project" },
    ["primary.subagents.a", "primary.subagents.b"],
  ]]);
  assert.deepEqual(pluginOf(resolved, "primary.subagents.a", "memory")?.override, { tags: ["a"] });
});

test("K-036 the primary's declaration is the base and must name its package", async () => {
  const text = `primary:
  plugins: { memory: { isolation: project } }
  subagents: { a: { plugins: { memory: { package: "@kaged/memory-markdown" } } } }
`;
  assert.deepEqual(refusalsOf(await resolve(text, MARKDOWN)), [
    "primary/memory project.missing_package",
    "primary.subagents.a/memory project.base_refused",
  ]);
});

test("K-036 what a base is refused for refuses those who share it", async () => {
  const resolved = await resolve(CASCADE.replace("recall_budget: mid", "recall_budget: huge"), HINDSIGHT);
  assert.deepEqual(refusalsOf(resolved), [
    "primary/memory project.config_invalid",
    "primary.subagents.researcher/memory project.base_refused",
  ]);
  assert.deepEqual(resolved.refusals.map(({ instance }) => instance), [
    "memory-hindsight@my-music",
    "memory-hindsight@my-music",
  ]);
  assert.deepEqual(resolved.instances, []);
});

test("X-12 the declaration's isolation is mirrored into config, and config cannot contradict it", async () => {
  const declare = (fields: string) =>
    resolve(`primary: { plugins: { memory: { package: "@kaged/memory-markdown", ${fields} } } }`, MARKDOWN);
  const mirrored = await declare("isolation: project");
  assert.equal(pluginOf(mirrored, "primary", "memory")?.config.isolation, "project");
  const agreed = await declare("isolation: project, config: { isolation: project }");
  assert.equal(pluginOf(agreed, "primary", "memory")?.config.isolation, "project");
  for (const fields of ["isolation: project, config: { isolation: agent }", "config: { isolation: project }"]) {
    assert.deepEqual(refusalsOf(await declare(fields)), ["primary/memory project.isolation_contradiction"], fields);
  }
  // A plugin without the field gets none.
  const bare = await resolve("primary: { plugins: { n: { package: notes, isolation: project } } }", {
    plugins: { notes: plain },
  });
  assert.deepEqual(pluginOf(bare, "primary", "n")?.config, {});
});

test("X-14a an agent's hooks are among the manifest's; the error names both files", async () => {
  const some = await manifestOf("some", "hooks: [post_compact, pre_compact]\n");
  const declare = (fields: string) =>
    resolve(`primary: { plugins: { s: { package: some${fields} } } }`, { plugins: { some } });
  assert.deepEqual(pluginOf(await declare(""), "primary", "s")?.hooks, ["post_compact", "pre_compact"]);
  const listed = await declare(", hooks: [PreCompact, post_compact]");
  assert.deepEqual(pluginOf(listed, "primary", "s")?.hooks, ["post_compact", "pre_compact"]);
  assert.deepEqual(pluginOf(await declare(", hooks: []"), "primary", "s")?.hooks, []);
  const refused = await declare(", hooks: [pre_compact, on_session_start]");
  assert.deepEqual(refusalsOf(refused), ["primary/s project.hook_not_offered"]);
  const { message } = refused.refusals[0]!.error;
  assert.ok(message.startsWith(`${FILE}:1:`) && message.endsWith("/plugins/some/kaged-plugin.yaml"), message);
});

test("K-063 a version outside the range is refused", async () => {
  const declare = (range: string) =>
    resolve(`primary: { plugins: { n: { package: notes, version: "${range}" } } }`, { plugins: { notes: plain } });
  for (const range of ["^0.1", "0.1.x", ">=0.1.0 <1", "*"]) assert.deepEqual(refusalsOf(await declare(range)), []);
  const refused = await declare("^1.0");
  assert.deepEqual(refusalsOf(refused), ["primary/n project.version_mismatch"]);
  assert.match(refused.refusals[0]!.error.message, /Plugin "notes" has version 0\.1\.0, which is not in "\^1\.0"$/);
});

test("K-063 a shared plugin is in the range of everyone who shares it", async () => {
  const text = `primary:
  plugins: { n: { package: notes, isolation: project, version: ^0.1 } }
  subagents: { a: { plugins: { n: { version: ^2 } } } }
`;
  assert.deepEqual(refusalsOf(await resolve(text, { plugins: { notes: plain } })), [
    "primary.subagents.a/n project.version_mismatch",
  ]);
});

test("K-031 a plugin's tools are on for the agent that declares it, unless it opts out", async () => {
  const text = `primary:
  plugins: { memory: { package: "@kaged/memory-markdown" } }
  tools: { "memory-markdown.recall": { enabled: false }, "memory-markdown.retain": { enabled: true } }
`;
  const resolved = await resolve(text, MARKDOWN);
  assert.deepEqual(pluginOf(resolved, "primary", "memory")?.tools, ["memory-markdown.retain"]);
  assert.deepEqual(resolved.warnings, []);
});

test("a switch for a tool nobody has is warned of with the nearest name; built-in tools are left alone", async () => {
  const text = `primary:
  plugins: { memory: { package: "@kaged/memory-markdown" } }
  tools: { memory-markdown.recal: { enabled: false }, file.read: { enabled: false }, other.x: {} }
`;
  const { warnings } = await resolve(text, MARKDOWN);
  assert.deepEqual(warnings.map(({ code, path, line, hint }) => [code, path, line, hint]), [
    ["project.unknown_tool", 'primary.tools["memory-markdown.recal"]', 3, 'Did you mean "memory-markdown.recall"?'],
    [
      "project.unknown_tool",
      'primary.tools["other.x"]',
      3,
      "Tools of this agent: memory-markdown.retain, memory-markdown.recall",
    ],
  ]);
});

test("a pattern under tools: that no tool fits is warned of, unless a plugin's tools are not known", async () => {
  const warned = async (plugins: string) => {
    const tools =
      '"memory-markdown.re*": { approval: ask }, "*.forgt": { approval: deny }, "file.*": { approval: ask }';
    const text =
      `primary:\n  plugins: { memory: { package: "@kaged/memory-markdown" }${plugins} }\n  tools: { ${tools} }\n`;
    const { warnings } = await resolve(text, MARKDOWN);
    return warnings.map(({ code, path, line, message }) => [code, path, line, message]);
  };
  assert.deepEqual(await warned(""), [
    ["project.unknown_tool", 'primary.tools["*.forgt"]', 3, 'No plugin of "primary" has a tool that fits "*.forgt"'],
  ]);
  assert.deepEqual(await warned(", other: { package: not-installed }"), []);
});

test("K-026 the second compactor of an agent is refused, and the data is what the audit event carries", async () => {
  const other = await manifestOf("other-compactor", "roles: [observer, compactor]\nhooks: [pre_compact]\n");
  const text = `primary:
  plugins: { a: { package: smart-compactor }, b: { package: other-compactor }, c: { package: notes } }
  subagents: { s: { plugins: { b: { package: other-compactor } } } }
`;
  const resolved = await resolve(text, {
    plugins: { "smart-compactor": compactor, "other-compactor": other, notes: plain },
  });
  assert.deepEqual(refusalsOf(resolved), ["primary/b project.second_compactor"]);
  const { data } = resolved.refusals[0]!.error;
  const { first, second, agent_path } = data as { first: string; second: string; agent_path: string };
  assert.deepEqual({ first, second, agent_path }, {
    first: "smart-compactor",
    second: "other-compactor",
    agent_path: "primary",
  });
  assert.deepEqual(resolved.agents.map(({ plugins }) => plugins.map(({ key }) => key)), [["a", "c"], ["b"]]);
});

test("X-06 compaction is delegated to a compactor the agent declares, and to nothing else", async () => {
  const delegate = async (key: string, more = "") => {
    const text = `primary:
  plugins: { smart: { package: smart-compactor${more} }, notes: { package: notes } }
  compaction: { delegate: { plugin: ${key} } }
`;
    const resolved = await resolve(text, { plugins: { "smart-compactor": compactor, notes: plain } });
    return [resolved.agents[0]?.delegateFault?.replace(/^.*project.yaml\S* /, ""), ...refusalsOf(resolved)];
  };
  assert.deepEqual(await delegate("smart"), [undefined]);
  assert.deepEqual(await delegate("notes"), [
    'Plugin "notes" is no compactor',
    "primary/notes project.invalid_delegate",
  ]);
  assert.deepEqual(await delegate("smrt"), [
    'Agent "primary" delegates compaction to "smrt", which it does not declare',
    "primary/smrt project.invalid_delegate",
  ]);
  assert.deepEqual(await delegate("smart", ", hooks: []"), [
    'Compactor "smart" does not get the hook pre_compact on "primary"',
    "primary/smart project.invalid_delegate",
  ]);
  assert.deepEqual(await delegate("smart", ", version: ^9"), [
    'Plugin "smart-compactor" has version 0.1.0, which is not in "^9"',
    "primary/smart project.version_mismatch",
  ]);
});

test("one plugin twice on an agent, one shared under two keys and two packages of one name are refused", async () => {
  const twice = "primary: { plugins: { a: { package: notes }, b: { package: notes } } }";
  assert.deepEqual(refusalsOf(await resolve(twice, { plugins: { notes: plain } })), [
    "primary/b project.duplicate_plugin",
  ]);
  const keys = `primary:
  plugins: { a: { package: notes, isolation: project } }
  subagents: { s: { plugins: { b: { package: notes, isolation: project } } } }
`;
  assert.deepEqual(refusalsOf(await resolve(keys, { plugins: { notes: plain } })), [
    "primary.subagents.s/b project.duplicate_plugin",
  ]);
  const names = `primary:
  plugins: { a: { package: "@x/notes" } }
  subagents: { s: { plugins: { b: { package: "@y/notes" } } } }
`;
  const resolved = await resolve(names, { plugins: { "@x/notes": plain, "@y/notes": plain } });
  assert.deepEqual(refusalsOf(resolved), ["primary.subagents.s/b project.duplicate_plugin"]);
  const { first, second } = resolved.refusals[0]!.error.data as { first: string; second: string };
  assert.deepEqual([first, second], ["@x/notes", "@y/notes"]);
});

test("K-034 two plugins of one kind live side by side", async () => {
  const text = `primary:
  plugins: { a: { package: "@kaged/memory-markdown" }, b: { package: "@kaged/memory-hindsight" } }
`;
  const resolved = await resolve(text, { ...HINDSIGHT, plugins: { ...HINDSIGHT.plugins, ...MARKDOWN.plugins } });
  assert.deepEqual([refusalsOf(resolved), resolved.agents[0]?.plugins.length], [[], 2]);
});

test("K-053 plugins nobody has are listed with where they can be had, once for each package", async () => {
  const text = `primary:
  plugins: { a: { package: "@x/a", source: "./a", version: ^1 }, b: { package: "@x/b" } }
  subagents: { s: { plugins: { a: { package: "@x/a" } } } }
`;
  const resolved = await resolve(text);
  assert.deepEqual(resolved.missing, [
    { package: "@x/a", source: "./a", version: "^1", agents: ["primary", "primary.subagents.s"] },
    { package: "@x/b", source: null, version: null, agents: ["primary"] },
  ]);
  assert.deepEqual(refusalsOf(resolved), [
    "primary/a plugin.not_installed",
    "primary/b plugin.not_installed",
    "primary.subagents.s/a plugin.not_installed",
  ]);
  assert.deepEqual(resolved.instances, []);
});

test("a plugin of the operator's that no agent declares gets one instance of its own name", async () => {
  const local = `[plugins.notes]\ninstalled = "0.1.0"\nlocal = true\nenabled = true
[plugins.memory-markdown]\nlocal = true\nenabled = false
[plugins.memory-hindsight]\npackage = "@kaged/memory-hindsight"\nlocal = true\nenabled = true\n`;
  const plugins = { notes: plain, "@kaged/memory-hindsight": hindsight };
  const resolved = await resolve("primary: {}", { plugins, local });
  assert.deepEqual(resolved.instances.map(({ instance, agents }) => [instance, agents]), [["notes", []]]);
  assert.deepEqual(refusalsOf(resolved), ["/memory-hindsight project.config_invalid"]);
  const declared = await resolve("primary: { plugins: { n: { package: notes } } }", { plugins, local });
  assert.equal(declared.instances.filter(({ plugin }) => plugin === "notes").length, 1);
});

test("a plugin that cannot be found for a reason is refused with it, and the others go on", async () => {
  const { parseProject } = await import("../../../src/core/project/read_project.ts");
  const { resolveProject } = await import("../../../src/core/project/resolve_project.ts");
  const { parseLocalConfig } = await import("../../../src/core/project/local_config.ts");
  const { HostError } = await import("../../../src/core/errors/host_error.ts");
  const resolved = await resolveProject({
    project: await parseProject("primary: { plugins: { a: { package: a }, b: { package: notes } } }", { dir: "/p" }),
    local: await parseLocalConfig("", { file: "/l" }),
    locate: (pkg) =>
      pkg === "a"
        ? Promise.reject(new HostError("manifest.invalid", "No good"))
        : Promise.resolve({ dir: "/d", manifest: plain, warnings: [] }),
    env: () => null,
  });
  assert.deepEqual(refusalsOf(resolved), ["primary/a manifest.invalid"]);
  assert.deepEqual(resolved.agents[0]?.plugins.map(({ key }) => key), ["b"]);
});

test("a refusal names its place in the project file", async () => {
  const { refusals } = await resolve(
    "primary:\n  plugins:\n    n:\n      package: notes\n      version: ^7\n",
    { plugins: { notes: plain } },
  );
  const { message, data } = refusals[0]!.error as HostError;
  assert.match(message, new RegExp(`^${FILE}:5:16: `));
  const { line, column, path } = data as { line: number; column: number; path: string };
  assert.deepEqual({ line, column, path }, { line: 5, column: 16, path: "primary.plugins.n.version" });
});
