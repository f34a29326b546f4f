/**
 * What the API answers with, as the page reads it.
 *
 * @module
 */
import type { CapabilityDescription } from "../../src/packages/consent/describe_capability.ts";
import type { CompactionRecord } from "../../src/host/compaction_log.ts";
import type { ConsentOffer, ConsentRequest } from "../../src/packages/install/consent_types.ts";
import type { Job } from "../../src/jobs/types.ts";
import type { Knob } from "../../src/core/manifest/manifest.ts";

export type { CapabilityDescription, CompactionRecord, ConsentOffer, ConsentRequest, Job, Knob };

/** A failure as a person reads it. */
export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
}

/** `GET /api/v1/host`. */
export interface HostInfo {
  readonly version: string;
  readonly project: { readonly id: string; readonly dir: string };
  readonly sessions: { readonly count: number };
}

/** Where an instance is in its life. */
export type InstanceState = "disabled" | "spawning" | "running" | "crashed" | "failed" | "stopped";

/** One of `GET /api/v1/plugins`. */
export interface Instance {
  readonly plugin: string;
  readonly package: string;
  readonly version: string;
  readonly instance: string;
  readonly agents: readonly string[];
  readonly state: InstanceState;
  readonly isolation: "agent" | "project";
  readonly hooks: readonly string[];
  readonly tools: readonly string[];
  readonly cage: {
    readonly id: string;
    readonly limits: {
      readonly tier: string;
      readonly memory_mb: number;
      readonly cpu_shares: number;
      readonly pids: number;
    };
  } | null;
  readonly restarts: number;
  readonly error: Failure | null;
}

/** `GET /api/v1/plugins/{name}`. */
export interface Plugin {
  readonly plugin: string;
  readonly package: string;
  readonly version: string;
  readonly description: string;
  readonly author: string | null;
  readonly license: string | null;
  readonly homepage: string | null;
  readonly dir: string;
  readonly roles: readonly string[];
  readonly capabilities: readonly CapabilityDescription[];
  readonly hooks: readonly string[];
  readonly methods: readonly string[];
  readonly tools: readonly { readonly name: string; readonly description: string }[];
  readonly instances: readonly Instance[];
}

/** A knob with how far it is turned. */
export interface TurnedKnob extends Knob {
  readonly value: unknown;
}

/** The knobs of a plugin, as one agent has it. */
export interface AgentKnobs {
  readonly agent: string;
  readonly key: string;
  readonly instance: string;
  readonly knobs: Readonly<Record<string, TurnedKnob>>;
}

/** `GET /api/v1/plugins/{name}/knobs`. */
export interface PluginKnobs {
  readonly plugin: string;
  readonly agents: readonly AgentKnobs[];
}

/** `GET /api/v1/plugins/{name}/storage`. */
export interface Storage {
  readonly tables: readonly { readonly name: string; readonly rows: number | null; readonly bytes: number }[];
  readonly bytes: number;
}

/** One of `GET /api/v1/agents`. */
export interface Agent {
  readonly path: string;
  readonly parent: string | null;
  readonly plugins: readonly {
    readonly key: string;
    readonly plugin: string;
    readonly version: string;
    readonly state: InstanceState;
  }[];
}

/** `GET /api/v1/agents/{agent}/compaction`. */
export interface Compaction {
  readonly agent: string;
  readonly strategy: "drop" | "summarize";
  readonly delegate: string | null;
  readonly compactor: string | null;
  readonly observers: readonly string[];
  readonly target_tokens: number | null;
  readonly target_messages: number | null;
  readonly keep_last: number;
  readonly recent: readonly CompactionRecord[];
}

/** An entry of the timeline. */
export interface TimelineEntry {
  readonly id: string;
  readonly kind: "audit" | "notification" | "gap";
  readonly plugin: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** A line of a plugin's log. */
export interface LogLine {
  readonly id: string;
  readonly data: { readonly timestamp: string; readonly instance: string; readonly line: string };
}

/** A page of a feed. */
export interface FeedPage<T> {
  readonly entries: readonly T[];
  readonly last_event_id: string;
  readonly missed: boolean;
}
