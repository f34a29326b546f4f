/**
 * States in a word and a colour; never in a colour alone.
 *
 * @module
 */
import type { JSX } from "preact";
import type { InstanceState, Job } from "../model/types.ts";

const LOOKS: Readonly<Record<InstanceState | Job["status"], string>> = {
  running: "good",
  completed: "good",
  spawning: "warn",
  queued: "plain",
  crashed: "warn",
  failed: "bad",
  stopped: "plain",
  disabled: "plain",
  cancelled: "plain",
};

/** The state of an instance or a job. */
export function StateBadge({ state }: { state: InstanceState | Job["status"] }): JSX.Element {
  return (
    <span class={`badge ${LOOKS[state] ?? "plain"}`}>
      <span class="dot" aria-hidden="true" />
      {state}
    </span>
  );
}
