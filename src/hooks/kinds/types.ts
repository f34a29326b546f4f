/**
 * Kinds of one's own: hooks that a hookspec describes and plugins implement.
 *
 * @module
 */
import type { JsonSchema } from "../../core/schema/json_schema.ts";
import type { HookContract, Participant } from "../dispatch/types.ts";
import type { DispatchOptions } from "./dispatch_kind.ts";

/** A hook of a kind. Its contract checks input and answers against the schemas. */
export interface KindHook extends Required<HookContract> {
  /** What it does, on one line. */
  readonly description: string;
  /** Method that a plugin answers it by; null when it never leaves the host. */
  readonly wireMethod: string | null;
  /** Name of its MCP tool with `{plugin}` in it; null when it is not exposed. */
  readonly mcpToolName: string | null;
  /** JSON Schema of its input, an object. */
  readonly inputSchema: JsonSchema;
  /** JSON Schema of its answer. */
  readonly outputSchema: JsonSchema;
  /** Time a plugin has to answer it; null for the host's own limit for calls. */
  readonly timeoutMs: number | null;
}

/** One version of a kind. */
export interface Kind {
  /** Its name, as in `kinds/<kind>/v<N>.yaml`. */
  readonly kind: string;
  /** Its `kind_api_version` (SemVer). */
  readonly version: string;
  /** What its plugins are, on one line. */
  readonly description: string;
  /** In the order of the hookspec. */
  readonly hooks: readonly KindHook[];
}

/** A plugin whose manifest says that it implements a kind. */
export interface KindPlugin {
  /** Name of the plugin. */
  readonly plugin: string;
  /** Version of the kind that it is written for. */
  readonly version: string;
  /** Names of the hooks that can be called at it; while it is between two starts, those of the kind. */
  readonly hooks: readonly string[];
  /** Why it cannot be asked: its version does not fit, or it stays down. Null when it can. */
  readonly unavailable: string | null;
}

/** A version of a kind with the plugins of an agent that implement it. */
export interface HostKind extends Kind {
  /** In the order in which the agent declares them; one whose version fits none stands under the newest. */
  readonly plugins: readonly KindPlugin[];
}

/** On whose behalf a hook of a kind is dispatched. */
export interface KindAt {
  /** Path of the agent, such as `primary`. */
  readonly agent: string;
  /** Id of an open session. */
  readonly session: string;
  /** Major version of the kind. Default: the newest of the hookspec. */
  readonly major?: number;
  /** Ends the calls with `protocol.cancelled`. */
  readonly signal?: AbortSignal;
  /** Time for each plugin. Default: the hook's own. */
  readonly timeoutMs?: number;
  /** Called with each progress report of a plugin. */
  readonly onProgress?: (progress: unknown) => void;
  /** Returns the priority and the abilities of a plugin. Default: all are equal, and have none. */
  readonly weigh?: (plugin: string) => Pick<Participant, "priority" | "capabilities" | "isFallback">;
}

/** Kinds of one's own in a host: those of `hookspec:` in project.yaml and of the hookspecs that the embedder names. */
export interface HostKinds {
  /** Returns each version of each kind, with the plugins of an agent that implement it. Throws `agent.unknown`. */
  list(agent: string): HostKind[];
  /**
   * Returns a hook and the plugins that answer it, for the functions that dispatch.
   *
   * @throws {HostError} `hook.unknown_kind`, `hook.unknown`, `agent.unknown`.
   */
  participants(
    kind: string,
    hook: string,
    at: KindAt,
  ): { readonly contract: KindHook; readonly participants: Participant[] };
  /**
   * Dispatches a hook over the plugins that implement its kind, in the way of its class: resolves with the answer
   * (`singleton`, `capability`), `{ answers, failures }` (`broadcast_collect`), `{ value, stoppedBy }` (`chain`), or
   * undefined (`broadcast_notify`).
   *
   * @throws {HostError} As {@link participants}; `hook.input_invalid`, `hook.output_invalid`, `hook.nobody` and others of
   * its class; a plugin's own error.
   */
  dispatch(
    kind: string,
    hook: string,
    input: object,
    at: KindAt & DispatchOptions,
  ): Promise<unknown>;
}
