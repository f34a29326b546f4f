/** An agent of Mastra whose memory is a caged plugin: what it retains in one session, it knows in the next. */
import { createHost } from "@kaged/plugin-host";
import { kagedProcessor, kagedTools } from "@kaged/plugin-host/mastra";
import { Agent } from "@mastra/core/agent";
import { createTool } from "@mastra/core/tools";
import { model } from "./mock_model.ts";

await using host = await createHost({ project: import.meta.dirname, pluginsFrom: "node_modules" });
const { failed } = await host.start();
for (const { instance, error } of failed) console.error(`${instance} is not there: ${error.message}`);

for (const question of ["Remember when the harbour office opens.", "When does the harbour office open?"]) {
  const session = host.openSession();
  const agent = new Agent({
    id: "helper",
    name: "Helper",
    instructions: "You help Ada.",
    model,
    tools: kagedTools(session, { createTool }),
    inputProcessors: [kagedProcessor(session, { maxTokens: 50_000 })],
  });
  const stream = await agent.stream(question);
  console.log(`> ${question}\n${await stream.text}`);
  await session.close();
}
