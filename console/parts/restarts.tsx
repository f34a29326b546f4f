/**
 * Restarts of an instance.
 *
 * @module
 */
import type { JSX } from "preact";
import type { Instance } from "../../src/http/answers.ts";
import { restartSteps } from "../model/restarts.ts";
import { timeline } from "../model/state.ts";
import { counted } from "../model/words.ts";
import { Sparkline } from "./sparkline.tsx";

/** The number of restarts, with the last hour as bars. */
export function Restarts({ of: { instance, restarts } }: { of: Instance }): JSX.Element {
  const steps = restartSteps(timeline.value, { instance, restarts, now: Date.now() });
  const recent = steps.reduce((sum, step) => sum + step, 0);
  return (
    <span class="restarts">
      <span class="number">{restarts}</span>
      <Sparkline values={steps} label={`${counted(restarts, "restart")}, ${recent} in the last hour`} />
    </span>
  );
}
