/**
 * The settings of a check.
 *
 * @module
 */
import type { SupervisorOptions } from "../../core/supervisor/types.ts";
import type { Runtime } from "../../core/ports/ports.ts";
import type { Check } from "./report.ts";

/** One call of a plugin under check. */
export interface CheckCall {
  /** Method or `<plugin>.<tool>`. */
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** Surroundings of the plugin under check, and listeners. */
export interface CheckOptions {
  readonly runtime: Runtime;
  /** The operator's folder, absolute. */
  readonly home: string;
  /** Project folder, for `project:/…` grants. */
  readonly projectDir?: string | null;
  /** Interpreters outside the usual places: name → absolute path. */
  readonly runtimes?: Readonly<Record<string, string>>;
  /** Limits of the plugin. Default: those of every plugin. */
  readonly limits?: Pick<SupervisorOptions, "limits" | "pluginLimits">;
  /** Params of `config.update`. Default: `{}`. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** Ends the check early: the plugin is stopped and the check rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Watches the run from outside the cage and reports what it used. */
  readonly trace?: boolean;
  /** Calls to make while the plugin runs, so that the watch sees what they use. */
  readonly calls?: readonly CheckCall[];
  /** Receives each result as it comes. */
  readonly onCheck?: (check: Check) => void;
}
