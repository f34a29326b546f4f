/**
 * The rules of a check, its settings, and the report on a plugin.
 *
 * @module
 */
import type { CapabilityDescription } from "../../packages/consent/describe_capability.ts";
import type { HostError } from "../../core/errors/host_error.ts";
import type { Manifest } from "../../core/manifest/manifest.ts";
import type { PluginInfo, PluginSpec, SupervisorOptions } from "../../core/supervisor/types.ts";
import type { GivenConfig } from "../run_config.ts";
import type { GrantReport } from "../syscalls/grant_report.ts";

/** One call of a plugin under check. */
export interface CheckCall {
  /** Method or `<plugin>.<tool>`. */
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** Surroundings of the plugin under check, and listeners. */
export interface CheckOptions
  extends
    Pick<SupervisorOptions, "runtime" | "home" | "runtimes">,
    Pick<PluginSpec, "projectDir" | "withheld">,
    GivenConfig {
  /** Limits of the plugin. Default: those of every plugin. */
  readonly limits?: Pick<SupervisorOptions, "limits" | "pluginLimits">;
  /** Ends the check early: the plugin is stopped and the check rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Watches the run from outside the cage and reports what it used. */
  readonly trace?: boolean;
  /** Calls to make while the plugin runs, so that the watch sees what they use. */
  readonly calls?: readonly CheckCall[];
  /** Receives each result as it comes. */
  readonly onCheck?: (check: Check) => void;
  /** Receives the plugin once it runs: an MCP server has listed its tools by then. */
  readonly onRunning?: (info: PluginInfo) => void;
}

/** The rules, in the order in which they are tried. */
export const CHECK_IDS = [
  "manifest",
  "capabilities",
  "imports",
  "cage",
  "spawn",
  "initialize",
  "initialize.name",
  "initialize.version",
  "initialize.api",
  "initialize.capabilities",
  "methods",
  "config.update",
  "initialized",
  "ping",
  "shutdown",
  "stdout",
] as const;

/** Id of a rule, as in `--json`. */
export type CheckId = (typeof CHECK_IDS)[number];

/** One rule and the result of trying it. */
export interface Check {
  readonly id: CheckId;
  /** Whether the plugin was seen to keep it. */
  readonly ok: boolean;
  /** Set when the rule could not be tried, because of an earlier failure. */
  readonly skipped?: true;
  /** The finding, for a person. */
  readonly detail: string;
  /** The next step for the author. */
  readonly hint?: string;
  readonly code?: string;
  /** Facts of the failure, in JSON. */
  readonly data?: unknown;
  /** Findings that are allowed but look wrong. */
  readonly warnings?: readonly string[];
  /** The last lines the plugin wrote to stderr, where they may explain the failure. */
  readonly log?: readonly string[];
  /** The capabilities of the plugin in plain words. */
  readonly grants?: readonly CapabilityDescription[];
}

/** The result of every rule, in order. */
export interface CheckReport {
  /** Whether every rule is kept. */
  readonly ok: boolean;
  readonly checks: readonly Check[];
  /** The report of a run with `--trace`. */
  readonly trace?: GrantReport;
}

/** A plugin under check, with the recorder of its results. */
export interface CheckedPlugin extends CheckOptions {
  /** The plugin's folder, absolute. */
  readonly dir: string;
  readonly manifest: Manifest;
  readonly recorder: CheckRecorder;
}

/** Takes down results rule by rule, in order. */
export class CheckRecorder {
  readonly #checks: Check[] = [];
  readonly #onCheck: (check: Check) => void;
  #failed: CheckId | null = null;

  /** Starts a report; `onCheck` receives each result as it comes. */
  constructor(onCheck: (check: Check) => void = () => {}) {
    this.#onCheck = onCheck;
  }

  /** Records that a rule is kept; `grants` are the capabilities an operator would be asked for. */
  pass(id: CheckId, detail: string, { warnings = [], grants }: Pick<Check, "warnings" | "grants"> = {}): void {
    this.#add({ id, ok: true, detail, ...(warnings.length > 0 && { warnings }), ...(grants && { grants }) });
  }

  /** Records that a rule is broken; `log` is the end of the plugin's stderr. */
  fail(id: CheckId, { code, message, hint, data }: HostError, log: readonly string[] = []): void {
    this.#failed ??= id;
    this.#add({
      id,
      ok: false,
      detail: message.replace(/^\[BLOCKED\] /, ""), // That mark is for sessions.
      ...(hint !== undefined && { hint }),
      code,
      ...(data !== undefined && { data }),
      ...(log.length > 0 && { log }),
    });
  }

  /** Ends the report: rules without a result were not tried. */
  report(): CheckReport {
    for (const id of CHECK_IDS.slice(this.#checks.length)) this.skip(id);
    return { ok: this.#checks.every((check) => check.ok), checks: this.#checks };
  }

  /** Records that a rule cannot be tried because `broken` is: by default the first broken one. */
  skip(id: CheckId, broken: CheckId | null = this.#failed): void {
    this.#add({ id, ok: false, skipped: true, detail: `Not tried: ${broken} failed` });
  }

  #add(check: Check): void {
    const expected = CHECK_IDS[this.#checks.length];
    if (check.id !== expected) throw new TypeError(`Rule "${check.id}" came in place of "${expected}"`);
    this.#checks.push(check);
    this.#onCheck(check);
  }
}
