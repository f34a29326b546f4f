/** An agent of the OpenAI Agents SDK that remembers: its memory is a plugin in a cage. */
import { createHost } from "@kaged/plugin-host";
import { kagedMiddleware, kagedTools } from "@kaged/plugin-host/openai-agents";
import { Agent, type AgentInputItem, run, setTracingDisabled } from "@openai/agents";
import { model } from "./model.ts"; // It runs without a key. See README.md for a real one.

setTracingDisabled(true); // Traces would go to OpenAI.

await using host = await createHost({
  project: import.meta.dirname!,
  plugins: { "@kaged/memory-markdown": `${import.meta.dirname}/../../../plugins/memory-markdown` },
});
const { failed } = await host.start();
for (const { instance, error } of failed) console.error(`${instance} is not there: ${error.message}`);

const session = host.openSession();
const callModelInputFilter = kagedMiddleware(session, { maxTokens: 100_000 });
const agent = new Agent({
  name: "Harbor",
  instructions: "You help with the harbor project.",
  model,
  tools: kagedTools(session),
});

let history: AgentInputItem[] = [];
for (const content of ["Remember that we deploy on Thursdays.", "When do we deploy?"]) {
  let result = await run(agent, [...history, { role: "user", content }], { callModelInputFilter });
  while (result.interruptions.length > 0) { // Where a rule or a hook asks: put these to a person.
    for (const item of result.interruptions) result.state.reject(item);
    result = await run(agent, result.state, { callModelInputFilter });
  }
  history = result.history;
  callModelInputFilter.record(history);
  console.log(`> ${content}\n${result.finalOutput}`);
}
await session.close();
