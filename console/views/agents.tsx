/**
 * How the window of each agent is compacted, with the knobs of the plugins that take part.
 *
 * @module
 */
import type { JSX } from "preact";
import type { AgentCompaction } from "../../src/http/answers.ts";
import { linkTo } from "../model/route.ts";
import { agents, timeline } from "../model/state.ts";
import { useLoaded } from "../model/use_loaded.ts";
import { agentName, count } from "../model/words.ts";
import { CompactionRow } from "../parts/compaction_row.tsx";
import { KnobForms } from "../parts/knob_forms.tsx";
import { Empty, WhenLoaded } from "../parts/states.tsx";

export function AgentsView({ path }: { path: string | null }): JSX.Element {
  const open = path ?? agents.value[0]?.path ?? null;
  return (
    <>
      <header class="view-head">
        <h1>Compaction</h1>
        <p class="quiet">Which plugin or strategy makes an agent's window smaller, and which texts are kept.</p>
      </header>
      {open === null ? <Empty title="No agents" /> : (
        <>
          <nav class="tabs" aria-label="Agents">
            {agents.value.map((agent) => (
              <a
                key={agent.path}
                href={linkTo("compaction", agent.path)}
                aria-current={agent.path === open ? "page" : undefined}
              >
                {agentName(agent.path)}
              </a>
            ))}
          </nav>
          <CompactionView key={open} agent={open} />
        </>
      )}
    </>
  );
}

function CompactionView({ agent }: { agent: string }): JSX.Element {
  const compactions = timeline.value.filter(({ data }) => String(data.type).startsWith("compaction")).length;
  const loaded = useLoaded("GET /api/v1/agents/{agent}/compaction", { agent }, compactions);
  return (
    <WhenLoaded of={loaded}>
      {(of) => {
        const taking = [...new Set([of.compactor, ...of.observers])].filter((name) => name !== null);
        return (
          <>
            <section class="card" aria-label="Settings">
              <dl class="facts wide">
                <div>
                  <dt>Compacts</dt>
                  <dd>{of.compactor ?? hostCompacts(of)}</dd>
                </div>
                {of.delegate_fault && (
                  <div>
                    <dt>Because</dt>
                    <dd class="danger">{of.delegate_fault}</dd>
                  </div>
                )}
                {of.compactor && (
                  <div>
                    <dt>If it fails</dt>
                    <dd>{STRATEGIES.drop}</dd>
                  </div>
                )}
                <div>
                  <dt>Observed by</dt>
                  <dd>{of.observers.join(", ") || "no plugin"}</dd>
                </div>
                <div>
                  <dt>Down to</dt>
                  <dd>{targetOf(of)}</dd>
                </div>
                <div>
                  <dt>Always kept</dt>
                  <dd>the last {count(of.keep_last)} messages</dd>
                </div>
              </dl>
            </section>
            <section>
              <h2>Latest compactions</h2>
              {of.recent.length === 0
                ? <Empty title="None yet">They appear here once the agent's window has been compacted.</Empty>
                : (
                  <ol class="compactions">
                    {of.recent.map((one) => <CompactionRow key={one.timestamp + one.session_id} of={one} />)}
                  </ol>
                )}
            </section>
            {taking.map((plugin) => (
              <section key={plugin} class="card">
                <h2>
                  Knobs of <a href={linkTo("plugins", plugin)}>{plugin}</a>
                </h2>
                <KnobForms plugin={plugin} agent={agent} />
              </section>
            ))}
          </>
        );
      }}
    </WhenLoaded>
  );
}

const STRATEGIES: Readonly<Record<AgentCompaction["strategy"], string>> = {
  drop: "old messages are dropped",
  summarize: "old messages are summarized",
};

function hostCompacts({ delegate, strategy }: AgentCompaction): string {
  return delegate === null
    ? `the host: ${STRATEGIES[strategy]}`
    : `the host, in place of ${delegate}: ${STRATEGIES.drop}`;
}

function targetOf({ target_tokens: tokens, target_messages: messages }: AgentCompaction): string {
  const parts = [tokens !== null && `${count(tokens)} tokens`, messages !== null && `${count(messages)} messages`];
  return parts.filter(Boolean).join(", ") || "the size that the caller asks for";
}
