/**
 * The shape of `kaged-plugin.yaml`: the rules of each field alone. Rules between fields are in `manifest_rules.ts`.
 * Every message is a code of the error table. The published JSON Schema is generated from this source, so it holds no
 * transformations; checks (`v.check`) are for the host only.
 *
 * @module
 */
import * as v from "valibot";
import { PLUGIN_TIMEOUT_MS } from "../contract/generated/agent_lifecycle.ts";
import { isSemanticVersion, MAX_VERSION_LENGTH, SEMANTIC_VERSION } from "../values/semantic_version.ts";
import { HOOK_ALIASES, HOOK_NAMES } from "../contract/hook_names.ts";
import { knobInput } from "./knob_schema.ts";
import type { Manifest, ManifestOauth, ManifestSecret, ManifestTool, PluginRole } from "./manifest.ts";
import { oneLine, oneLineAndBreaks } from "./one_line.ts";

/** A manifest as its author wrote it, with the defaults that need no other field. */
export interface ManifestInput extends Omit<Manifest, "roles" | "command" | "capabilities" | "withheld" | "added"> {
  /** Absent for a server elsewhere. */
  readonly command?: readonly string[];
  /** Strings, or the maps that `- net: []` becomes. */
  readonly capabilities?: readonly unknown[];
  /** The only role, in the older spelling. */
  readonly role?: PluginRole;
  /** Roles, when they are given. */
  readonly roles?: readonly PluginRole[];
}

const METHOD =
  /^(?!(?:kaged|system)\.|config\.update$|projects\.(?:de)?activated$)[a-z][a-z0-9_]*(?:\.[a-z][a-z0-9_]*){1,3}$/;
const ENV_NAME = /^(?!LD_|KAGED_(?:PLUGIN_NAME|PLUGIN_DIR|API_VERSION)$)[A-Za-z_][A-Za-z0-9_]*$/;
const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const SPDX = /^[A-Za-z0-9.+()-]+(?: (?:AND|OR|WITH) [A-Za-z0-9.+()-]+)*$/;
const CAPABILITY = /^(?:(?:read|write):fs:.+|exec:[^:]+:.+|net:.+|kaged:storage:(?:read|write))$/;

const text = (code: string, pattern: RegExp, maxLength = Infinity) => {
  const matched = v.pipe(v.string(), v.regex(pattern, code));
  return maxLength === Infinity ? matched : v.pipe(matched, v.maxLength(maxLength, code));
};
const whole = (min: number, max: number, code = "manifest.out_of_range") =>
  v.pipe(v.number(), v.integer(code), v.minValue(min, code), v.maxValue(max, code));
/** A field that must be there, with its line in the published schema. */
const field = <S extends v.GenericSchema>(description: string, schema: S) => v.pipe(schema, v.description(description));
/** A field that may be absent, and has no default. */
const optional = <S extends v.GenericSchema>(description: string, schema: S) =>
  v.exactOptional(field(description, schema));

const objectSchema = v.looseObject({ type: v.literal("object", "manifest.schema_not_object") });
const role = v.picklist(["observer", "compactor"], "manifest.unknown_role");
const methodName = text("manifest.invalid_method_name", METHOD);
const hookName = v.picklist([...HOOK_NAMES, ...HOOK_ALIASES.keys()], "manifest.unknown_hook");
const knobName = text("manifest.invalid_knob_name", /^[a-z][a-z0-9_]*$/);
const withoutNul = (code: string) => v.pipe(v.string(), v.check((value) => !value.includes("\0"), code));

const toolInput: v.GenericSchema<unknown, ManifestTool> = v.strictObject({
  name: field("Short name; agents see <plugin>.<name>.", text("manifest.invalid_tool_name", /^[a-z][a-z0-9_]*$/, 64)),
  description: field("What the tool does, for the model.", text("manifest.invalid_tool_description", /\S/)),
  parameters_schema: field("JSON Schema of its arguments.", objectSchema),
});

const headerName = text("manifest.invalid_header", HEADER_NAME, 200);
const headerValue = text("manifest.invalid_header", /^[\x20-\x7e]{1,8192}$/);

const secretInput: v.GenericSchema<unknown, ManifestSecret> = v.strictObject({
  hosts: optional(
    "host:port of each server it may go to, each granted by a net: capability.",
    v.pipe(
      v.array(v.string()),
      v.minLength(1, "manifest.invalid_secret_host"),
    ),
  ),
  env: optional(
    "Variable that also holds it, in the plugin's environment.",
    text("manifest.invalid_env_name", ENV_NAME),
  ),
  exposed: optional("The plugin gets the value itself, not a placeholder.", v.literal(true, "manifest.secret_kind")),
  header: optional("Field of each HTTP request to an mcp_http server that holds it.", headerName),
  prefix: optional("Text before the value in that field, such as Bearer and a space.", headerValue),
});

const oauthInput: v.GenericSchema<unknown, ManifestOauth> = v.strictObject({
  scopes: optional(
    "Scopes to ask for, where the server names none.",
    v.array(text("manifest.invalid_oauth", /^[\x21\x23-\x5b\x5d-\x7e]+$/, 200)),
  ),
  client_id: optional("Id of a client that is registered already.", text("manifest.invalid_oauth", oneLine(2048))),
  client_secret: optional("Key of secrets that holds the password of that client.", v.string()),
  client_metadata_url: optional(
    "Address of a document about the client, in the place of an id.",
    text("manifest.invalid_oauth", /^https:\/\/[^/]+\/[\x21-\x7e]+$/, 2048),
  ),
  redirect_port: optional("Port of this machine that the browser is sent back to.", whole(1024, 65_535)),
});

const semanticVersion = v.pipe(
  text("manifest.invalid_version", SEMANTIC_VERSION, MAX_VERSION_LENGTH),
  v.check(isSemanticVersion, "manifest.invalid_version"),
);
const command = v.pipe(
  v.array(withoutNul("manifest.invalid_command")),
  v.minLength(1, "manifest.invalid_command"),
  v.maxLength(256, "manifest.invalid_command"),
  v.check(([program]) => program !== "", "manifest.invalid_command"),
);
const variables = v.record(text("manifest.invalid_env_name", ENV_NAME), withoutNul("manifest.invalid_env_value"));
const capability = v.union([text("capability.unknown", CAPABILITY), v.strictObject({ net: v.array(v.string()) })]);
const protocol = v.picklist(["kaged_stdio", "mcp_stdio", "mcp_http"], "manifest.unknown_runtime");
const address = text("manifest.invalid_homepage", /^https?:\/\/[\x21-\x7e]+$/, 2048);

const fields = {
  name: field(
    "The plugin's name, unique among the installed plugins.",
    text("manifest.invalid_name", /^[a-z][a-z0-9-]*$/, 64),
  ),
  version: field("Its version (SemVer 2.0.0).", semanticVersion),
  kaged_api: field("Plugin API version it is written for.", whole(1, 1, "manifest.unsupported_api")),
  kind_api_version: optional("Version of the lifecycle hooks it is written for. Default: any.", semanticVersion),
  description: field("What it does, in one line.", text("manifest.invalid_description", oneLineAndBreaks(200))),
  author: optional("Who wrote it.", text("manifest.invalid_author", oneLine(200))),
  license: optional("SPDX licence expression.", text("manifest.invalid_license", SPDX, 100)),
  homepage: optional("Where to read more.", address),
  runtime: optional(
    "What its process speaks: the plugin wire (the default), or MCP over stdio. mcp_http: an MCP server elsewhere.",
    protocol,
  ),
  command: optional("The program and its arguments; relative paths are inside the plugin's folder.", command),
  url: optional(
    "Address of the server, with mcp_http.",
    text("manifest.invalid_url", /^https?:\/\/[\x21-\x7e]+$/, 2048),
  ),
  headers: optional(
    "Fields of each HTTP request to that server.",
    v.record(headerName, headerValue),
  ),
  oauth: optional("How to log in at that server, where its own discovery does not say enough.", oauthInput),
  env: v.optional(field("Environment variables on top of the host's.", variables), {}),
  home: optional(
    "HOME in its cage: private, an empty folder in memory (default of MCP servers), or readonly, its own folder.",
    v.picklist(["private", "readonly"], "manifest.invalid_home"),
  ),
  capabilities: optional("What it asks for. An empty list asks for nothing.", v.array(capability)),
  role: optional("A single role; use roles.", role),
  roles: optional("What it is to an agent. Default: observer when it has hooks, else nothing.", v.array(role)),
  hooks: v.optional(field("Lifecycle hooks it subscribes to.", v.array(hookName)), []),
  tools: v.optional(field("Tools it offers to agents.", v.array(toolInput)), []),
  methods: v.optional(field("Methods of its own.", v.array(methodName)), []),
  notifications: v.optional(field("Notifications it may send.", v.array(methodName)), []),
  config_schema: optional("JSON Schema of its project-side config.", objectSchema),
  system_config_schema: optional("JSON Schema of its operator-side config: secrets.", objectSchema),
  secrets: optional(
    "Fields of system_config_schema that are secrets, and where each goes.",
    v.record(v.string(), secretInput),
  ),
  knobs: v.optional(field("Settings an operator may turn.", v.record(knobName, knobInput)), {}),
  shutdown_timeout_sec: v.optional(field("Seconds between shutdown and SIGTERM.", whole(0, 30)), 5),
  health_interval_sec: v.optional(field("Seconds between pings.", whole(5, 300)), 30),
  hook_timeout_sec: v.optional(field("Seconds a hook may take.", whole(1, 60)), PLUGIN_TIMEOUT_MS / 1000),
};

/** Checks the shape of a manifest. */
export const manifestInput: v.GenericSchema<unknown, ManifestInput> = v.strictObject(fields);

/** Every key of a manifest, for hints. */
export const MANIFEST_KEYS: readonly string[] = Object.keys(fields);

/** Every key of a tool, for hints. */
export const TOOL_KEYS: readonly (keyof ManifestTool)[] = ["name", "description", "parameters_schema"];

/** Every key of `oauth`, for hints. */
export const OAUTH_KEYS: readonly (keyof ManifestOauth)[] = [
  "scopes",
  "client_id",
  "client_secret",
  "client_metadata_url",
  "redirect_port",
];
