/**
 * Agents: the plugins active for each, and how its window is kept small.
 *
 * @module
 */
import { pageOf } from "../../core/values/page_of.ts";
import type { Agent } from "../answers.ts";
import { pageQuery } from "../page.ts";
import { failureJson } from "../problem.ts";
import { type Api, type Route, route } from "../route.ts";
import { namedAgent } from "../schemas.ts";

export const AGENT_ROUTES: readonly Route[] = [
  route({
    method: "GET",
    path: "/api/v1/agents",
    summary: "Every agent with the plugins that it declares",
    query: pageQuery,
    errors: ["http.cursor_invalid", "http.cursor_gone"],
    run({ query }, api) {
      const { items, next } = pageOf("agents", api.host.agents(), ({ path }) => path, query);
      return { agents: items.map(({ path }) => agentJson(path, api)), next };
    },
  }),
  route({
    method: "GET",
    path: "/api/v1/agents/{agent}",
    summary: "One agent with the plugins that it declares",
    params: namedAgent,
    errors: ["agent.unknown"],
    run: ({ params }, api) => agentJson(params.agent, api),
  }),
  route({
    method: "GET",
    path: "/api/v1/agents/{agent}/compaction",
    summary: "Who compacts an agent's window, who looks on, and the newest compactions with what was kept",
    params: namedAgent,
    errors: ["agent.unknown"],
    run: ({ params: { agent } }, { host }) => ({ agent, ...host.view.compaction(agent) }),
  }),
];

function agentJson(path: string, { host }: Api): Agent {
  const plugins = host.plugins(path);
  return {
    path,
    parent: host.agents().find((one) => one.path === path)?.parent ?? null,
    plugins: plugins.map(({ key, plugin, package: pkg, version, instance, isolation, state, hooks, tools, error }) => {
      const use = host.view.plugin(plugin).uses.find((one) => one.agent === path && one.key === key);
      const row = { key: key ?? plugin, plugin, package: pkg, version, instance, isolation, state };
      return { ...row, hooks, tools, config: use?.config ?? {}, error: error && failureJson(error) };
    }),
  };
}
