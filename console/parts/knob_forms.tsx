/**
 * The knobs of a plugin, for one agent or for each agent that declares it.
 *
 * @module
 */
import type { JSX } from "preact";
import type { AgentKnobs } from "../../src/http/answers.ts";
import { changes } from "../model/state.ts";
import { useLoaded } from "../model/use_loaded.ts";
import { agentName } from "../model/words.ts";
import { KnobField } from "./knob_field.tsx";
import { Empty, WhenLoaded } from "./states.tsx";

/** One form for each agent; `agent` shows that one alone. */
export function KnobForms({ plugin, agent }: { plugin: string; agent?: string }): JSX.Element {
  const loaded = useLoaded("GET /api/v1/plugins/{name}/knobs", { name: plugin, agent }, changes.value[plugin]);
  return (
    <WhenLoaded of={loaded}>
      {(knobs) => {
        const some = knobs.agents.filter((one) => Object.keys(one.knobs).length > 0);
        if (some.length === 0) return <Empty title="No knobs">This plugin declares none.</Empty>;
        const saved = (own: AgentKnobs): void =>
          loaded.replace({ ...knobs, agents: knobs.agents.map((one) => one.agent === own.agent ? own : one) });
        return some.map((one) => (
          <section key={one.agent} class="knobs" aria-label={`Knobs of ${plugin} for ${one.agent}`}>
            {agent === undefined && (
              <h3>
                {agentName(one.agent)}
              </h3>
            )}
            <div class="knob-grid">
              {Object.entries(one.knobs).map(([name, knob]) => (
                <KnobField key={name} plugin={plugin} agent={one.agent} name={name} knob={knob} onSaved={saved} />
              ))}
            </div>
          </section>
        ));
      }}
    </WhenLoaded>
  );
}
