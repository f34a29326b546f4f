import assert from "node:assert/strict";
import { test } from "node:test";
import { safeAlias, safeAliases } from "../../../src/core/tools/safe_alias.ts";
import { agentTools, aliasesIn, findTool } from "../../../src/core/tools/tool_registry.ts";
import type { McpTool } from "../../../src/core/mcp/mcp_tool.ts";
import type { ResolvedAgent } from "../../../src/core/project/types.ts";
import fc from "../../support/fast_check.ts";

const SAFE = /^[a-zA-Z0-9_-]{1,64}$/;

test("N-030 safeAlias() leaves a short name as it reads, and ends a long one in a hash of the whole", () => {
  assert.equal(safeAlias("memory-markdown.recall"), "memory-markdown__recall");
  const [one, other] = ["x", "y"].map((end) => safeAlias(`mail.${"long_".repeat(20)}${end}`));
  assert.match(one!, /^mail__(long_)+.*_[0-9a-z]{8}$/);
  assert.equal(one!.length, 64);
  assert.notEqual(one, other);
  assert.equal(safeAlias(`mail.${"long_".repeat(20)}x`), one, "the same name has the same alias everywhere");
});

test("N-030 safeAliases() parts names that would read the same, and the one that needs no change keeps its own", () => {
  const aliases = safeAliases(["mail.sum_up", "mail.sum up", "mail.sum/up", "mail.other one"]);
  assert.equal(aliases.get("mail.sum_up"), "mail__sum_up");
  assert.equal(aliases.get("mail.other one"), "mail__other_one");
  assert.match(aliases.get("mail.sum up")!, /^mail__sum_up_[0-9a-z]{8}$/);
  assert.equal(new Set(aliases.values()).size, 4);
});

test("N-030 a name that hits the hash of another does not take its alias", () => {
  const long = `mail.${"long_".repeat(20)}x`;
  const squatter = safeAlias(long).replace("__", ".");
  const aliases = safeAliases([long, squatter]);
  assert.equal(aliases.get(squatter), safeAlias(long));
  assert.match(aliases.get(long)!, SAFE);
  assert.notEqual(aliases.get(long), aliases.get(squatter));
});

test("N-030 aliases of any names are safe, and no two are the same", () => {
  fc.assert(fc.property(fc.array(fc.string({ maxLength: 90, unit: "grapheme" })), (names) => {
    const full = [...new Set(names.map((name) => `mail.${name}`))];
    const aliases = safeAliases(full);
    for (const alias of aliases.values()) assert.match(alias, SAFE);
    assert.equal(new Set(aliases.values()).size, full.length);
  }));
});

test("N-030 a tool with a long name is found by its alias", () => {
  const plugin = "p".repeat(60);
  const tool: McpTool = {
    name: "t".repeat(60),
    wireName: "T",
    description: "Long",
    parameters_schema: { type: "object" },
    definition: {},
  };
  const owner = { plugin, instance: plugin, toolsOff: [], manifest: { tools: [] } };
  const agent = { path: "primary", plugins: [owner] } as unknown as ResolvedAgent;
  const tools = agentTools(agent, new Map([[plugin, [tool]]]));
  const name = `${plugin}.${tool.name}`;
  const alias = aliasesIn(tools).get(name)!;
  assert.match(alias, SAFE);
  assert.equal(findTool(alias, agent, tools).name, name);
  assert.equal(findTool(name, agent, tools).name, name);
  assert.throws(() => findTool(`${alias}x`, agent, tools), { code: "tool.unknown" });
});
