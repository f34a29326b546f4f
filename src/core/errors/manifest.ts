/**
 * Mistakes in a manifest and its capabilities.
 *
 * @module
 */
import { type ErrorRow, rows, yamlRows } from "./row.ts";

export const MANIFEST_ERRORS: Readonly<Record<string, ErrorRow>> = {
  ...yamlRows("manifest", "manifest"),
  ...rows("manifest", -32602, 400, {
    missing: ["The folder holds no kaged-plugin.yaml", "Run kaged plugin new"],
    unreadable: ["The manifest cannot be read", "Check that kaged-plugin.yaml is a file you may read"],
    too_large: ["The manifest is larger than a manifest may be", "Keep it under 256 KiB and write less"],
    not_a_map: ["The manifest is not a map of fields", "Start with name: and version:"],
    invalid_name: [
      "The name does not fit ^[a-z][a-z0-9-]*$ with at most 64 characters",
      "Use a name such as memory-markdown",
    ],
    builtin_name: [
      "The plugin is named like a built-in tool group",
      "Choose another name, so that nobody mixes them up",
    ],
    invalid_version: ["The version is not SemVer 2.0.0", "Write MAJOR.MINOR.PATCH, such as 0.1.0"],
    kind_api_mismatch: [
      "The plugin is written for other lifecycle hooks than the host has",
      "Use a version of the plugin, or of the host, that goes with the other",
    ],
    unsupported_api: ["The host does not speak this plugin API version", "Write kaged_api: 1"],
    unknown_runtime: ["The host knows no such runtime", "Write kaged_stdio, mcp_stdio or mcp_http"],
    invalid_home: ["HOME of a cage is no such place", "Write private or readonly"],
    mcp_contradiction: [
      "An MCP server cannot take part in this",
      "Remove it, or write a plugin of its own with the SDK",
    ],
    invalid_url: [
      "The address of an MCP server is not https, nor http on this machine itself",
      "Write https://host/path, without a user name and without #…",
    ],
    invalid_header: [
      "A field of HTTP requests has a name or a value that it cannot have",
      "Use a token as its name and one line as its value; the protocol's own fields are set by the host",
    ],
    invalid_oauth: [
      "A detail of the login is not what OAuth allows",
      "Leave it out unless the server's operator named it",
    ],
    invalid_description: [
      "The description is not one line of 1 to 200 characters",
      "Say what it does in one short line",
    ],
    invalid_author: ["The author is not one line of 1 to 200 characters", "Write a name or a handle"],
    invalid_license: ["The license is not an SPDX expression", "Write an identifier such as MIT or Apache-2.0"],
    invalid_homepage: ["The homepage is not an http or https address", "Write https://…"],
    invalid_command: ["The command is not a list of a program and its arguments", "Write command: [js, ./plugin.js]"],
    outside_command: ["The command leads out of the plugin's folder", "Keep the program inside the folder"],
    invalid_env_name: [
      "A variable's name does not fit ^[A-Za-z_][A-Za-z0-9_]*$",
      "Use letters, digits and underscores",
    ],
    forbidden_env_name: ["A plugin may not set variables of the dynamic loader", "Remove every LD_ variable"],
    reserved_env_name: ["The host sets this variable itself", "Remove it: the plugin gets the right value"],
    invalid_env_value: ["A variable's value holds a NUL character", "Remove the character"],
    duplicate_entry: ["An entry stands twice", "Remove one: twice means no more than once"],
    unknown_role: ["A role is not known", "Use observer or compactor"],
    role_and_roles: ["Both role and roles are given", "Keep roles"],
    compactor_without_hook: ["A compactor does not subscribe to pre_compact", "Add pre_compact to hooks"],
    unknown_hook: ["A hook is not known", "Use one of the hooks in the guide"],
    invalid_tool_name: [
      "A tool's name does not fit ^[a-z][a-z0-9_]*$",
      "Use lowercase letters, digits and underscores",
    ],
    invalid_tool_description: ["A tool has no description", "Say what it does: the model reads it"],
    short_tool_owner: ["A plugin with tools has a name of one character", "Use a name of two characters or more"],
    duplicate_tool: ["Two tools have one name", "Rename one of them"],
    taken_tool_name: ["A tool's full name is a method's name already", "Rename the tool"],
    invalid_method_name: [
      "A method's name is not 2 to 4 lowercase segments joined by dots",
      "Use a name such as presets.list",
    ],
    reserved_method_name: [
      "A method's name belongs to the host",
      "Use a name outside kaged., system. and the system methods",
    ],
    out_of_range: ["A number is outside its bounds", "Use a whole number within the bounds"],
    schema_not_object: ["A schema does not describe an object", "Write type: object at its root"],
    invalid_schema: ["A schema is not a JSON Schema", "Follow JSON Schema 2020-12"],
    system_only: [
      "A field of config_schema is marked system_only",
      "Move it to system_config_schema: its place says the same",
    ],
    shared_config_field: ["A field is in both config schemas", "Keep it in one: secrets in system_config_schema"],
    reserved_config_field: ["A field of system_config_schema has a name the host keeps for itself", "Rename it"],
    unknown_secret: ["A secret is no field of system_config_schema", "Declare the field, or correct the name"],
    secret_not_text: ["A secret is no text", "Write type: string for its field in system_config_schema"],
    secret_kind: [
      "It is not clear where a secret goes",
      "Write hosts: [host:port] for a placeholder, or exposed: true for the value itself",
    ],
    invalid_secret_host: ["A secret names no host to go to", "Write hosts: [api.example.org:443]"],
    secret_host_not_granted: ["A secret goes to a host that is not granted", "Add a net: capability for it"],
    secret_open_network: [
      "With net:* there is no gatekeeper that could put a secret in",
      "Ask for net:<host>:<port> of each host instead, or write exposed: true",
    ],
    secret_env_taken: ["Two values go into one variable", "Name another variable"],
    invalid_kind_name: [
      "A kind is not named like this",
      "Use the name in the hookspec: lower case letters, digits and single underscores",
    ],
    invalid_knob_name: [
      "A knob's name does not fit ^[a-z][a-z0-9_]*$",
      "Use lowercase letters, digits and underscores",
    ],
    unknown_knob_type: ["A knob's type is not known", "Use one of the knob types in the guide"],
    invalid_knob_label: ["A knob's label is not one line of 1 to 64 characters", "Shorten it"],
    invalid_knob_description: ["A knob's description is longer than 280 characters", "Shorten it"],
    invalid_knob_bounds: [
      "A knob's bounds contradict each other",
      "Use min < max and a step between 0 and their distance",
    ],
    invalid_knob_default: ["A knob's default is not a value it can take", "Choose a default within the knob's bounds"],
    invalid_knob_values: ["A knob's values are not distinct non-empty strings", "List each choice once"],
    invalid_knob_labels: ["A knob labels a choice it does not have", "Use the knob's values as keys"],
    invalid_knob_pattern: ["A knob's pattern is not a regular expression of at most 200 characters", "Correct it"],
    invalid_knob_prefixes: ["A knob's prefixes are not distinct ones of project: and config:", "List each prefix once"],
    unknown_knob_target: [
      "A knob does not bind to a field of config_schema",
      "Write binds_to: config.<field> and declare the field",
    ],
    knob_binds_to_system_config: [
      "A knob binds to operator-local config",
      "Bind it to a field of config_schema: knobs write committed files",
    ],
    duplicate_knob_target: ["Two knobs bind to one field", "Keep one knob for each field"],
    knob_schema_mismatch: ["A knob and its config field disagree", "Give both the same type and values"],
  }),
  ...rows("capability", -32602, 400, {
    invalid: ["A capability does not follow the grammar", "See the capabilities guide"],
    unknown: ["This is no kind of capability", "See the capabilities guide"],
    missing_path: ["The capability names no path", "Add an absolute path, or config:/, project:/, plugin:/"],
    relative_path: ["The path is not absolute", "Start it with /, config:/, project:/ or plugin:/"],
    parent_path: ["The path holds a .. segment", "Write the path it leads to"],
    glob_path: ["The path holds a glob character", "Grant the folder: grants are recursive"],
    unprintable_path: ["The path holds an unprintable character", "Remove the character"],
    long_path: ["The path is longer than 4095 bytes", "Shorten it"],
    invalid_binary: ["The program is not a bare name", "Write exec:<name>:<path>, such as exec:jq:plugin:/"],
    invalid_host: [
      "The host is neither a name, a dotted-quad IPv4 nor a bracketed IPv6 address",
      "Write net:<host>:<port>",
    ],
    invalid_port: ["The port is not 1 to 65535 or *", "Write net:<host>:<port>"],
    net_contradiction: ["net:[] stands beside other network grants", "Keep net:[] or the grants"],
    no_project: ["A project:/ grant outside any project", "Start the plugin from a project"],
    path_missing: ["A granted path does not exist", "Create it or drop the grant"],
  }),
  ...rows("capability", -32001, 403, {
    path_forbidden: ["A granted path may never be granted", "Grant a narrower path"],
    symlink_escape: ["A granted path leads elsewhere", "Grant the resolved path"],
    special_file: ["A granted path is no file or folder", "Grant a file or a folder"],
    socket_inside: ["A granted path holds a unix socket", "Move it, or grant less"],
  }),
};
