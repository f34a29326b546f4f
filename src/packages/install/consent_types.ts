/**
 * What an operator is asked before a project gets a plugin it declares.
 *
 * @module
 */
import type { CapabilityDescription } from "../consent/describe_capability.ts";
import type { MissingPlugin } from "../../core/project/types.ts";

/** A plugin that could be installed: what the operator says yes or no to. */
export interface ConsentOffer {
  /** Its name. */
  readonly name: string;
  /** Its version. */
  readonly version: string;
  /** Plugin API version it is written for. */
  readonly kaged_api: number;
  /** One line. */
  readonly description: string;
  /** Who wrote it, or null. */
  readonly author: string | null;
  /** Its licence, or null. */
  readonly license: string | null;
  /** Where to read more, or null. */
  readonly homepage: string | null;
  /** Hash of its files: the yes is for these. */
  readonly hash: string;
  /** Bytes of its files. */
  readonly bytes: number;
  /** What it would be allowed to do, in plain words. */
  readonly capabilities: readonly CapabilityDescription[];
  /** Version that is installed already, for this or another project, or null. */
  readonly installed: string | null;
  /** Capabilities the installed one does not have. */
  readonly added: readonly string[];
  /** Capabilities only the installed one has. */
  readonly removed: readonly string[];
}

/** A question to the operator. */
export interface ConsentRequest extends MissingPlugin {
  /** Its id. */
  readonly id: string;
  /**
   * What is asked next: `source`, where the plugin can be had; `fetch`, whether {@link source} may be fetched; `grant`,
   * whether what is in {@link offer} may be installed with all it asks for.
   */
  readonly step: "source" | "fetch" | "grant";
  /** Where it stands. A plugin that is not installed keeps its project `pending`. */
  readonly state: "waiting" | "declined" | "installed";
  /** What is offered, once it is known. */
  readonly offer: ConsentOffer | null;
  /** Why the last try failed, or null. */
  readonly error: { readonly code: string; readonly message: string; readonly hint?: string } | null;
}

/** A yes. */
export interface ConsentAnswer {
  /** For `source`: an absolute path or an address. An address that is named is agreed to. */
  readonly source?: string;
  /** For `fetch`: whether plain http to this machine will do. */
  readonly allowHttp?: boolean;
  /** For `grant`: hash of the offer that was seen. */
  readonly hash?: string;
  /** For `grant`: each capability of the offer that is not granted yet. */
  readonly grant?: readonly string[];
}
