/**
 * Mistakes in a project and in the operator's files.
 *
 * @module
 */
import { type ErrorRow, row, rows, tomlRows, yamlRows } from "./row.ts";

export const PROJECT_ERRORS: Readonly<Record<string, ErrorRow>> = {
  ...yamlRows("project", "project file"),
  "project.duplicate_id": row(-32602, 409, "Two folders hold projects of one id", "Set another id: in one of them"),
  ...rows("project", -32602, 400, {
    missing: ["The folder holds no project.yaml", "Name the folder that holds it"],
    misplaced_key: ["A key stands where it has no meaning", "Move it where the hint says"],
    carried_key: ["An agent has a key of another subsystem", "Nothing, unless it is misspelt"],
    invalid_id: ["The id does not fit ^[a-z][a-z0-9-]*$ with at most 64 characters", "Use an id such as my-project"],
    invalid_agent_name: [
      "A subagent's name does not fit ^[A-Za-z][A-Za-z0-9_-]*$ with at most 64 characters",
      "Use a name such as researcher",
    ],
    invalid_plugin_key: [
      "A plugin's key does not fit ^[A-Za-z][A-Za-z0-9_-]*$ with at most 64 characters",
      "Use a key such as memory, and name the package under it",
    ],
    invalid_package: ["The package is no package name", "Write a name such as @kaged/memory-markdown"],
    invalid_source: [
      "The source is neither a path in the project nor an address",
      "Write ./path, https://… or git+https://…",
    ],
    invalid_idle_stop: ["idle_stop_sec is no time to wait", "Write seconds, such as idle_stop_sec: 300"],
    invalid_version: ["The version is no range of versions", "Write a range such as ^0.1"],
    invalid_value: ["The value is not one of those allowed", "Use one of the values named"],
    unknown_hook: ["A hook is not known", "Use one of the hooks in the guide"],
  }),
  ...rows("project", -32602, 422, {
    missing_package: ["A plugin is declared without its package", "Write package: under the plugin's key"],
    forbidden_override: [
      "An agent overrides what only the base declaration of a plugin may set",
      "Set package and isolation where the plugin is first declared",
    ],
    isolation_contradiction: [
      "Declaration and config of a plugin disagree on isolation",
      "Set isolation beside package, not under config",
    ],
    base_refused: ["The declaration a shared plugin is based on was refused", "Correct that declaration first"],
    duplicate_plugin: ["One plugin would run twice in one place", "Declare it under one key for each agent"],
    hook_not_offered: ["An agent lists a hook the plugin does not offer", "Remove it, or ask the plugin's author"],
    hook_illegal: ["A subagent lists a hook that fires for the primary agent only", "Remove it: it never fires there"],
    version_mismatch: [
      "The plugin's version is outside the range asked for",
      "Install another version, or widen the range",
    ],
    package_mismatch: [
      "The installed plugin of that name comes from another package",
      "Uninstall it, or name its package",
    ],
    package_refused: [
      "A package in node_modules cannot be a plugin",
      "Name a package that is one, or vouch for its folder in plugins",
    ],
    second_compactor: ["Two plugins of one agent are compactors", "Declare one compactor for each agent"],
    invalid_delegate: [
      "Compaction is delegated to no compactor of the agent",
      "Name the key of a plugin whose manifest has the role compactor",
    ],
    unknown_tool: ["No plugin of the agent has this tool", "Use the tool's full name"],
  }),
  ...rows("project", -32004, 422, {
    config_invalid: ["A plugin's config does not fit its schema", "Correct each listed field"],
    system_config_key: ["The project's config sets a field that belongs to the operator", "Move it to local.toml"],
    variable_missing: ["A variable that local.toml names is not set", "Set it, or write $${ for a literal ${"],
    reference_failed: ["A value that local.toml refers to cannot be had", "Correct the reference that is named"],
    variable_unfilled: [
      "The project's config names a variable, which is filled in local.toml only",
      "Move the field to local.toml if the plugin takes it there",
    ],
    undeclared_secrets: [
      "local.toml has values for a plugin that declares none",
      "Remove them: they are not handed over",
    ],
  }),
  ...tomlRows("local", "local.toml"),
  ...rows("local", -32602, 400, {
    toml_duplicate_key: [
      "A key or a table stands twice",
      "Keep one of the two, with the keys of both under it; kaged secret set writes a secret to its place",
    ],
  }),
  ...tomlRows("config", "config.toml"),
  ...rows("secret", -32602, 422, {
    unknown_key: ["The plugin takes no such value of the operator", "Use one of the keys that are named"],
    reserved_key: ["A key of local.toml is the host's own", "Use a key that the plugin's manifest names"],
    not_set: ["local.toml holds no such value", "See kaged secret list"],
    empty: ["A secret is empty", "Type it, or pass it on standard input"],
  }),
  "config.rule_covered": row(
    -32602,
    422,
    "A rule in config.toml never decides: one above it matches first",
    "Move it above that one, or remove it",
  ),
  "config.rule_unknown": row(
    -32602,
    409,
    "config.toml has no such rule, or no longer",
    "See kaged rules list, and try again",
  ),
  ...rows("config", -32004, 422, {
    net_rule_plugin: [
      "A rule of [[net_rules]] names a plugin that is not installed",
      "Correct its plugin, or remove it",
    ],
    net_rule_host: [
      "A rule of [[net_rules]] names a host that its plugin is not granted",
      "Correct its host, or remove it",
    ],
  }),
  "config.not_set": row(-32602, 404, "config.toml does not set it", "Set it, or rely on the default"),
};
