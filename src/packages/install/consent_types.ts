/**
 * Requests to the operator for plugins that a project declares and does not have.
 *
 * @module
 */
import type { CapabilityDescription } from "../consent/describe_capability.ts";
import type { PluginProtocol, PluginRole } from "../../core/manifest/manifest.ts";
import type { MissingPlugin } from "../../core/project/types.ts";

/** A plugin as its manifest describes it, for the operator to accept or decline. */
export interface ConsentOffer {
  /** Name in its manifest, which tools and records use. */
  readonly name: string;
  /** SemVer version in its manifest. */
  readonly version: string;
  /** Plugin API version it is written for. */
  readonly kaged_api: number;
  /** One line, written by the plugin's author: show it as text. */
  readonly description: string;
  /** Null where the manifest names none. */
  readonly author: string | null;
  /** SPDX expression, or null where the manifest names none. */
  readonly license: string | null;
  /** An http or https address, or null where the manifest names none. */
  readonly homepage: string | null;
  /** Parts it plays: an observer hears hooks, a compactor also makes the window smaller. */
  readonly roles: readonly PluginRole[];
  /** Hooks it is called at; one before a tool call may block the call. */
  readonly hooks: readonly string[];
  /** Tools that the model may call, by their full names, with the description that the model reads. */
  readonly tools: readonly { readonly name: string; readonly description: string }[];
  /** `mcp_stdio` and `mcp_http`: a server that lists its tools only when it runs. */
  readonly protocol: PluginProtocol;
  /** Address of an MCP server elsewhere: nothing of it runs on this machine. Absent for a plugin that does. */
  readonly server?: string;
  /** Values that the operator is asked for, and whether the plugin sees them. */
  readonly secrets: readonly { readonly key: string; readonly text: string; readonly danger: string | null }[];
  /** Where its files come from: a folder by its absolute path, or an address. */
  readonly source: string;
  /** Hash of its files: an answer must name it. */
  readonly hash: string;
  /** Sum of the sizes of its files. */
  readonly bytes: number;
  /** Everything it would be allowed to do, in plain words; a danger also names what it would bring back. */
  readonly capabilities: readonly CapabilityDescription[];
  /** Capabilities that it asks for and the operator withheld before: they stay so unless `grant` names them. */
  readonly withheld: readonly CapabilityDescription[];
  /** Version that is installed already, for this or another project, or null. */
  readonly installed: string | null;
  /** Capabilities the installed one does not ask for: an answer grants or withholds each. */
  readonly added: readonly string[];
  /** Capabilities only the installed one has. */
  readonly removed: readonly string[];
}

/** The parts of an offer that reach into an agent's work without being capabilities. */
export type Contributions = Pick<ConsentOffer, "roles" | "hooks" | "tools" | "protocol" | "server" | "secrets">;

/** A question to the operator. */
export interface ConsentRequest extends MissingPlugin {
  /** Names the request in `approve()` and `decline()`. */
  readonly id: string;
  /**
   * The next question: `source`, from where to install the plugin; `fetch`, whether {@link source} may be fetched;
   * `grant`, whether the plugin in {@link offer} may be installed, and with which of its capabilities.
   */
  readonly step: "source" | "fetch" | "grant";
  /**
   * While a plugin is not installed, its project is `pending`. A declined request stays so over restarts, until the
   * project declares another source or version, the plugin is installed, or `askAgain()` opens it.
   */
  readonly state: "waiting" | "declined" | "installed";
  /** Null until the plugin's files are at hand. */
  readonly offer: ConsentOffer | null;
  /** Why the last try failed, or null. */
  readonly error: { readonly code: string; readonly message: string; readonly hint?: string } | null;
}

/** The operator's agreement to the next step of a request. */
export interface ConsentAnswer {
  /** For `source`: an absolute path or an address. Naming an address agrees to fetching it. */
  readonly source?: string;
  /** For `fetch`: whether plain http to this machine will do. */
  readonly allowHttp?: boolean;
  /** For `grant`: hash of the offer that was seen. */
  readonly hash?: string;
  /** For `grant`: each capability of the offer that is not granted yet; one that was withheld comes back by it. */
  readonly grant?: readonly string[];
  /** For `grant`: capabilities of the offer that the plugin starts without, in every project that it serves. */
  readonly withhold?: readonly string[];
}
