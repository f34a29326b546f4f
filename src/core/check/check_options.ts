/**
 * How a plugin is checked.
 *
 * @module
 */
import type { Runtime } from "../ports.ts";
import type { Check } from "./report.ts";

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
  /** What `config.update` carries. Default: `{}`. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** Ends the check early: the plugin is stopped and the check rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Hears each result as it comes. */
  readonly onCheck?: (check: Check) => void;
}
