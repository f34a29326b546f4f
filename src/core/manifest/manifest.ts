/**
 * The type of `kaged-plugin.yaml`, with every default filled in.
 *
 * @module
 */
import type { JsonSchema } from "../schema/json_schema.ts";

/** A part that a plugin plays for its agent: observers hear hooks, a compactor also makes the window smaller. */
export type PluginRole = "observer" | "compactor";

/** How a plugin is spoken to: its process by the plugin wire or MCP over stdio, or an MCP server elsewhere by HTTP. */
export type PluginProtocol = "kaged_stdio" | "mcp_stdio" | "mcp_http";

/** A tool a plugin offers, under its own short name. */
export interface ManifestTool {
  /** Short name; agents see `<plugin>.<name>`. */
  readonly name: string;
  /** Read by the model, which chooses tools by it. */
  readonly description: string;
  /** JSON Schema of its arguments; calls that do not fit never reach the plugin. */
  readonly parameters_schema: JsonSchema;
}

/** A setting an operator may turn. */
export interface Knob {
  /** The control that shows it; the type decides which fields below it has. */
  readonly type: "range" | "int_range" | "enum" | "boolean" | "text" | "multiline" | "model_alias" | "path";
  /** Short name beside the control, at most 64 characters. */
  readonly label: string;
  /** Help text, at most 280 characters. */
  readonly description?: string;
  /** The config field it writes: `config.<field>`. */
  readonly binds_to: string;
  /** Value before anyone turned it. */
  readonly default?: unknown;
  /** Least value of a range, inclusive. */
  readonly min?: number;
  /** Greatest value of a range, inclusive. */
  readonly max?: number;
  /** Values of a range are `min` plus a whole number of steps. */
  readonly step?: number;
  /** Choices of an enum, in the order to show. */
  readonly values?: readonly string[];
  /** Names of the choices of an enum on screen. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Longest text that the knob takes, in UTF-16 units. */
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

/** A plugin's manifest, checked and in canonical form. */
export interface Manifest {
  /** The plugin's name: `^[a-z][a-z0-9-]*$`, at most 64 characters. */
  readonly name: string;
  /** The plugin's own version (SemVer 2.0.0). */
  readonly version: string;
  /** Plugin API version it is written for. */
  readonly kaged_api: number;
  /** Version of the lifecycle hooks it is written for (SemVer); absent: any. */
  readonly kind_api_version?: string;
  /** Kinds of a hookspec that it implements: kind → version that it is written for (SemVer); absent without any. */
  readonly kinds?: Readonly<Record<string, string>>;
  /** One line, at most 200 characters. */
  readonly description: string;
  /** A name or a handle, shown at install. */
  readonly author?: string;
  /** An SPDX expression, such as `MIT OR Apache-2.0`. */
  readonly license?: string;
  /** An http or https address, shown at install. */
  readonly homepage?: string;
  /** Protocol that it is spoken to in; absent: `kaged_stdio`. */
  readonly runtime?: PluginProtocol;
  /** The program and its arguments; relative paths are inside the plugin's folder. Empty for `mcp_http`. */
  readonly command: readonly string[];
  /** Address of the MCP server, with `mcp_http` alone: nothing runs on this machine then. */
  readonly url?: string;
  /** Fields of each HTTP request to that server, beside those of the protocol and of {@link secrets}. */
  readonly headers?: Readonly<Record<string, string>>;
  /** How the operator logs in at that server, where OAuth's own discovery does not say enough. */
  readonly oauth?: {
    /** Scopes to ask for, where the server names none. */
    readonly scopes?: readonly string[];
    /** Id of a client that is registered already; without one it is registered at the first login. */
    readonly client_id?: string;
    /** Name of the entry in {@link secrets} that is the password of that client. */
    readonly client_secret?: string;
    /** Address of a document about the client, which takes the place of its id where the server allows that. */
    readonly client_metadata_url?: string;
    /** Port of this machine that the browser is sent back to; default: any that is free. */
    readonly redirect_port?: number;
  };
  /** Environment variables on top of the host's. */
  readonly env: Readonly<Record<string, string>>;
  /**
   * Where `HOME` is in its cage: `private`, an empty folder in memory, the default of MCP servers; `readonly`, its own
   * folder, the default of all others.
   */
  readonly home?: "private" | "readonly";
  /** Rights it asks for, each in canonical form; without those in {@link withheld}. */
  readonly capabilities: readonly string[];
  /** Rights that its file asks for and the operator withheld; absent without any, and no field of the file. */
  readonly withheld?: readonly string[];
  /** Hosts that the operator granted beyond its file, part of {@link capabilities}; absent without any, and no field of it. */
  readonly added?: readonly string[];
  /** Default: `observer` when it has hooks. */
  readonly roles: readonly PluginRole[];
  /** Lifecycle hooks it subscribes to. */
  readonly hooks: readonly string[];
  /** Tools it offers; an MCP server lists its tools when it runs. */
  readonly tools: readonly ManifestTool[];
  /** Methods beside its tools, by their full names. */
  readonly methods: readonly string[];
  /** Notifications it may send. */
  readonly notifications: readonly string[];
  /** JSON Schema of the config that projects give it. */
  readonly config_schema?: JsonSchema;
  /** JSON Schema of the config that operators give it: secrets. */
  readonly system_config_schema?: JsonSchema;
  /** Fields of {@link system_config_schema} that are secrets, and where each goes; absent without any. */
  readonly secrets?: Readonly<
    Record<string, {
      /** `<host>:<port>` of each server it may go to; the plugin gets a placeholder. Absent with `exposed`. */
      readonly hosts?: readonly string[];
      /** Variable of the plugin's environment that also holds it: the placeholder, or the value of an exposed secret. */
      readonly env?: string;
      /** The plugin gets the value itself: for what no gatekeeper can put in, such as the password of a database. */
      readonly exposed?: true;
      /** With `mcp_http`: field of each request to the server that holds it, such as `Authorization`. */
      readonly header?: string;
      /** Text before the value in that field, such as `Bearer `. */
      readonly prefix?: string;
    }>
  >;
  /** Settings an operator may turn. */
  readonly knobs: Readonly<Record<string, Knob>>;
  /** Seconds between `shutdown` and SIGTERM. */
  readonly shutdown_timeout_sec: number;
  /** Seconds between pings; default 30. */
  readonly health_interval_sec: number;
  /** Seconds it gets for a hook, then the chain goes on without it. */
  readonly hook_timeout_sec: number;
}

/** The way of one secret: to named hosts, where the gatekeeper puts it in, or to the plugin itself. */
export type ManifestSecret = NonNullable<Manifest["secrets"]>[string];

/** How the operator logs in at an MCP server elsewhere. */
export type ManifestOauth = NonNullable<Manifest["oauth"]>;

/** Keys of `[plugins.<name>]` in local.toml that hold texts. */
export const RECORD_TEXTS: readonly string[] = ["installed", "version", "hash", "package", "source", "protocol"];

/** Keys of `[plugins.<name>]` in local.toml that are the host's: no plugin may have a secret of such a name. */
export const RECORD_KEYS: readonly string[] = [...RECORD_TEXTS, "local", "enabled", "projects", "withheld", "added"];

/** Groups of built-in tools: a plugin of such a name is warned of, and a switch for such a tool means no plugin. */
export const BUILTIN_NAMES: readonly string[] = ["file", "search", "code", "debug", "shell", "kaged"];
