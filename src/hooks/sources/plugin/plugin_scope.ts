/**
 * One firing as its plugins share it: on whose behalf they are asked, and everything their answers add up to beside the
 * chain's own result.
 *
 * @module
 */
import type { Injection } from "../../../core/compaction/types.ts";
import type { HostError } from "../../../core/errors/host_error.ts";
import type { HookContext } from "./fire_hook.ts";
import { type Injections, openInjections } from "./injections.ts";
import type { HookParams } from "./lifecycle.ts";

/** One plugin's part in a firing. */
export interface HookReport {
  /** Name of the plugin. */
  readonly plugin: string;
  /** Id of the instance that serves the agent. */
  readonly instance: string;
  /** `ok`, or why the plugin's answer does not count. */
  readonly outcome: "ok" | "timeout" | "failed" | "unavailable" | "oversize";
  /** The answer as the plugin sent it, or null. */
  readonly result: unknown;
  /** Null for an outcome of `ok`. */
  readonly error: HostError | null;
  /** Includes the time it waited for its turn. */
  readonly durationMs: number;
}

/** Facts the host knows of a firing of its own. */
export interface PluginFiring {
  /** On whose behalf. Absent: made for each plugin, whose session must be open then. */
  readonly context?: HookContext;
  /** Params for the plugins, complete and checked. Absent: made from the event. */
  readonly params?: HookParams;
  /** Key of a plugin that is not asked in this firing, such as the compactor, which has a role of its own. */
  readonly except?: string | null;
  /** Room for injected text, shared by the firings of one window. Default: a room of its own. */
  readonly injections?: Injections;
}

/** The object that the handlers of one firing share; the host gives its own and reads it afterwards. */
export class PluginScope {
  /** Plugins that were asked, in their order. */
  readonly reports: HookReport[] = [];
  /** Records of the text that goes before the model. */
  readonly injected: Injection[] = [];
  /** The same records by the text as it stands in its block: a compaction may have no room for some. */
  readonly blocks: Map<string, Injection> = new Map();
  /** Texts that observers of a compaction want kept. */
  readonly retained: { readonly plugin: string; readonly text: string }[] = [];
  /** Parts of answers that were left out. */
  readonly ignored: { readonly plugin: string; readonly problem: string }[] = [];
  readonly given: PluginFiring;
  readonly injections: Injections;

  /** Begins before any plugin is asked. */
  constructor(given: PluginFiring = {}) {
    this.given = given;
    this.injections = given.injections ?? openInjections();
  }
}
