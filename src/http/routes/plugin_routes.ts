/**
 * Plugins: their manifests, their processes, and the orders to start and stop them.
 *
 * @module
 */
import * as v from "valibot";
import type { HostErrorCode } from "../../core/errors/host_error.ts";
import type { HostPluginInfo } from "../../host/view_types.ts";
import { pageOf } from "../../core/values/page_of.ts";
import type { Instance, Plugin } from "../answers.ts";
import { pageQuery } from "../page.ts";
import { failureJson } from "../problem.ts";
import { type Api, type Route, route } from "../route.ts";
import { namedPlugin } from "../schemas.ts";

export const PLUGIN_ROUTES: readonly Route[] = [
  route({
    method: "GET",
    path: "/api/v1/plugins",
    summary: "Every instance of every plugin of the project, refused plugins included",
    query: pageQuery,
    errors: ["http.cursor_invalid", "http.cursor_gone"],
    run({ query }, { host }) {
      const { items, next } = pageOf("plugins", host.plugins(), ({ instance }) => instance, query);
      return { plugins: items.map(instanceJson), next };
    },
  }),
  route({
    method: "GET",
    path: "/api/v1/plugins/{name}",
    summary: "One plugin: its manifest, its capabilities in plain words, its instances, its config without secrets",
    params: namedPlugin,
    errors: ["plugin.unknown"],
    run: ({ params: { name } }, api) => pluginJson(name, api),
  }),
  orderRoute("enable", "Start a plugin and keep it up; earlier failures are forgotten", [
    "plugin.unavailable",
    "plugin.refused",
  ]),
  orderRoute("disable", "Stop a plugin and keep it down", []),
  orderRoute("reload", "Start a plugin anew beside the one that runs, and swap them once the new one is ready", [
    "plugin.disabled",
    "plugin.unavailable",
    "plugin.reload_failed",
    "plugin.refused",
  ]),
  orderRoute("reread", "Read the operator's values for a plugin again, secrets among them, without a restart", [
    "plugin.unavailable",
    "plugin.refused",
    "project.config_invalid",
    "project.variable_missing",
    "project.reference_failed",
  ]),
  orderRoute("repin", "Read the pinned tools of a plugin again, which another process has approved", [
    "plugin.refused",
  ]),
  route({
    method: "GET",
    path: "/api/v1/plugins/{name}/quarantine",
    summary: "Tools that an installed MCP server lists otherwise than the operator agreed to, with the difference",
    params: namedPlugin,
    errors: ["plugin.unknown"],
    run: ({ params: { name } }, { host }) => ({ plugin: name, tools: host.view.quarantined(name) }),
  }),
  route({
    method: "POST",
    path: "/api/v1/plugins/{name}/quarantine/approve",
    summary: "Approve quarantined tools: each by the hash of the definition that was shown; agents get them at once",
    params: namedPlugin,
    body: v.strictObject({ tools: v.pipe(v.record(v.string(), v.string()), v.minEntries(1), v.maxEntries(1000)) }),
    errors: ["plugin.unknown", "plugin.refused", "tool.not_quarantined", "tool.approval_stale"],
    async run({ params: { name }, body: { tools } }, { host }) {
      await host.approveTools(name, tools);
      return { plugin: name, tools: host.view.quarantined(name) };
    },
  }),
  orderRoute("restart", "Stop a plugin and start it again", [
    "plugin.disabled",
    "plugin.unavailable",
    "plugin.refused",
  ]),
  route({
    method: "GET",
    path: "/api/v1/plugins/{name}/storage",
    summary: "A plugin's tables and the bytes they take",
    params: namedPlugin,
    errors: ["plugin.unknown", "storage.unavailable"],
    run: ({ params: { name } }, { host }) => host.view.storage(name),
  }),
];

/** An order that the host carries out on a plugin. */
export type PluginOrder = "enable" | "disable" | "reload" | "reread" | "repin" | "restart";

/** Returns the route of an order that the host carries out on a plugin; it answers with the plugin as it is then. */
function orderRoute(
  order: PluginOrder,
  summary: string,
  errors: readonly HostErrorCode[],
): Route {
  return route({
    method: "POST",
    path: `/api/v1/plugins/{name}/${order}`,
    summary,
    params: namedPlugin,
    errors: ["plugin.unknown", ...errors],
    async run({ params: { name } }, api) {
      await api.host[order](name);
      return pluginJson(name, api);
    },
  });
}

function pluginJson(name: string, { host }: Api): Plugin {
  const { manifest, uses: agents, instances, ...view } = host.view.plugin(name);
  const { version = null, description = null, author = null, license = null, homepage = null } = manifest ?? {};
  const { roles = [], hooks = [], methods = [], notifications = [], tools = [] } = manifest ?? {};
  const facts = { version, description, author, license, homepage, roles, hooks, methods, notifications, tools };
  return { ...view, ...facts, agents, instances: instances.map(instanceJson) };
}

function instanceJson({ error, ...row }: HostPluginInfo): Instance {
  return { ...row, error: error && failureJson(error) };
}
