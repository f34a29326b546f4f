/**
 * Buttons that start and stop a plugin.
 *
 * @module
 */
import type { JSX } from "preact";
import type { Instance } from "../../src/http/answers.ts";
import { ask } from "../model/api.ts";
import { refresh } from "../model/live.ts";
import { linkTo } from "../model/route.ts";
import { Action, useDoing } from "./action.tsx";
import { FailureNote } from "./failure.tsx";

/** The buttons that fit the state of a plugin. */
export function PluginActions({ name, instances }: {
  name: string;
  instances: readonly Instance[];
}): JSX.Element {
  const doing = useDoing();
  const isRefused = instances.every(({ state }) => state === "refused");
  const isDown = instances.every(({ state }) => state === "disabled" || state === "failed" || state === "stopped");
  const act = (order: "restart" | "enable" | "disable" | "reload") => async () => {
    await ask(`POST /api/v1/plugins/{name}/${order}`, { name });
    await refresh();
  };
  if (instances.every(({ error }) => error?.code === "plugin.not_installed")) {
    return <a href={linkTo("consents")}>See what {name} asks for</a>;
  }
  if (isRefused) {
    return (
      <span class="acts">
        <Action doing={doing} act={act("reload")} label={`Reload ${name}`} kind="primary">Reload</Action>
        {doing.error && <FailureNote of={doing.error} isAlert />}
      </span>
    );
  }
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
