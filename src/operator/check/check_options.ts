/**
 * How a plugin is checked.
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
  /** What it is given. */
  readonly params: Readonly<Record<string, unknown>>;
}

/** How a plugin is checked. */
export interface CheckOptions {
  /** The runtime the check runs on. */
  readonly runtime: Runtime;
  /** The operator's folder, absolute. */
  readonly home: string;
  /** Project folder, for `project:/…` grants. */
  readonly projectDir?: string | null;
  /** Interpreters outside the usual places: name → absolute path. */
  readonly runtimes?: Readonly<Record<string, string>>;
  /** What the plugin may use. Default: what every plugin may. */
  readonly limits?: Pick<SupervisorOptions, "limits" | "pluginLimits">;
  /** What `config.update` carries. Default: `{}`. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** Ends the check early: the plugin is stopped and the check rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Watches the run from outside the cage and reports what it used. */
  readonly trace?: boolean;
  /** Calls to make while the plugin runs, for a trace to see what they do. */
  readonly calls?: readonly CheckCall[];
  /** Hears each result as it comes. */
  readonly onCheck?: (check: Check) => void;
}
