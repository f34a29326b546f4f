/**
 * The report of an examination of the machine.
 *
 * @module
 */

/** One thing that was looked at. */
export interface MachineRow {
  readonly id: string;
  /** `ok`; `degraded`: it works with less than it could; `missing`: it does not work. */
  readonly status: "ok" | "degraded" | "missing";
  /** The finding, for a person. */
  readonly detail: string;
  /** The next step, a command where there is one. */
  readonly hint?: string;
  /** Code of the error that plugins would fail with. */
  readonly code?: string;
  /** Set where only some plugins need it. */
  readonly optional?: true;
}

/** Everything that was looked at. */
export interface MachineReport {
  /** Whether plugins can run here. */
  readonly ok: boolean;
  readonly checks: readonly MachineRow[];
}
