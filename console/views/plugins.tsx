/**
 * Every plugin of the project: its state, its cage and its restarts.
 *
 * @module
 */
import type { JSX } from "preact";
import type { Instance } from "../../src/http/answers.ts";
import { linkTo } from "../model/route.ts";
import { consents, instances } from "../model/state.ts";
import { agentName, counted } from "../model/words.ts";
import { StateBadge } from "../parts/badge.tsx";
import { FailureNote } from "../parts/failure.tsx";
import { Limits } from "../parts/limits.tsx";
import { PluginActions } from "../parts/plugin_actions.tsx";
import { HeldBadge } from "../parts/quarantine.tsx";
import { Restarts } from "../parts/restarts.tsx";
import { Empty, Loading } from "../parts/states.tsx";

export function PluginsView(): JSX.Element {
  const list = instances.value;
  if (list === null) return <Loading />;
  const waiting = consents.value.filter(({ state }) => state === "waiting").length;
  const plugins = Map.groupBy(list, ({ plugin }) => plugin);
  const running = list.filter(({ state }) => state === "running").length;
  const refused = list.filter(({ state }) => state === "refused").length;
  return (
    <>
      <header class="view-head">
        <h1>Plugins</h1>
        <p class="quiet">
          {counted(plugins.size, "plugin")}, {running} of {counted(list.length, "instance")} running
          {refused > 0 && `, ${refused} refused`}
        </p>
      </header>
      {waiting > 0 && (
        <p class="notice">
          <a href={linkTo("consents")}>{counted(waiting, "plugin waits", "plugins wait")} for your consent</a>
        </p>
      )}
      {list.length === 0
        ? <Empty title="No plugins">Declare one under plugins: in project.yaml.</Empty>
        : (
          <ul class="plugins">
            {[...plugins].map(([name, own]) => <PluginRow key={name} name={name} instances={own} />)}
          </ul>
        )}
    </>
  );
}

function PluginRow({ name, instances }: { name: string; instances: readonly Instance[] }): JSX.Element {
  const { version, package: pkg } = instances[0]!;
  return (
    <li class="plugin">
      <article aria-labelledby={`plugin-${name}`}>
        <header>
          <h2 id={`plugin-${name}`}>
            <a href={linkTo("plugins", name)}>{name}</a>
          </h2>
          <span class="quiet number">{version}</span>
          <span class="quiet mono package">{pkg}</span>
          <PluginActions name={name} instances={instances} />
        </header>
        {instances.map((one) => <InstanceRow key={one.instance} of={one} />)}
      </article>
    </li>
  );
}

/** One instance of a plugin; a plugin with one process per agent has several. */
export function InstanceRow({ of }: { of: Instance }): JSX.Element {
  const serves = of.agents.length === 0 ? "no agent" : of.agents.map(agentName).join(", ");
  return (
    <div class="instance">
      <StateBadge state={of.state} />
      <span class="serves">
        <span class="cell-label">for</span> {serves}
      </span>
      <span>
        <span class="cell-label">cage</span> <Limits of={of} />
      </span>
      <span>
        <span class="cell-label">restarts</span> <Restarts of={of} />
      </span>
      <HeldBadge of={of} />
      {of.error && <FailureNote of={of.error} />}
    </div>
  );
}
