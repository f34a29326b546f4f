/**
 * What an examination of the machine says.
 *
 * @module
 */

/** How the machine fares in one respect. */
export interface MachineRow {
  /** Which respect. */
  readonly id: string;
  /** `ok`; `degraded`: it works with less than it could; `missing`: it does not work. */
  readonly status: "ok" | "degraded" | "missing";
  /** What was found, for a person. */
  readonly detail: string;
  /** The next step, a command where there is one. */
  readonly hint?: string;
  /** Code of the failure. */
  readonly code?: string;
  /** Set on what only some plugins need. */
  readonly optional?: true;
}

/** How the machine fares. */
export interface MachineReport {
  /** Whether plugins can run here. */
  readonly ok: boolean;
  /** Every respect, in order. */
  readonly checks: readonly MachineRow[];
}
