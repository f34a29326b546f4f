/**
 * Starting and stopping a plugin.
 *
 * @module
 */
import type { JSX } from "preact";
import { post } from "../model/api.ts";
import { refresh } from "../model/live.ts";
import type { Instance } from "../model/types.ts";
import { Action, useDoing } from "./action.tsx";
import { FailureNote } from "./failure.tsx";

/** Buttons for a plugin. */
export function PluginActions({ name, instances }: {
  name: string;
  instances: readonly Instance[];
}): JSX.Element {
  const doing = useDoing();
  const isDown = instances.every(({ state }) => state === "disabled" || state === "failed" || state === "stopped");
  const act = (verb: string) => async () => {
    await post(`/api/v1/plugins/${name}/${verb}`);
    await refresh();
  };
  return (
    <span class="acts">
      {!isDown && <Action doing={doing} act={act("restart")} label={`Restart ${name}`}>Restart</Action>}
      {isDown
        ? <Action doing={doing} act={act("enable")} label={`Enable ${name}`} kind="primary">Enable</Action>
        : <Action doing={doing} act={act("disable")} label={`Disable ${name}`}>Disable</Action>}
      <span class="sr-only" role="status">{doing.isBusy ? `${name} is changing` : ""}</span>
      {doing.error && <FailureNote of={doing.error} isAlert />}
    </span>
  );
}
