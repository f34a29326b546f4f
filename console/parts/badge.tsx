/**
 * States as a word and a colour, never as a colour alone.
 *
 * @module
 */
import type { JSX } from "preact";
import type { Instance } from "../../src/http/answers.ts";
import type { Job } from "../../src/jobs/types.ts";

type State = Instance["state"] | Job["status"];

const LOOKS: Readonly<Record<State, string>> = {
  running: "good",
  completed: "good",
  resting: "calm",
  spawning: "warn",
  queued: "plain",
  crashed: "warn",
  failed: "bad",
  refused: "bad",
  stopped: "plain",
  disabled: "plain",
  cancelled: "plain",
};

/** The state of an instance or a job. */
export function StateBadge({ state }: { state: State }): JSX.Element {
  return (
    <span class={`badge ${LOOKS[state]}`}>
      <span class="dot" aria-hidden="true" />
      {state}
    </span>
  );
}
