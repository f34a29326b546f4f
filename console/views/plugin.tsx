/**
 * One plugin: its manifest, its capabilities, its knobs, its tables, its log.
 *
 * @module
 */
import type { JSX } from "preact";
import type { Plugin } from "../../src/http/answers.ts";
import { linkTo } from "../model/route.ts";
import { changes, instances } from "../model/state.ts";
import { useLoaded } from "../model/use_loaded.ts";
import { CapabilityList, SecretList, WithheldList } from "../parts/capabilities.tsx";
import { KnobForms } from "../parts/knob_forms.tsx";
import { PluginActions } from "../parts/plugin_actions.tsx";
import { Quarantine } from "../parts/quarantine.tsx";
import { Empty, WhenLoaded } from "../parts/states.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { LogTab } from "./log.tsx";
import { InstanceRow } from "./plugins.tsx";
import { StorageTab } from "./storage.tsx";

const TABS: Readonly<Record<string, string>> = {
  overview: "Overview",
  knobs: "Knobs",
  storage: "Storage",
  log: "Log",
};

export function PluginView({ name, tab }: { name: string; tab: string }): JSX.Element {
  const loaded = useLoaded("GET /api/v1/plugins/{name}", { name }, changes.value[name]);
  const own = (instances.value ?? []).filter(({ plugin }) => plugin === name);
  const isRefused = own.length > 0 && own.every(({ state }) => state === "refused");
  return (
    <>
      <p class="crumb">
        <a href={linkTo("plugins")}>Plugins</a>
      </p>
      <header class="view-head">
        <h1>{name}</h1>
        {loaded.value && <span class="quiet number">{loaded.value.version}</span>}
        {own.length > 0 && <PluginActions name={name} instances={own} />}
      </header>
      <WhenLoaded of={loaded}>
        {(plugin) => (
          <>
            <p class="lead">{plugin.description}</p>
            <Tabs view="plugins" about={name} tabs={TABS} open={tab} label={`Parts of ${name}`} />
            {tab === "overview" && <Overview of={plugin} />}
            {tab === "knobs" && (isRefused
              ? <Empty title="No knobs">The host refuses this plugin: its knobs appear once it runs.</Empty>
              : <KnobForms plugin={name} />)}
            {tab === "storage" && <StorageTab plugin={name} />}
            {tab === "log" && <LogTab key={name} plugin={name} />}
          </>
        )}
      </WhenLoaded>
    </>
  );
}

function Overview({ of }: { of: Plugin }): JSX.Element {
  const facts: readonly (readonly [string, string | null])[] = [
    ["Package", of.package],
    ["Author", of.author],
    ["Licence", of.license],
    ["Homepage", of.homepage],
    ["Folder", of.dir],
    ["Roles", of.roles.join(", ")],
    ["Hooks", of.hooks.join(", ")],
    ["Methods", of.methods.join(", ")],
  ];
  return (
    <>
      <section class="card" aria-label="Instances">
        {of.instances.map((one) => <InstanceRow key={one.instance} of={one} />)}
      </section>
      <Quarantine plugin={of.plugin} />
      <div class="columns">
        <section>
          <h2>Capabilities</h2>
          {of.version === null
            ? <p class="quiet">Not known: its manifest cannot be read.</p>
            : <CapabilityList of={of.capabilities} />}
          {of.withheld.length > 0 && <h2>Withheld by the operator</h2>}
          <WithheldList of={of.withheld} />
          {of.secrets.length > 0 && <h2>Secrets</h2>}
          <SecretList of={of.secrets.map((text) => ({ key: text, text, danger: null }))} />
        </section>
        <section>
          <h2>About</h2>
          <dl class="facts">
            {facts.filter(([, value]) => value).map(([name, value]) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{value}</dd>
              </div>
            ))}
          </dl>
        </section>
      </div>
      {of.tools.length > 0 && (
        <section>
          <h2>Tools</h2>
          <ul class="tools">
            {of.tools.map(({ name, description }) => (
              <li key={name}>
                <code>{name}</code> {description}
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}
