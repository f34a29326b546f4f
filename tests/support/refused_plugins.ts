/**
 * A project with one plugin of each fault that the host finds before it starts a process, and one plugin without.
 *
 * @module
 */
import type { HostedOptions } from "./hosted.ts";

const system_config_schema = {
  type: "object",
  properties: { api_token: { type: "string" } },
  required: ["api_token"],
} as const;
const config_schema = {
  type: "object",
  properties: { depth: { type: "integer" }, colour: { type: "string" } },
  additionalProperties: false,
} as const;
const tools = [{ name: "look", description: "Looks", parameters_schema: { type: "object" } }] as const;

/** `project.yaml` of that project; the config of `bad-config` stands in lines 8 and 9. */
export const FAULTS_YAML = `primary:
  plugins:
    unread: { package: "@test/unread" }
    good: { package: "@test/good" }
    config:
      package: "@test/bad-config"
      config:
        depth: "hunter2"
        colour: 7
    secret: { package: "@test/no-secret" }
    first: { package: "@test/first" }
    second: { package: "@test/second" }
    nameless: { version: "^1" }
    absent: { package: "@test/absent" }
  compaction: { delegate: { plugin: second }, keep_last: 1 }
`;

/** Key → name, state and code of the reason, in the order of {@link FAULTS_YAML}. */
export const FAULTS: readonly (readonly [key: string, plugin: string, state: string, code: string | null])[] = [
  ["unread", "unread", "refused", "manifest.invalid"],
  ["good", "echo", "running", null],
  ["config", "bad-config", "refused", "project.config_invalid"],
  ["secret", "no-secret", "refused", "project.config_invalid"],
  ["first", "compacts", "running", null],
  ["second", "second-one", "refused", "project.second_compactor"],
  ["nameless", "nameless", "refused", "project.missing_package"],
  ["absent", "absent", "refused", "plugin.not_installed"],
];

/** That project for `hosted()` and `served()`. */
export const FAULTY: HostedOptions = {
  yaml: FAULTS_YAML,
  fixtures: {
    "@test/good": "echo",
    "@test/unread": { fixture: "echo", manifest: { kaged_api: 7 as never } },
    "@test/bad-config": { fixture: "answers_hooks", manifest: { name: "bad-config", config_schema, tools } },
    "@test/no-secret": { fixture: "answers_hooks", manifest: { name: "no-secret", system_config_schema, tools } },
    "@test/first": "compacts",
    "@test/second": { fixture: "compacts", manifest: { name: "second-one" } },
  },
};
