/**
 * Agents: the plugins active for each, and how its window is kept small.
 *
 * @module
 */
import * as v from "valibot";
import { type Api, type Route, route } from "../route.ts";
import { anyMap, namedAgent, size } from "../schemas.ts";

const agent = v.pipe(
  v.strictObject({
    path: v.string(),
    parent: v.nullable(v.string()),
    plugins: v.array(v.strictObject({
      key: v.string(),
      plugin: v.string(),
      package: v.string(),
      version: v.string(),
      instance: v.string(),
      isolation: v.picklist(["agent", "project"]),
      state: v.string(),
      hooks: v.array(v.string()),
      tools: v.array(v.string()),
      config: anyMap,
    })),
  }),
  v.title("Agent"),
);

/** Routes about agents. */
export const AGENT_ROUTES: readonly Route[] = [
  route({
    method: "GET",
    path: "/api/v1/agents",
    summary: "Every agent with the plugins active for it",
    answer: { types: ["application/json"], schema: v.strictObject({ agents: v.array(agent) }) },
    errors: [],
    run: (_, api) => ({ agents: api.host.agents().map(({ path }) => agentJson(path, api)) }),
  }),
  route({
    method: "GET",
    path: "/api/v1/agents/{agent}",
    summary: "One agent with the plugins active for it",
    params: namedAgent,
    answer: { types: ["application/json"], schema: agent },
    errors: ["agent.unknown"],
    run: ({ params }, api) => agentJson(params.agent, api),
  }),
  route({
    method: "GET",
    path: "/api/v1/agents/{agent}/compaction",
    summary: "Who compacts an agent's window, who looks on, and the newest compactions with what was kept",
    params: namedAgent,
    answer: {
      types: ["application/json"],
      schema: v.strictObject({
        agent: v.string(),
        strategy: v.picklist(["drop", "summarize"]),
        delegate: v.nullable(v.string()),
        compactor: v.nullable(v.string()),
        observers: v.array(v.string()),
        target_tokens: v.nullable(v.number()),
        target_messages: v.nullable(v.number()),
        keep_last: v.number(),
        recent: v.array(v.strictObject({
          timestamp: v.string(),
          session_id: v.string(),
          trigger: v.string(),
          by: v.picklist(["compactor", "drop", "summarize", "none"]),
          before: size,
          after: size,
          superseded: v.number(),
          summary: v.nullable(v.string()),
          retained: v.array(v.strictObject({ plugin: v.string(), text: v.string() })),
          fallback: v.nullable(v.string()),
        })),
      }),
    },
    errors: ["agent.unknown"],
    run({ params: { agent } }, { host }) {
      const { settings, compactor, observers, recent } = host.view.compaction(agent);
      return { agent, ...settings, compactor, observers, recent };
    },
  }),
];

function agentJson(path: string, { host }: Api): v.InferOutput<typeof agent> {
  const plugins = host.plugins(path);
  return {
    path,
    parent: host.agents().find((one) => one.path === path)?.parent ?? null,
    plugins: plugins.map(({ key, plugin, package: pkg, version, instance, isolation, state, hooks, tools }) => {
      const use = host.view.plugin(plugin).uses.find((one) => one.agent === path);
      const row = { key: key ?? plugin, plugin, package: pkg, version, instance, isolation, state };
      return { ...row, hooks: [...hooks], tools: [...tools], config: { ...use?.config } };
    }),
  };
}
