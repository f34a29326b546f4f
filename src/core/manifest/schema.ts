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
import type { Manifest, ManifestTool, PluginRole } from "./manifest.ts";
import { oneLine, oneLineAndBreaks } from "./one_line.ts";

/** A manifest as its author wrote it, with the defaults that need no other field. */
export interface ManifestInput extends Omit<Manifest, "roles" | "capabilities"> {
  /** Strings, or the maps that `- net: []` becomes. */
  readonly capabilities: readonly unknown[];
  /** The only role, in the older spelling. */
  readonly role?: PluginRole;
  /** Roles, when they are given. */
  readonly roles?: readonly PluginRole[];
}

const METHOD =
  /^(?!(?:kaged|system)\.|config\.update$|projects\.(?:de)?activated$)[a-z][a-z0-9_]*(?:\.[a-z][a-z0-9_]*){1,3}$/;
const ENV_NAME = /^(?!LD_|KAGED_(?:PLUGIN_NAME|PLUGIN_DIR|API_VERSION)$)[A-Za-z_][A-Za-z0-9_]*$/;
const SPDX = /^[A-Za-z0-9.+()-]+(?: (?:AND|OR|WITH) [A-Za-z0-9.+()-]+)*$/;
const CAPABILITY = /^(?:(?:read|write):fs:.+|exec:[^:]+:.+|net:.+|kaged:storage:(?:read|write))$/;

const text = (code: string, pattern: RegExp, maxLength = Infinity) => {
  const matched = v.pipe(v.string(), v.regex(pattern, code));
  return maxLength === Infinity ? matched : v.pipe(matched, v.maxLength(maxLength, code));
};
const seconds = (min: number, max: number) =>
  v.pipe(
    v.number(),
    v.integer("manifest.out_of_range"),
    v.minValue(min, "manifest.out_of_range"),
    v.maxValue(max, "manifest.out_of_range"),
  );
const described = <S extends v.GenericSchema>(schema: S, description: string) =>
  v.pipe(schema, v.description(description));

const objectSchema = v.looseObject({ type: v.literal("object", "manifest.schema_not_object") });
const role = v.picklist(["observer", "compactor"], "manifest.unknown_role");
const methodName = v.pipe(v.string(), v.regex(METHOD, "manifest.invalid_method_name"));
const noNul = v.check((value: string) => !value.includes("\0"), "manifest.invalid_command");

const toolInput: v.GenericSchema<unknown, ManifestTool> = v.strictObject({
  name: described(
    text("manifest.invalid_tool_name", /^[a-z][a-z0-9_]*$/, 64),
    "Short name; agents see <plugin>.<name>.",
  ),
  description: described(
    v.pipe(v.string(), v.regex(/\S/, "manifest.invalid_tool_description")),
    "What the tool does, for the model.",
  ),
  parameters_schema: described(objectSchema, "JSON Schema of its arguments."),
});

const semanticVersion = v.pipe(
  v.string(),
  v.regex(SEMANTIC_VERSION, "manifest.invalid_version"),
  v.maxLength(MAX_VERSION_LENGTH, "manifest.invalid_version"),
  v.check(isSemanticVersion, "manifest.invalid_version"),
);

const fields = {
  name: described(
    text("manifest.invalid_name", /^[a-z][a-z0-9-]*$/, 64),
    "The plugin's name, unique among the installed plugins.",
  ),
  version: described(semanticVersion, "Its version (SemVer 2.0.0)."),
  kaged_api: described(
    v.pipe(
      v.number(),
      v.integer("manifest.unsupported_api"),
      v.minValue(1, "manifest.unsupported_api"),
      v.maxValue(1, "manifest.unsupported_api"),
    ),
    "Plugin API version it is written for.",
  ),
  kind_api_version: v.exactOptional(
    described(semanticVersion, "Version of the lifecycle hooks it is written for. Default: any."),
  ),
  description: described(text("manifest.invalid_description", oneLineAndBreaks(200)), "What it does, in one line."),
  author: v.exactOptional(described(text("manifest.invalid_author", oneLine(200)), "Who wrote it.")),
  license: v.exactOptional(described(text("manifest.invalid_license", SPDX, 100), "SPDX licence expression.")),
  homepage: v.exactOptional(
    described(text("manifest.invalid_homepage", /^https?:\/\/[\x21-\x7e]+$/, 2048), "Where to read more."),
  ),
  runtime: v.exactOptional(
    described(
      v.picklist(["kaged_stdio", "mcp_stdio"], "manifest.unknown_runtime"),
      "What its process speaks: the plugin wire (the default), or MCP over stdio.",
    ),
  ),
  command: described(
    v.pipe(
      v.array(v.pipe(v.string(), noNul)),
      v.minLength(1, "manifest.invalid_command"),
      v.maxLength(256, "manifest.invalid_command"),
      v.check(([program]) => program !== "", "manifest.invalid_command"),
    ),
    "The program and its arguments; relative paths are inside the plugin's folder.",
  ),
  env: v.optional(
    described(
      v.record(
        v.pipe(v.string(), v.regex(ENV_NAME, "manifest.invalid_env_name")),
        v.pipe(v.string(), v.check((value) => !value.includes("\0"), "manifest.invalid_env_value")),
      ),
      "Environment variables on top of the host's.",
    ),
    {},
  ),
  capabilities: described(
    v.array(v.union([
      v.pipe(v.string(), v.regex(CAPABILITY, "capability.unknown")),
      v.strictObject({ net: v.array(v.string()) }),
    ])),
    "What it asks for. An empty list asks for nothing.",
  ),
  role: v.exactOptional(described(role, "A single role; use roles.")),
  roles: v.exactOptional(
    described(v.array(role), "What it is to an agent. Default: observer when it has hooks, else nothing."),
  ),
  hooks: v.optional(
    described(
      v.array(v.picklist([...HOOK_NAMES, ...HOOK_ALIASES.keys()], "manifest.unknown_hook")),
      "Lifecycle hooks it subscribes to.",
    ),
    [],
  ),
  tools: v.optional(described(v.array(toolInput), "Tools it offers to agents."), []),
  methods: v.optional(described(v.array(methodName), "Methods of its own."), []),
  notifications: v.optional(described(v.array(methodName), "Notifications it may send."), []),
  config_schema: v.exactOptional(described(objectSchema, "JSON Schema of its project-side config.")),
  system_config_schema: v.exactOptional(described(objectSchema, "JSON Schema of its operator-side config: secrets.")),
  knobs: v.optional(
    described(
      v.record(v.pipe(v.string(), v.regex(/^[a-z][a-z0-9_]*$/, "manifest.invalid_knob_name")), knobInput),
      "Settings an operator may turn.",
    ),
    {},
  ),
  shutdown_timeout_sec: v.optional(described(seconds(0, 30), "Seconds between shutdown and SIGTERM."), 5),
  health_interval_sec: v.optional(described(seconds(5, 300), "Seconds between pings."), 30),
  hook_timeout_sec: v.optional(described(seconds(1, 60), "Seconds a hook may take."), PLUGIN_TIMEOUT_MS / 1000),
};

/** Checks the shape of a manifest. */
export const manifestInput: v.GenericSchema<unknown, ManifestInput> = v.strictObject(fields);

/** Every key of a manifest, for hints. */
export const MANIFEST_KEYS: readonly string[] = Object.keys(fields);

/** Every key of a tool, for hints. */
export const TOOL_KEYS: readonly (keyof ManifestTool)[] = ["name", "description", "parameters_schema"];
