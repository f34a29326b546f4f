/**
 * Knobs of plugins, and the schemas of their config.
 *
 * @module
 */
import * as v from "valibot";
import { HostError } from "../../core/errors/host_error.ts";
import type { PluginView } from "../../host/view_types.ts";
import type { AgentKnobs } from "../answers.ts";
import { type Route, route } from "../route.ts";
import { agentPath, namedPlugin, pluginName, textLike } from "../schemas.ts";

const knobName = textLike(/^[A-Za-z_][A-Za-z0-9_.-]{0,127}$/, "It is no name of a knob");

export const KNOB_ROUTES: readonly Route[] = [
  route({
    method: "GET",
    path: "/api/v1/plugins/{name}/knobs",
    summary: "A plugin's knobs with their values, for each agent that declares the plugin",
    params: namedPlugin,
    query: v.strictObject({ agent: v.exactOptional(agentPath) }),
    errors: ["plugin.unknown", "agent.unknown"],
    run({ params: { name }, query: { agent } }, { host }) {
      const view = host.view.plugin(name);
      if (agent !== undefined) host.plugins(agent);
      return { plugin: name, agents: knobsOf(view).filter((use) => agent === undefined || use.agent === agent) };
    },
  }),
  route({
    method: "PUT",
    path: "/api/v1/plugins/{name}/knobs/{knob}",
    summary: "Turn a knob: the plugin gets the new config, and project.yaml is changed in that one place",
    params: v.strictObject({ name: pluginName, knob: knobName }),
    body: v.strictObject({ agent: v.optional(agentPath, "primary"), value: v.unknown() }),
    errors: [
      "plugin.unknown",
      "agent.unknown",
      "knob.unknown",
      "knob.value_invalid",
      "knob.edit_refused",
      "plugin.config_invalid",
      "plugin.refused",
    ],
    async run({ params: { name, knob }, body: { agent, value } }, { host }) {
      const use = host.view.plugin(name).uses.find((one) => one.agent === agent);
      const { key = null } = use ?? host.plugins(agent).find(({ plugin }) => plugin === name) ?? {};
      if (key === null) {
        throw new HostError("knob.unknown", `Agent "${agent}" has no plugin "${name}"`, {
          data: { agent_path: agent, plugin: name },
          hint: "Name an agent that declares it",
        });
      }
      await host.setKnob(agent, key, knob, value);
      return { plugin: name, agents: knobsOf(host.view.plugin(name)).filter((one) => one.agent === agent) };
    },
  }),
  route({
    method: "GET",
    path: "/api/v1/plugins/{name}/schemas",
    summary: "JSON Schemas of a plugin's config, the project's side and the operator's, without values",
    params: namedPlugin,
    errors: ["plugin.unknown"],
    run({ params: { name } }, { host }) {
      const { manifest } = host.view.plugin(name);
      const { config_schema: project = null, system_config_schema: system = null } = manifest ?? {};
      return { plugin: name, project, system };
    },
  }),
];

function knobsOf({ manifest, uses }: PluginView): AgentKnobs[] {
  return uses.map(({ config, ...use }) => ({
    ...use,
    knobs: Object.fromEntries(
      Object.entries(manifest?.knobs ?? {}).map(([name, knob]) => {
        const field = knob.binds_to.slice("config.".length);
        return [name, { ...knob, value: (Object.hasOwn(config, field) ? config[field] : knob.default) ?? null }];
      }),
    ),
  }));
}
