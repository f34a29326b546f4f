/**
 * What a plugin says of itself in `kaged-plugin.yaml`, with every default filled in.
 *
 * @module
 */
import type { JsonSchema } from "../schema/json_schema.ts";

/** What a plugin may be to an agent. */
export type PluginRole = "observer" | "compactor";

/** What a plugin's process speaks: the plugin wire, or MCP over stdio. */
export type PluginProtocol = "kaged_stdio" | "mcp_stdio";

/** A tool a plugin offers, under its own short name. */
export interface ManifestTool {
  /** Short name; agents see `<plugin>.<name>`. */
  readonly name: string;
  /** What the tool does, for the model. */
  readonly description: string;
  /** What its arguments look like. */
  readonly parameters_schema: JsonSchema;
}

/** A setting an operator may turn. */
export interface Knob {
  /** Which control it is. */
  readonly type: "range" | "int_range" | "enum" | "boolean" | "text" | "multiline" | "model_alias" | "path";
  /** Short name beside the control, at most 64 characters. */
  readonly label: string;
  /** Help text, at most 280 characters. */
  readonly description?: string;
  /** The config field it writes: `config.<field>`. */
  readonly binds_to: string;
  /** Value before anyone turned it. */
  readonly default?: unknown;
  /** Least value of a range. */
  readonly min?: number;
  /** Greatest value of a range. */
  readonly max?: number;
  /** Step of a range. */
  readonly step?: number;
  /** Choices of an enum. */
  readonly values?: readonly string[];
  /** What the choices are called on screen. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Greatest length of a text. */
  readonly max_length?: number;
  /** Pattern a text must match. */
  readonly pattern?: string;
  /** Which models a model alias may name. */
  readonly filter?: "any" | "reasoning" | "fast";
  /** Prefixes a path may have. */
  readonly prefixes?: readonly ("project:" | "config:")[];
  /** Whether the path must exist. */
  readonly must_exist?: boolean;
}

/** A plugin's manifest. */
export interface Manifest {
  /** The plugin's name: `^[a-z][a-z0-9-]*$`, at most 64 characters. */
  readonly name: string;
  /** Its version (SemVer). */
  readonly version: string;
  /** Plugin API version it is written for. */
  readonly kaged_api: number;
  /** Version of the lifecycle hooks it is written for (SemVer); absent: any. */
  readonly kind_api_version?: string;
  /** One line, at most 200 characters. */
  readonly description: string;
  /** Who wrote it. */
  readonly author?: string;
  /** SPDX licence identifier. */
  readonly license?: string;
  /** Where to read more. */
  readonly homepage?: string;
  /** What its process speaks. Absent: `kaged_stdio`. */
  readonly runtime?: PluginProtocol;
  /** The program and its arguments; relative paths are inside the plugin's folder. */
  readonly command: readonly string[];
  /** Environment variables on top of the host's. */
  readonly env: Readonly<Record<string, string>>;
  /** What it asks for, each in canonical form. */
  readonly capabilities: readonly string[];
  /** What it is to an agent. */
  readonly roles: readonly PluginRole[];
  /** Lifecycle hooks it subscribes to. */
  readonly hooks: readonly string[];
  /** Tools it offers. */
  readonly tools: readonly ManifestTool[];
  /** Methods of its own. */
  readonly methods: readonly string[];
  /** Notifications it may send. */
  readonly notifications: readonly string[];
  /** What its project-side config looks like. */
  readonly config_schema?: JsonSchema;
  /** What its operator-side config looks like. */
  readonly system_config_schema?: JsonSchema;
  /** Settings an operator may turn. */
  readonly knobs: Readonly<Record<string, Knob>>;
  /** Seconds between `shutdown` and SIGTERM. */
  readonly shutdown_timeout_sec: number;
  /** Seconds between pings. */
  readonly health_interval_sec: number;
  /** Seconds a hook may take. */
  readonly hook_timeout_sec: number;
}
