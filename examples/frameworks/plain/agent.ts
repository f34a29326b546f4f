// An agent without a framework: what to send to a model, and what to do with its answer.
import { createHost } from "@kaged/plugin-host";

await using host = await createHost({ project: import.meta.dirname, pluginsFrom: "node_modules" });
const { failed } = await host.start();
for (const { instance, error } of failed) console.error(`${instance} did not start: ${error.message}`);

const session = host.openSession();
const { systemPrompt } = await session.start("You are a helpful agent."); // Plugins may add to it.
console.log(`system prompt: ${systemPrompt.length} characters`);

for (const { alias, description } of session.tools()) console.log(`tool ${alias}: ${description}`);

// A model would choose the tool and its arguments.
const [first] = session.tools().filter(({ name }) => name.endsWith(".recall"));
if (first) {
  const { output } = await session.callTool(first.name, { query: "deploy" });
  console.log(`${first.name}: ${JSON.stringify(output)}`);
}
await session.close();
