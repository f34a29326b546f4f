/**
 * Failures of reading projects and the operator's files.
 *
 * @module
 */
import { type ErrorRow, row, tomlRows, yamlRows } from "./row.ts";

/** Rows of the families `project`, `local` and `config`. */
export const PROJECT_ERRORS: Readonly<Record<string, ErrorRow>> = {
  ...yamlRows("project", "project file"),
  "project.duplicate_id": row(-32602, 409, "Two folders hold projects of one id", "Set another id: in one of them"),
  "project.missing": row(-32602, 400, "The folder holds no project.yaml", "Name the folder that holds it"),
  "project.misplaced_key": row(-32602, 400, "A key stands where it has no meaning", "Move it where the hint says"),
  "project.carried_key": row(-32602, 400, "An agent has a key of another subsystem", "Nothing, unless it is misspelt"),
  "project.invalid_id": row(
    -32602,
    400,
    "The id does not fit ^[a-z][a-z0-9-]*$ with at most 64 characters",
    "Use an id such as my-project",
  ),
  "project.invalid_agent_name": row(
    -32602,
    400,
    "A subagent's name does not fit ^[A-Za-z][A-Za-z0-9_-]*$ with at most 64 characters",
    "Use a name such as researcher",
  ),
  "project.invalid_plugin_key": row(
    -32602,
    400,
    "A plugin's key does not fit ^[A-Za-z][A-Za-z0-9_-]*$ with at most 64 characters",
    "Use a key such as memory, and name the package under it",
  ),
  "project.invalid_package": row(
    -32602,
    400,
    "The package is no package name",
    "Write a name such as @kaged/memory-markdown",
  ),
  "project.invalid_source": row(
    -32602,
    400,
    "The source is neither a path in the project nor an address",
    "Write ./path, https://… or git+https://…",
  ),
  "project.invalid_version": row(-32602, 400, "The version is no range of versions", "Write a range such as ^0.1"),
  "project.invalid_value": row(-32602, 400, "The value is not one of those allowed", "Use one of the values named"),
  "project.unknown_hook": row(-32602, 400, "A hook is not known", "Use one of the hooks in the guide"),
  "project.missing_package": row(
    -32602,
    422,
    "A plugin is declared without its package",
    "Write package: under the plugin's key",
  ),
  "project.forbidden_override": row(
    -32602,
    422,
    "An agent overrides what only the base declaration of a plugin may set",
    "Set package and isolation where the plugin is first declared",
  ),
  "project.isolation_contradiction": row(
    -32602,
    422,
    "Declaration and config of a plugin disagree on isolation",
    "Set isolation beside package, not under config",
  ),
  "project.base_refused": row(
    -32602,
    422,
    "The declaration a shared plugin is based on was refused",
    "Correct that declaration first",
  ),
  "project.duplicate_plugin": row(
    -32602,
    422,
    "One plugin would run twice in one place",
    "Declare it under one key for each agent",
  ),
  "project.hook_not_offered": row(
    -32602,
    422,
    "An agent lists a hook the plugin does not offer",
    "Remove it, or ask the plugin's author",
  ),
  "project.hook_illegal": row(
    -32602,
    422,
    "A subagent lists a hook that fires for the primary agent only",
    "Remove it: it never fires there",
  ),
  "project.version_mismatch": row(
    -32602,
    422,
    "The plugin's version is outside the range asked for",
    "Install another version, or widen the range",
  ),
  "project.package_mismatch": row(
    -32602,
    422,
    "The installed plugin of that name comes from another package",
    "Uninstall it, or name its package",
  ),
  "project.config_invalid": row(-32004, 422, "A plugin's config does not fit its schema", "Correct each listed field"),
  "project.system_config_key": row(
    -32004,
    422,
    "The project's config sets a field that belongs to the operator",
    "Move it to local.toml",
  ),
  "project.variable_missing": row(
    -32004,
    422,
    "A variable that local.toml names is not set",
    "Set it, or write $${ for a literal ${",
  ),
  "project.variable_unfilled": row(
    -32004,
    422,
    "The project's config names a variable, which is filled in local.toml only",
    "Move the field to local.toml if the plugin takes it there",
  ),
  "project.undeclared_secrets": row(
    -32004,
    422,
    "local.toml has values for a plugin that declares none",
    "Remove them: they are not handed over",
  ),
  "project.second_compactor": row(
    -32602,
    422,
    "Two plugins of one agent are compactors",
    "Declare one compactor for each agent",
  ),
  "project.invalid_delegate": row(
    -32602,
    422,
    "Compaction is delegated to no compactor of the agent",
    "Name the key of a plugin whose manifest has the role compactor",
  ),
  "project.unknown_tool": row(-32602, 422, "No plugin of the agent has this tool", "Use the tool's full name"),
  ...tomlRows("local", "local.toml"),
  ...tomlRows("config", "config.toml"),
  "config.not_set": row(-32602, 404, "config.toml does not set it", "Set it, or leave it to its default"),
};
