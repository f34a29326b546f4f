/**
 * What a check of a plugin says: one line per rule.
 *
 * @module
 */
import type { CapabilityDescription } from "../../packages/consent/describe_capability.ts";
import type { HostError } from "../../core/errors/host_error.ts";
import type { GrantReport } from "../syscalls/grant_report.ts";

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

/** Names a rule. */
export type CheckId = (typeof CHECK_IDS)[number];

/** How a plugin fares with one rule. */
export interface Check {
  /** Which rule. */
  readonly id: CheckId;
  /** Whether the plugin was seen to keep it. */
  readonly ok: boolean;
  /** Set when the rule could not be tried, because of an earlier failure. */
  readonly skipped?: true;
  /** What was seen, for a person. */
  readonly detail: string;
  /** The next step. */
  readonly hint?: string;
  /** Code of the failure. */
  readonly code?: string;
  /** Facts of the failure, in JSON. */
  readonly data?: unknown;
  /** What is allowed but looks wrong. */
  readonly warnings?: readonly string[];
  /** The last lines the plugin wrote to stderr, where they may explain the failure. */
  readonly log?: readonly string[];
  /** What the plugin asks for, in plain words. */
  readonly grants?: readonly CapabilityDescription[];
}

/** How a plugin fares with every rule. */
export interface CheckReport {
  /** Whether every rule is kept. */
  readonly ok: boolean;
  /** Every rule, in order. */
  readonly checks: readonly Check[];
  /** The report of a run with `--trace`. */
  readonly trace?: GrantReport;
}

/** Takes down results rule by rule, in order. */
export class CheckRecorder {
  readonly #checks: Check[] = [];
  readonly #onCheck: (check: Check) => void;
  #failed: CheckId | null = null;

  /** Starts a report; `onCheck` hears each result as it comes. */
  constructor(onCheck: (check: Check) => void = () => {}) {
    this.#onCheck = onCheck;
  }

  /** The rule is kept. */
  pass(id: CheckId, detail: string, warnings: readonly string[] = []): void {
    this.#add({ id, ok: true, detail, ...(warnings.length > 0 ? { warnings } : {}) });
  }

  /** The rule is kept, and this is what an operator would be asked to grant. */
  passGrants(id: CheckId, detail: string, grants: readonly CapabilityDescription[]): void {
    this.#add({ id, ok: true, detail, grants });
  }

  /** The rule is broken; `log` is what the plugin wrote last. */
  fail(id: CheckId, failure: HostError | { message: string; hint?: string }, log: readonly string[] = []): void {
    this.#failed ??= id;
    this.#add({
      id,
      ok: false,
      detail: failure.message.replace(/^\[BLOCKED\] /, ""), // That mark is for sessions.
      ...(failure.hint === undefined ? {} : { hint: failure.hint }),
      ...("code" in failure ? { code: failure.code } : {}),
      ...("data" in failure && failure.data !== undefined ? { data: failure.data } : {}),
      ...(log.length > 0 ? { log } : {}),
    });
  }

  /** Ends the report: rules without a result were not tried. */
  report(): CheckReport {
    for (const id of CHECK_IDS.slice(this.#checks.length)) this.skip(id);
    return { ok: this.#checks.every((check) => check.ok), checks: this.#checks };
  }

  /** The rule cannot be tried because another is broken: the first broken one unless told. */
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
