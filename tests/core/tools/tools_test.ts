import assert from "node:assert/strict";
import { test } from "node:test";
import type { ResolvedAgent, ResolvedPlugin } from "../../../src/core/project/types.ts";
import { checkArguments } from "../../../src/core/tools/check_arguments.ts";
import { agentTools, findTool, toolAlias, toolFromAlias } from "../../../src/core/tools/tool_registry.ts";
import { manifestOf } from "../../support/cage_requests.ts";

const tool = (name: string) => ({ name, description: `Does ${name}`, parameters_schema: { type: "object" } });

function pluginOf(name: string, tools: string[], on: string[] = tools): ResolvedPlugin {
  return {
    key: name,
    package: `@test/${name}`,
    plugin: name,
    dir: `/plugins/${name}`,
    manifest: manifestOf({ name, tools: tools.map(tool) }),
    isolation: "agent",
    instance: `${name}@music/primary`,
    hooks: [],
    illegalHooks: [],
    tools: on.map((short) => `${name}.${short}`),
    toolsOff: tools.filter((short) => !on.includes(short)).map((short) => `${name}.${short}`),
    config: {},
    shownConfig: {},
    override: null,
  };
}

function agentOf(...plugins: ResolvedPlugin[]): ResolvedAgent {
  const compaction = {
    strategy: "drop",
    delegate: null,
    target_tokens: null,
    target_messages: null,
    keep_last: 4,
  } as const;
  const declared = plugins.map(({ key }) => key);
  return { path: "primary", parent: null, plugins, declared, compaction, delegateFault: null, rest: {} };
}

test("K-029 tools are named <plugin>.<tool>, in the order of plugins and of their manifests", () => {
  const tools = agentTools(agentOf(pluginOf("notes", ["write", "read"]), pluginOf("memory-markdown", ["recall"])));
  assert.deepEqual([...tools.keys()], ["notes.write", "notes.read", "memory-markdown.recall"]);
});

test("K-031 a tool that is switched off is not in the set, and the error says that it is off", () => {
  const agent = agentOf(pluginOf("memory", ["recall", "forget"], ["recall"]));
  const tools = agentTools(agent);
  assert.deepEqual([...tools.keys()], ["memory.recall"]);
  assert.throws(() => findTool("memory.forget", agent, tools), {
    code: "tool.unknown",
    rpc: -32601,
    hint: 'It is switched off under tools: of "primary"',
  });
});

test("a tool nobody has is answered with the nearest one", () => {
  const agent = agentOf(pluginOf("memory", ["recall"]));
  assert.throws(() => findTool("memory.recal", agent, agentTools(agent)), { hint: 'Did you mean "memory.recall"?' });
});

test("K-030 of two tools with one name the first stays", () => {
  const [first, second] = [pluginOf("memory", ["recall"]), { ...pluginOf("memory", ["recall"]), key: "second" }];
  assert.equal(agentTools(agentOf(first, second)).get("memory.recall")?.owner.key, "memory");
});

test("toolAlias() and toolFromAlias() go there and back", () => {
  for (const name of ["memory-markdown.recall", "a-b.c_d", "a-b.c__d", "ab.c_"]) {
    assert.match(toolAlias(name), /^[a-zA-Z0-9_-]+$/);
    assert.equal(toolFromAlias(toolAlias(name)), name);
  }
  assert.equal(toolAlias("memory-markdown.recall"), "memory-markdown__recall");
  assert.equal(toolFromAlias("read_file"), "read_file");
});

const recall = {
  name: "memory.recall",
  parametersSchema: {
    type: "object",
    properties: { query: { type: "string" }, tags: { type: "array", items: { type: "string" } } },
    required: ["query"],
  },
};

test("arguments that fit pass, and others are refused with -32602 and the failing path", async () => {
  await checkArguments(recall, { query: "x", tags: ["a"] });
  await assert.rejects(checkArguments(recall, { query: "x", tags: ["a", 7] }), {
    code: "tool.arguments_invalid",
    rpc: -32602,
    http: 400,
    message: 'Cannot call "memory.recall": tags[1]: Expected string, got number',
    data: {
      tool: "memory.recall",
      path: "tags[1]",
      issues: [{ path: "tags[1]", message: "Expected string, got number" }],
    },
  });
});

test("every place is named at once", async () => {
  await assert.rejects(checkArguments(recall, { tags: [1, 2] }), (error: { data: { issues: { path: string }[] } }) => {
    assert.deepEqual(error.data.issues.map(({ path }) => path).sort(), ["query", "tags[0]", "tags[1]"]);
    return true;
  });
});

test("arguments that are no object are refused", async () => {
  for (const args of [null, "x", ["x"], 7, undefined]) {
    await assert.rejects(checkArguments(recall, args), { code: "tool.arguments_invalid" });
  }
});

test("nobody but the host sets _context and _config", async () => {
  for (const key of ["_context", "_config"]) {
    await assert.rejects(checkArguments(recall, { query: "x", [key]: {} }), {
      message: `Cannot call "memory.recall": ${key}: Is set by the host alone`,
    });
  }
});
