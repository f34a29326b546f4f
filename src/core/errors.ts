/**
 * Every failure the host reports, in one table: the code a program matches on, the number it travels under, the HTTP
 * status, and what a person should know about its cause and its fix.
 *
 * @module
 */

/** What one failure means, on the wire, over HTTP and to a person. */
export interface ErrorRow {
  /** JSON-RPC error number. */
  readonly rpc: number;
  /** HTTP status. */
  readonly http: number;
  /** Why it happens. */
  readonly cause: string;
  /** What to do about it. */
  readonly fix: string;
}

const row = (rpc: number, http: number, cause: string, fix: string): ErrorRow => ({ rpc, http, cause, fix });

/** What can be wrong with any YAML file, whatever it is about. */
const yamlRows = (room: string, it: string): Record<string, ErrorRow> => {
  const reasons: Record<string, [string, string]> = {
    unreadable: [`The ${it} cannot be read`, "Check that it is a file you may read"],
    invalid: [`The ${it} breaks the rules listed`, "Correct each listed place"],
    too_large: [`The ${it} is larger than it may be`, "Keep it under 1 MiB and write less"],
    too_deep: [`The ${it} is nested too deeply`, "Keep every structure in it within 64 levels"],
    not_utf8: [`The ${it} is not UTF-8 text`, "Save it as UTF-8"],
    not_a_map: [`The ${it} is not a map of fields`, "Write one key: value on each line"],
    yaml_syntax: ["The YAML cannot be read", "Correct the syntax at this place"],
    yaml_documents: ["The file holds more than one YAML document", "Keep one document, without --- between parts"],
    yaml_duplicate_key: ["A key stands twice in one map", "Keep one of the two"],
    yaml_key: ["A key is not a string", "Use plain text as the key"],
    yaml_tag: ["A YAML tag has no meaning here", "Leave the tag out"],
    yaml_alias: ["An alias points at nothing, or at itself", "Write the value out"],
    yaml_number: ["A number is not finite", "Write a number that JSON can hold"],
    missing_field: ["A required field is missing", "Add it"],
    unknown_key: ["A key is not known here", "Remove it"],
    forbidden_key: ["A key has a name that is never allowed", "Choose another name"],
    wrong_type: ["A value has the wrong type", "Give a value of the type named"],
  };
  return Object.fromEntries(
    Object.entries(reasons).map(([reason, [cause, fix]]) => [`${room}.${reason}`, row(-32602, 400, cause, fix)]),
  );
};

/** What can be wrong with any TOML file of the operator's. */
const tomlRows = (room: string, it: string): Record<string, ErrorRow> => ({
  [`${room}.unreadable`]: row(-32603, 500, `${it} cannot be read`, "Check that it is a file you may read"),
  [`${room}.invalid`]: row(-32602, 400, `${it} breaks the rules listed`, "Correct each listed place"),
  [`${room}.too_large`]: row(-32602, 400, `${it} is larger than it may be`, "Keep it under 1 MiB"),
  [`${room}.not_utf8`]: row(-32602, 400, `${it} is not UTF-8 text`, "Save it as UTF-8"),
  [`${room}.toml_syntax`]: row(-32602, 400, "The TOML cannot be read", "Correct the syntax at this place"),
  [`${room}.unknown_key`]: row(-32602, 400, "A key is not known here", "Remove it"),
  [`${room}.wrong_type`]: row(-32602, 400, "A value has the wrong type", "Give a value of the type named"),
  [`${room}.invalid_value`]: row(-32602, 400, "A value is outside its bounds", "Use a value within the bounds"),
});

/** The error table: a new failure is a new row. */
export const ERRORS: Readonly<Record<string, ErrorRow>> = {
  "host.internal": row(-32603, 500, "The host broke one of its own rules", "Report it with the message and the steps"),
  "host.misuse": row(-32602, 400, "A command or a call was given arguments it does not take", "Read the usage"),
  "host.file_unreadable": row(-32603, 500, "A file could not be read or written", "Check the path and its permissions"),

  "host.interrupted": row(-32603, 499, "A signal ended the command", "Nothing, unless it was not meant"),
  "host.runtime_old": row(-32603, 500, "The runtime is older than the host needs", "Use a newer one"),

  "protocol.parse": row(-32700, 400, "A line is not JSON", "Write one JSON object per line on stdout; log to stderr"),
  "protocol.invalid": row(-32600, 400, "A line is JSON but no JSON-RPC 2.0 message", "Send one request or response"),
  "protocol.batch": row(-32600, 400, "A line holds a JSON array", "Send each message on a line of its own"),
  "protocol.method_unknown": row(-32601, 404, "The method does not exist", "Call a method the other side declares"),
  "protocol.params_invalid": row(
    -32602,
    400,
    "The method does not take these params",
    "Send what the method documents",
  ),
  "protocol.internal": row(-32603, 502, "The other side failed in an unspecified way", "Read the plugin's log"),
  "protocol.oversize_message": row(-32603, 502, "A line is longer than 4 MiB", "Split the message or send less"),
  "protocol.busy": row(-32005, 409, "The other side has stopped reading", "Try again once it has caught up"),
  "protocol.closed": row(-32603, 502, "The connection ended before the answer came", "Try again once the plugin runs"),
  "protocol.timeout": row(
    -32603,
    502,
    "No answer came in time",
    "Raise the timeout, or report progress from the plugin",
  ),
  "protocol.cancelled": row(-32603, 499, "The caller cancelled the call", "Nothing, unless it was not meant"),
  "protocol.unserializable": row(-32602, 400, "A value cannot be written as JSON", "Send plain JSON values"),
  "protocol.violation": row(-32600, 502, "A plugin broke the order of the protocol", "Stay silent until initialize"),

  "plugin.error": row(-32000, 422, "The plugin reported an error of its own", "Read the message and its data"),
  "plugin.capability_denied": row(
    -32001,
    403,
    "The plugin was not granted this",
    "Declare the capability and ask again",
  ),
  "plugin.not_initialized": row(-32002, 409, "The handshake is not complete", "Wait for initialized"),
  "plugin.storage_denied": row(-32003, 403, "Storage outside the plugin's own tables", "Use the plugin's own tables"),
  "plugin.config_invalid": row(-32004, 422, "The plugin refused its configuration", "Correct the configuration"),
  "plugin.not_applicable": row(-32006, 409, "The method does not apply here", "Call it from where it applies"),
  "plugin.unavailable": row(-32603, 502, "The plugin is not running", "See kaged plugin check, then enable it again"),
  "plugin.disabled": row(-32603, 502, "The operator has not enabled the plugin", "Run kaged plugin enable"),
  "plugin.memory_exceeded": row(
    -32603,
    502,
    "The plugin used more memory than it may",
    "Mend the plugin, or raise memory_mb under limits in config.toml",
  ),
  "plugin.pids_exceeded": row(
    -32603,
    502,
    "The plugin started more processes and threads than it may",
    "Mend the plugin, or raise pids under limits in config.toml",
  ),
  "plugin.unknown": row(-32602, 404, "No plugin of that name is registered", "Look at the list of plugins"),
  "plugin.duplicate": row(-32602, 409, "Two plugins have one instance id", "Give each plugin a name of its own"),
  "plugin.context_partial": row(-32603, 500, "A call context is half set", "Set project, agent and session together"),

  "storage.denied": row(-32003, 403, "Storage outside the plugin's own tables", "Use the plugin's own tables"),
  "storage.sql": row(-32000, 422, "SQLite refused the statement", "Correct the SQL"),
  "storage.params_invalid": row(-32602, 400, "A storage call has the wrong params", "See docs/storage.md"),
  "storage.timeout": row(-32603, 502, "A statement ran past its deadline", "Make it cheaper, or split it"),
  "storage.too_large": row(-32000, 422, "A result or a value is larger than the limit", "Use LIMIT"),
  "storage.out_of_memory": row(-32000, 422, "A statement took more memory than it may", "Make it cheaper, or split it"),
  "storage.quota": row(-32000, 422, "The plugin's byte quota is used up", "Delete rows, or raise the quota"),
  "storage.disk_full": row(-32603, 502, "The disk is full", "Make room; nothing was written"),
  "storage.disk_failed": row(-32603, 502, "The disk reported an error", "Check the disk and its permissions"),
  "storage.busy": row(-32005, 409, "Another process holds the database", "Try again"),
  "storage.failed": row(-32603, 502, "The storage process failed", "Try again; then see the host's log"),
  "storage.unavailable": row(-32603, 502, "This runtime has no SQLite that can be fenced", "Use a newer runtime"),
  "storage.prefix_taken": row(
    -32003,
    409,
    "Another plugin keeps tables under this plugin's prefix",
    "Rename those tables, or uninstall that plugin",
  ),

  "initialize.timeout": row(-32603, 502, "The plugin did not answer initialize in 10 s", "Answer it first"),
  "initialize.malformed": row(
    -32600,
    502,
    "The answer to initialize is not what the contract says",
    "See the wire guide",
  ),
  "initialize.refused": row(-32603, 502, "The plugin answered initialize with an error", "Read its message"),
  "initialize.name_mismatch": row(-32600, 502, "Manifest and process disagree on the name", "Use one name"),
  "initialize.version_mismatch": row(-32600, 502, "Manifest and process disagree on the version", "Use one version"),
  "initialize.api_mismatch": row(-32600, 502, "The plugin speaks another API version", "Build it for this API version"),
  "initialize.capability_overreach": row(-32001, 403, "The plugin claims more than its manifest", "Declare it"),

  "manifest.missing": row(-32602, 400, "The folder holds no kaged-plugin.yaml", "Run kaged plugin new"),
  "manifest.invalid": row(-32602, 400, "The manifest breaks the rules listed", "Correct each listed place"),
  "manifest.unreadable": row(
    -32602,
    400,
    "The manifest cannot be read",
    "Check that kaged-plugin.yaml is a file you may read",
  ),
  "manifest.too_large": row(
    -32602,
    400,
    "The manifest is larger than a manifest may be",
    "Keep it under 256 KiB and write less",
  ),
  "manifest.too_deep": row(
    -32602,
    400,
    "The manifest is nested too deeply",
    "Keep every structure in it within 64 levels",
  ),
  "manifest.not_utf8": row(-32602, 400, "The manifest is not UTF-8 text", "Save it as UTF-8"),
  "manifest.not_a_map": row(-32602, 400, "The manifest is not a map of fields", "Start with name: and version:"),
  "manifest.yaml_syntax": row(-32602, 400, "The YAML cannot be read", "Correct the syntax at this place"),
  "manifest.yaml_documents": row(
    -32602,
    400,
    "The file holds more than one YAML document",
    "Keep one document, without --- between parts",
  ),
  "manifest.yaml_duplicate_key": row(-32602, 400, "A key stands twice in one map", "Keep one of the two"),
  "manifest.yaml_key": row(-32602, 400, "A key is not a string", "Use plain text as the key"),
  "manifest.yaml_tag": row(-32602, 400, "A YAML tag has no meaning in a manifest", "Leave the tag out"),
  "manifest.yaml_alias": row(-32602, 400, "An alias points at nothing, or at itself", "Write the value out"),
  "manifest.yaml_number": row(-32602, 400, "A number is not finite", "Write a number that JSON can hold"),
  "manifest.missing_field": row(-32602, 400, "A required field is missing", "Add it"),
  "manifest.unknown_key": row(-32602, 400, "A key is not known here", "Remove it"),
  "manifest.forbidden_key": row(-32602, 400, "A key has a name that is never allowed", "Choose another name"),
  "manifest.wrong_type": row(-32602, 400, "A value has the wrong type", "Give a value of the type named"),
  "manifest.invalid_name": row(
    -32602,
    400,
    "The name does not fit ^[a-z][a-z0-9-]*$ with at most 64 characters",
    "Use a name such as memory-markdown",
  ),
  "manifest.builtin_name": row(
    -32602,
    400,
    "The plugin is named like a built-in tool group",
    "Choose another name, so that nobody mixes them up",
  ),
  "manifest.invalid_version": row(
    -32602,
    400,
    "The version is not SemVer 2.0.0",
    "Write MAJOR.MINOR.PATCH, such as 0.1.0",
  ),
  "manifest.unsupported_api": row(-32602, 400, "The host does not speak this plugin API version", "Write kaged_api: 1"),
  "manifest.invalid_description": row(
    -32602,
    400,
    "The description is not one line of 1 to 200 characters",
    "Say what it does in one short line",
  ),
  "manifest.invalid_author": row(
    -32602,
    400,
    "The author is not one line of 1 to 200 characters",
    "Write a name or a handle",
  ),
  "manifest.invalid_license": row(
    -32602,
    400,
    "The license is not an SPDX expression",
    "Write an identifier such as MIT or Apache-2.0",
  ),
  "manifest.invalid_homepage": row(-32602, 400, "The homepage is not an http or https address", "Write https://…"),
  "manifest.invalid_command": row(
    -32602,
    400,
    "The command is not a list of a program and its arguments",
    "Write command: [js, ./plugin.js]",
  ),
  "manifest.outside_command": row(
    -32602,
    400,
    "The command leads out of the plugin's folder",
    "Keep the program inside the folder",
  ),
  "manifest.invalid_env_name": row(
    -32602,
    400,
    "A variable's name does not fit ^[A-Za-z_][A-Za-z0-9_]*$",
    "Use letters, digits and underscores",
  ),
  "manifest.forbidden_env_name": row(
    -32602,
    400,
    "A plugin may not set variables of the dynamic loader",
    "Remove every LD_ variable",
  ),
  "manifest.reserved_env_name": row(
    -32602,
    400,
    "The host sets this variable itself",
    "Remove it: the plugin gets the right value",
  ),
  "manifest.invalid_env_value": row(-32602, 400, "A variable's value holds a NUL character", "Remove the character"),
  "manifest.duplicate_entry": row(-32602, 400, "An entry stands twice", "Remove one: twice means no more than once"),
  "manifest.unknown_role": row(-32602, 400, "A role is not known", "Use observer or compactor"),
  "manifest.role_and_roles": row(-32602, 400, "Both role and roles are given", "Keep roles"),
  "manifest.compactor_without_hook": row(
    -32602,
    400,
    "A compactor does not subscribe to pre_compact",
    "Add pre_compact to hooks",
  ),
  "manifest.unknown_hook": row(-32602, 400, "A hook is not known", "Use one of the hooks in the guide"),
  "manifest.invalid_tool_name": row(
    -32602,
    400,
    "A tool's name does not fit ^[a-z][a-z0-9_]*$",
    "Use lowercase letters, digits and underscores",
  ),
  "manifest.invalid_tool_description": row(
    -32602,
    400,
    "A tool has no description",
    "Say what it does: the model reads it",
  ),
  "manifest.short_tool_owner": row(
    -32602,
    400,
    "A plugin with tools has a name of one character",
    "Use a name of two characters or more",
  ),
  "manifest.duplicate_tool": row(-32602, 400, "Two tools have one name", "Rename one of them"),
  "manifest.taken_tool_name": row(-32602, 400, "A tool's full name is a method's name already", "Rename the tool"),
  "manifest.invalid_method_name": row(
    -32602,
    400,
    "A method's name is not 2 to 4 lowercase segments joined by dots",
    "Use a name such as presets.list",
  ),
  "manifest.reserved_method_name": row(
    -32602,
    400,
    "A method's name belongs to the host",
    "Use a name outside kaged., system. and the system methods",
  ),
  "manifest.out_of_range": row(-32602, 400, "A number is outside its bounds", "Use a whole number within the bounds"),
  "manifest.schema_not_object": row(
    -32602,
    400,
    "A schema does not describe an object",
    "Write type: object at its root",
  ),
  "manifest.invalid_schema": row(-32602, 400, "A schema is not a JSON Schema", "Follow JSON Schema 2020-12"),
  "manifest.system_only": row(
    -32602,
    400,
    "A field of config_schema is marked system_only",
    "Move it to system_config_schema: its place says the same",
  ),
  "manifest.shared_config_field": row(
    -32602,
    400,
    "A field is in both config schemas",
    "Keep it in one: secrets in system_config_schema",
  ),
  "manifest.reserved_config_field": row(
    -32602,
    400,
    "A field of system_config_schema has a name the host keeps for itself",
    "Rename it",
  ),
  "manifest.invalid_knob_name": row(
    -32602,
    400,
    "A knob's name does not fit ^[a-z][a-z0-9_]*$",
    "Use lowercase letters, digits and underscores",
  ),
  "manifest.unknown_knob_type": row(
    -32602,
    400,
    "A knob's type is not known",
    "Use one of the knob types in the guide",
  ),
  "manifest.invalid_knob_label": row(-32602, 400, "A knob's label is not one line of 1 to 64 characters", "Shorten it"),
  "manifest.invalid_knob_description": row(
    -32602,
    400,
    "A knob's description is longer than 280 characters",
    "Shorten it",
  ),
  "manifest.invalid_knob_bounds": row(
    -32602,
    400,
    "A knob's bounds contradict each other",
    "Use min < max and a step between 0 and their distance",
  ),
  "manifest.invalid_knob_default": row(
    -32602,
    400,
    "A knob's default is not a value it can take",
    "Choose a default within the knob's bounds",
  ),
  "manifest.invalid_knob_values": row(
    -32602,
    400,
    "A knob's values are not distinct non-empty strings",
    "List each choice once",
  ),
  "manifest.invalid_knob_labels": row(
    -32602,
    400,
    "A knob labels a choice it does not have",
    "Use the knob's values as keys",
  ),
  "manifest.invalid_knob_pattern": row(
    -32602,
    400,
    "A knob's pattern is not a regular expression of at most 200 characters",
    "Correct it",
  ),
  "manifest.invalid_knob_prefixes": row(
    -32602,
    400,
    "A knob's prefixes are not distinct ones of project: and config:",
    "List each prefix once",
  ),
  "manifest.unknown_knob_target": row(
    -32602,
    400,
    "A knob does not bind to a field of config_schema",
    "Write binds_to: config.<field> and declare the field",
  ),
  "manifest.knob_binds_to_system_config": row(
    -32602,
    400,
    "A knob binds to operator-local config",
    "Bind it to a field of config_schema: knobs write committed files",
  ),
  "manifest.duplicate_knob_target": row(-32602, 400, "Two knobs bind to one field", "Keep one knob for each field"),
  "manifest.knob_schema_mismatch": row(
    -32602,
    400,
    "A knob and its config field disagree",
    "Give both the same type and values",
  ),

  "capability.invalid": row(-32602, 400, "A capability does not follow the grammar", "See the capabilities guide"),
  "capability.unknown": row(-32602, 400, "This is no kind of capability", "See the capabilities guide"),
  "capability.missing_path": row(
    -32602,
    400,
    "The capability names no path",
    "Add an absolute path, or config:/, project:/, plugin:/",
  ),
  "capability.relative_path": row(
    -32602,
    400,
    "The path is not absolute",
    "Start it with /, config:/, project:/ or plugin:/",
  ),
  "capability.parent_path": row(-32602, 400, "The path holds a .. segment", "Write the path it leads to"),
  "capability.glob_path": row(-32602, 400, "The path holds a glob character", "Grant the folder: grants are recursive"),
  "capability.unprintable_path": row(-32602, 400, "The path holds an unprintable character", "Remove the character"),
  "capability.long_path": row(-32602, 400, "The path is longer than 4095 bytes", "Shorten it"),
  "capability.invalid_binary": row(
    -32602,
    400,
    "The program is not a bare name",
    "Write exec:<name>:<path>, such as exec:jq:plugin:/",
  ),
  "capability.invalid_host": row(
    -32602,
    400,
    "The host is neither a name, a dotted-quad IPv4 nor a bracketed IPv6 address",
    "Write net:<host>:<port>",
  ),
  "capability.invalid_port": row(-32602, 400, "The port is not 1 to 65535 or *", "Write net:<host>:<port>"),
  "capability.net_contradiction": row(
    -32602,
    400,
    "net:[] stands beside other network grants",
    "Keep net:[] or the grants",
  ),
  "capability.no_project": row(-32602, 400, "A project:/ grant outside any project", "Start the plugin from a project"),
  "capability.path_missing": row(-32602, 400, "A granted path does not exist", "Create it or drop the grant"),
  "capability.path_forbidden": row(-32001, 403, "A granted path may never be granted", "Grant a narrower path"),
  "capability.symlink_escape": row(-32001, 403, "A granted path leads elsewhere", "Grant the resolved path"),
  "capability.special_file": row(-32001, 403, "A granted path is no file or folder", "Grant a file or a folder"),
  "capability.socket_inside": row(-32001, 403, "A granted path holds a unix socket", "Move it, or grant less"),

  "cage.unsupported": row(-32603, 502, "This system cannot cage a plugin", "Use Linux with bubblewrap"),
  "cage.bwrap_missing": row(-32603, 502, "bubblewrap is not installed", "Install the package bubblewrap"),
  "cage.bwrap_untrusted": row(
    -32603,
    502,
    "The bwrap file could be changed by others",
    "Use the distribution's package",
  ),
  "cage.bwrap_old": row(-32603, 502, "This bubblewrap lacks a flag the cage needs", "Install bubblewrap 0.5 or newer"),
  "cage.bash_missing": row(-32603, 502, "The launcher needs bash", "Install the package bash"),
  "cage.apparmor": row(
    -32603,
    502,
    "AppArmor keeps bwrap from making namespaces",
    "Add a profile with userns for bwrap",
  ),
  "cage.userns_disabled": row(-32603, 502, "User namespaces are switched off", "Switch on the sysctl that is named"),
  "cage.nested": row(-32603, 502, "A container hides parts of /proc", "Run the container with an unmasked /proc"),
  "cage.no_permission": row(-32603, 502, "The runtime keeps the host from looking into /proc", "Start Deno with -A"),
  "cage.no_seccomp": row(-32603, 502, "The kernel takes no seccomp filter", "Use a kernel with CONFIG_SECCOMP_FILTER"),
  "cage.path_vanished": row(-32603, 502, "A path went away while the plugin started", "Put it back and start again"),
  "cage.walls_missing": row(
    -32603,
    502,
    "What started the plugin did not cage it",
    "Use the distribution's bubblewrap",
  ),
  "cage.path_swapped": row(-32001, 403, "A granted path changed while the plugin started", "Start it again"),
  "cage.command_missing": row(
    -32602,
    422,
    "The plugin's command is not in the cage",
    "Correct command or add the grant",
  ),
  "cage.command_shim": row(
    -32602,
    422,
    "A program is a version manager's stand-in",
    "Name the program itself under runtimes in config.toml",
  ),
  "cage.setup_failed": row(-32603, 502, "bubblewrap could not build the cage", "Run kaged doctor"),
  "cage.limits_failed": row(-32603, 502, "The cage could not be held to its limits", "Run kaged doctor"),
  "cage.limit_invalid": row(-32602, 400, "A limit is no number the kernel takes", "Correct limits in config.toml"),
  "cage.spawn_failed": row(-32603, 502, "The launcher could not be started", "Run kaged doctor"),

  "check.imports_leave": row(-32602, 422, "A plugin imports what its cage will not hold", "Bundle it into its folder"),
  "check.methods_missing": row(-32601, 422, "A declared method is not offered", "Offer it or do not declare it"),
  "check.ping_answer": row(-32603, 422, "Ping was answered wrongly", 'Answer {"status": "ok"}'),
  "check.shutdown": row(-32603, 422, "The plugin did not end well by itself", "Exit with 0 on shutdown"),
  "check.stdout_noise": row(-32700, 422, "Stdout holds more than messages", "Log to stderr"),

  "scaffold.name_invalid": row(-32602, 400, "No plugin may have this name", "Use a-z, 0-9 and -"),
  "scaffold.not_empty": row(-32602, 409, "The folder for a new plugin is not empty", "Name a new or empty folder"),

  "agent.unknown": row(-32602, 404, "The project has no such agent", "Use a path such as primary.subagents.researcher"),
  "session.unknown": row(-32602, 404, "No such session is open", "Open it with openSession()"),
  "session.duplicate": row(-32602, 409, "A session of that id is open already", "Close it, or use another id"),
  "instance.ambiguous": row(-32602, 409, "Several instances of the plugin run", "Name the agent whose plugin is meant"),
  "tool.unknown": row(-32601, 404, "The agent has no such tool", "Call one of the agent's tools"),
  "tool.arguments_invalid": row(-32602, 400, "The tool does not take these arguments", "Follow its schema"),
  "hook.unknown": row(-32601, 404, "There is no such hook", "Use one of the hooks in the guide"),
  "hook.result_invalid": row(-32603, 502, "A hook returned what it may not", "Return null, a text or { inject }"),

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
  "plugin.not_installed": row(-32602, 404, "A declared plugin is not installed", "Install it, or pass its folder"),

  "knob.unknown": row(-32602, 404, "The plugin has no such knob", "Look at the plugin's knobs"),
  "knob.value_invalid": row(-32004, 422, "The value does not fit the knob", "Choose a value within its bounds"),
  "knob.edit_refused": row(
    -32603,
    409,
    "The change cannot be written without touching something else",
    "Edit project.yaml by hand",
  ),

  ...tomlRows("local", "local.toml"),
  ...tomlRows("config", "config.toml"),
};

/** What an error carries beside its message. */
export interface HostErrorOptions {
  /** Facts for a program, in JSON. */
  readonly data?: unknown;
  /** The next step, for a person. */
  readonly hint?: string;
  /** The original failure. */
  readonly cause?: unknown;
  /** The JSON-RPC number, where the other side chose one that differs from the table's. */
  readonly rpc?: number;
}

/** The one error class callers catch. */
export class HostError extends Error {
  /** Which failure this is: `<room>.<reason>`. */
  readonly code: string;
  /** JSON-RPC error number. */
  readonly rpc: number;
  /** HTTP status. */
  readonly http: number;
  /** The next step, for a person. */
  readonly hint?: string;
  /** Facts for a program, in JSON. */
  readonly data?: unknown;

  /** Makes an error of the table: message for a person, data for a program, hint for the next step. */
  constructor(code: string, message: string, options: HostErrorOptions = {}) {
    const known = ERRORS[code];
    if (!known) throw new TypeError(`No row "${code}" in the error table`);
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "HostError";
    this.code = code;
    this.rpc = options.rpc ?? known.rpc;
    this.http = known.http;
    if (options.hint !== undefined) this.hint = options.hint;
    if (options.data !== undefined) this.data = options.data;
  }
}

/** Returns the message of anything that was thrown. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** Returns `thrown` itself when it is a {@link HostError}, else a `host.internal` that keeps it as cause. */
export function asHostError(thrown: unknown): HostError {
  return thrown instanceof HostError ? thrown : new HostError("host.internal", messageOf(thrown), { cause: thrown });
}
