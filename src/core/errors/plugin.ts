/**
 * Failures of a plugin: its life, its handshake, its knobs.
 *
 * @module
 */
import { type ErrorRow, row, rows } from "./row.ts";

export const PLUGIN_ERRORS: Readonly<Record<string, ErrorRow>> = {
  "plugin.error": row(-32000, 422, "The plugin reported an error of its own", "Read the message and its data"),
  ...rows("plugin", -32001, 403, {
    capability_denied: ["The plugin was not granted this", "Declare the capability and ask again"],
  }),
  "plugin.not_initialized": row(-32002, 409, "The handshake is not complete", "Wait for initialized"),
  "plugin.storage_denied": row(-32003, 403, "Storage outside the plugin's own tables", "Use the plugin's own tables"),
  "plugin.config_invalid": row(-32004, 422, "The plugin refused its configuration", "Correct the configuration"),
  "plugin.not_applicable": row(-32006, 409, "The method does not apply here", "Call it from where it applies"),
  ...rows("plugin", -32603, 502, {
    unavailable: ["The plugin is not running", "See kaged plugin check, then enable it again"],
    unreachable: [
      "The MCP server elsewhere cannot be reached, or answers with failures",
      "Look at the network of this machine and at the server; the host tries again by itself",
    ],
    no_descriptors: ["The host has no file descriptor left to start a plugin", "Raise its limit of open files"],
    refused: [
      "The host does not run the plugin as it is declared",
      "Mend the cause that the message names, then reload the plugin",
    ],
    disabled: ["The operator has not enabled the plugin", "Run kaged plugin enable"],
    flood: ["The plugin wrote too many lines that are no messages", "Have it write its logs to stderr"],
    memory_exceeded: [
      "The plugin used more memory than it may",
      "Mend the plugin, or raise memory_mb under limits in config.toml",
    ],
    pids_exceeded: [
      "The plugin started more processes and threads than it may",
      "Mend the plugin, or raise pids under limits in config.toml",
    ],
  }),
  ...rows("plugin", -32603, 409, {
    reloading: ["The plugin is being reloaded already", "Wait until that is done"],
    reload_failed: [
      "The plugin could not be started anew; the one that ran goes on",
      "Mend the cause that the message names, and reload it again",
    ],
    tampered: ["The installed files are not those the operator agreed to", "Install the plugin again, or uninstall it"],
  }),
  "plugin.pins_unreadable": row(
    -32603,
    500,
    "The file of a plugin's pinned tools cannot be read",
    "Start the plugin: all its tools are held; then run kaged plugin approve-tools",
  ),
  "plugin.unknown": row(-32602, 404, "No plugin of that name is registered", "Look at the list of plugins"),
  "plugin.duplicate": row(-32602, 409, "Two plugins have one instance id", "Give each plugin a name of its own"),
  "plugin.context_partial": row(-32603, 500, "A call context is half set", "Set project, agent and session together"),
  "initialize.timeout": row(-32603, 502, "The plugin did not answer initialize in 10 s", "Answer it first"),
  "initialize.malformed": row(-32600, 502, "The answer to initialize breaks the contract", "See the wire guide"),
  "initialize.refused": row(-32603, 502, "The plugin answered initialize with an error", "Read its message"),
  "initialize.name_mismatch": row(-32600, 502, "Manifest and process disagree on the name", "Use one name"),
  "initialize.version_mismatch": row(-32600, 502, "Manifest and process disagree on the version", "Use one version"),
  "initialize.api_mismatch": row(-32600, 502, "The plugin speaks another API version", "Build it for this API version"),
  "initialize.capability_overreach": row(-32001, 403, "The plugin claims more than its manifest", "Declare it"),
  "plugin.not_installed": row(-32602, 404, "A declared plugin is not installed", "Install it, or pass its folder"),
  "knob.unknown": row(-32602, 404, "The plugin has no such knob", "Look at the plugin's knobs"),
  "knob.value_invalid": row(-32004, 422, "The value does not fit the knob", "Choose a value within its bounds"),
  ...rows("knob", -32603, 409, {
    edit_refused: ["The change cannot be written without touching something else", "Edit project.yaml by hand"],
  }),
};
