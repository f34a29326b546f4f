import assert from "node:assert/strict";
import { test } from "node:test";
import { HostError } from "../../../src/core/errors/host_error.ts";
import { manifestOf, resolve } from "./project_text.ts";
import fc from "../../support/fast_check.ts";

const plugins = {
  "@x/a": await manifestOf("a-plugin", "hooks: [on_session_start, pre_compact]\nroles: [compactor]\n"),
  "@x/b": await manifestOf("b-plugin", "config_schema: { type: object, properties: { n: { type: integer } } }\n"),
  c: await manifestOf("c", "hooks: [pre_compact]\nroles: [compactor]\n"),
};

const declaration = fc.record({
  package: fc.constantFrom("@x/a", "@x/b", "c", "@x/none"),
  isolation: fc.constantFrom("agent", "project"),
  hooks: fc.subarray(["on_session_start", "pre_compact", "post_compact"]),
  version: fc.constantFrom("^0.1", "^9"),
  config: fc.dictionary(
    fc.constantFrom("n", "isolation", "constructor"),
    fc.constantFrom<unknown>(1, "x", "agent", null),
  ),
}, { requiredKeys: [] });

interface Agent {
  readonly plugins?: Record<string, unknown>;
  readonly subagents?: Record<string, Agent>;
}

const { agent } = fc.letrec<{ agent: Agent }>((tie) => ({
  agent: fc.record({
    plugins: fc.dictionary(fc.constantFrom("memory", "other", "constructor"), declaration),
    compaction: fc.record({ delegate: fc.record({ plugin: fc.constantFrom("memory", "nobody") }) }),
    tools: fc.dictionary(fc.constantFrom("a-plugin.x", "toString"), fc.record({ enabled: fc.boolean() })),
    subagents: fc.oneof(
      { depthSize: "small" },
      fc.constant({}),
      fc.dictionary(fc.constantFrom("r", "w", "valueOf"), tie("agent"), { maxKeys: 2 }),
    ),
  }, { requiredKeys: [] }),
}));

function countOf({ plugins = {}, subagents = {} }: Agent): number {
  return Object.keys(plugins).length + Object.values(subagents).reduce((sum, one) => sum + countOf(one), 0);
}

test("K-036 any tree resolves: every declaration is a plugin or a refusal", async () => {
  await fc.assert(
    fc.asyncProperty(agent, async (primary) => {
      const { agents, instances, refusals, missing } = await resolve(JSON.stringify({ primary }), { plugins });
      for (const { error } of refusals) assert.ok(error instanceof HostError);
      const running = agents.flatMap(({ path, plugins }) => plugins.map((plugin) => ({ path, plugin })));
      const isDelegate = ({ error }: { error: HostError }) => error.code === "project.invalid_delegate";
      const places = new Set(refusals.filter((one) => !isDelegate(one)).map(({ agent, key }) => `${agent} ${key}`));
      const absent = missing.reduce((sum, { agents }) => sum + agents.length, 0);
      assert.equal(refusals.filter(({ error }) => error.code === "plugin.not_installed").length, absent);
      assert.equal(running.length + places.size, countOf(primary));
      assert.equal(new Set(instances.map(({ instance }) => instance)).size, instances.length);
      for (const { path, plugin } of running) {
        const instance = instances.find((one) => one.instance === plugin.instance);
        assert.ok(instance && instance.agents.includes(path) && instance.dir === plugin.dir);
        assert.deepEqual({ ...instance.config, ...plugin.override }, plugin.config);
      }
      for (const { plugins, compaction, delegateFault } of agents) {
        assert.ok(plugins.filter(({ manifest }) => manifest.roles.includes("compactor")).length <= 1);
        const isUsable = plugins.some(({ key }) => key === compaction.delegate);
        if (delegateFault === null && compaction.delegate !== null) assert.ok(isUsable);
      }
    }),
    { numRuns: 300 },
  );
});
