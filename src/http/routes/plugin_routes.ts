/**
 * Plugins: what they are, and whether they run.
 *
 * @module
 */
import * as v from "valibot";
import type { InstanceView } from "../../host/view_types.ts";
import { type Route, route } from "../route.ts";
import { anyMap, capability, type failure, instance, namedPlugin } from "../schemas.ts";

const plugin = v.pipe(
  v.strictObject({
    plugin: v.string(),
    package: v.string(),
    version: v.string(),
    description: v.string(),
    author: v.nullable(v.string()),
    license: v.nullable(v.string()),
    homepage: v.nullable(v.string()),
    dir: v.string(),
    roles: v.array(v.string()),
    capabilities: v.array(capability),
    hooks: v.array(v.string()),
    methods: v.array(v.string()),
    notifications: v.array(v.string()),
    tools: v.array(v.strictObject({ name: v.string(), description: v.string(), parameters_schema: anyMap })),
    agents: v.array(v.strictObject({ agent: v.string(), key: v.string(), instance: v.string(), config: anyMap })),
    instances: v.array(instance),
  }),
  v.title("Plugin"),
);
const one = { types: ["application/json"], schema: plugin } as const;

/** Routes about plugins. */
export const PLUGIN_ROUTES: readonly Route[] = [
  route({
    method: "GET",
    path: "/api/v1/plugins",
    summary: "Every instance of every plugin of the project",
    answer: { types: ["application/json"], schema: v.strictObject({ plugins: v.array(instance) }) },
    errors: [],
    run: (_, { host }) => ({ plugins: host.view.instances().map(instanceJson) }),
  }),
  route({
    method: "GET",
    path: "/api/v1/plugins/{name}",
    summary: "One plugin: its manifest, what it may do in plain words, its instances, its config without secrets",
    params: namedPlugin,
    answer: one,
    errors: ["plugin.unknown"],
    run: ({ params: { name } }, api) => pluginJson(name, api),
  }),
  route({
    method: "POST",
    path: "/api/v1/plugins/{name}/enable",
    summary: "Start a plugin and keep it up; earlier failures are forgotten",
    params: namedPlugin,
    answer: one,
    errors: ["plugin.unknown", "plugin.unavailable"],
    async run({ params: { name } }, api) {
      await api.host.enable(name);
      return pluginJson(name, api);
    },
  }),
  route({
    method: "POST",
    path: "/api/v1/plugins/{name}/disable",
    summary: "Stop a plugin and keep it down",
    params: namedPlugin,
    answer: one,
    errors: ["plugin.unknown"],
    async run({ params: { name } }, api) {
      await api.host.disable(name);
      return pluginJson(name, api);
    },
  }),
  route({
    method: "POST",
    path: "/api/v1/plugins/{name}/reload",
    summary: "Start a plugin anew beside the one that runs, and swap them once it is ready",
    params: namedPlugin,
    answer: one,
    errors: ["plugin.unknown", "plugin.disabled", "plugin.unavailable", "plugin.reload_failed"],
    async run({ params: { name } }, api) {
      await api.host.reload(name);
      return pluginJson(name, api);
    },
  }),
  route({
    method: "POST",
    path: "/api/v1/plugins/{name}/restart",
    summary: "Stop a plugin and start it again",
    params: namedPlugin,
    answer: one,
    errors: ["plugin.unknown", "plugin.disabled", "plugin.unavailable"],
    async run({ params: { name } }, api) {
      await api.host.restart(name);
      return pluginJson(name, api);
    },
  }),
  route({
    method: "GET",
    path: "/api/v1/plugins/{name}/storage",
    summary: "A plugin's tables and the bytes they take",
    params: namedPlugin,
    answer: {
      types: ["application/json"],
      schema: v.strictObject({
        tables: v.array(v.strictObject({ name: v.string(), rows: v.nullable(v.number()), bytes: v.number() })),
        bytes: v.number(),
      }),
    },
    errors: ["plugin.unknown", "storage.unavailable"],
    run: ({ params: { name } }, { host }) => host.view.storage(name),
  }),
];

function pluginJson(name: string, { host }: Parameters<Route["run"]>[1]): v.InferOutput<typeof plugin> {
  const { manifest, capabilities, instances, uses, dir, package: pkg } = host.view.plugin(name);
  const { version, description, author = null, license = null, homepage = null } = manifest;
  return {
    plugin: name,
    package: pkg,
    version,
    description,
    author,
    license,
    homepage,
    dir,
    roles: [...manifest.roles],
    capabilities: capabilities.map((one) => ({ ...one })),
    hooks: [...manifest.hooks],
    methods: [...manifest.methods],
    notifications: [...manifest.notifications],
    tools: manifest.tools.map(({ name, description, parameters_schema }) => {
      return { name, description, parameters_schema: { ...parameters_schema } };
    }),
    agents: uses.map(({ config, ...use }) => ({ ...use, config: { ...config } })),
    instances: instances.map(instanceJson),
  };
}

/** Returns an instance as it is sent. */
export function instanceJson({ error, ...row }: InstanceView): v.InferOutput<typeof instance> {
  return { ...row, error: error && failureJson(error) };
}

function failureJson(
  { code, message, hint }: { readonly code: string; readonly message: string; readonly hint?: string },
): v.InferOutput<typeof failure> {
  return { code, message, ...(hint !== undefined && { hint }) };
}
