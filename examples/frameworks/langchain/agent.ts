/** An agent of LangChain whose memory is a caged plugin: what it retains in one session, it knows in the next. */
import { createHost } from "@kaged/plugin-host";
import { kagedMiddleware, kagedTools } from "@kaged/plugin-host/langchain";
import { AIMessage, createAgent, DynamicStructuredTool, fakeModel, HumanMessage, ToolMessage } from "langchain";

const FACT = "The harbour office opens at nine.";

await using host = await createHost({ project: import.meta.dirname, pluginsFrom: "node_modules" });
const { failed } = await host.start();
for (const { instance, error } of failed) console.error(`${instance} is not there: ${error.message}`);

/** A model that needs no key: it retains the fact, and knows what plugins put into its prompt. */
const model = fakeModel()
  .respondWithTools([{ name: "memory-markdown__retain", args: { content: FACT } }])
  .respond(new AIMessage("I will."))
  .respond(([prompt]) => new AIMessage(prompt!.text.includes(FACT) ? "At nine." : "I do not know."));

for (const question of ["Remember when the harbour office opens.", "When does the harbour office open?"]) {
  const session = host.openSession();
  const agent = createAgent({
    model,
    systemPrompt: "You help Ada.",
    tools: kagedTools(session, { DynamicStructuredTool, ToolMessage }),
    middleware: [kagedMiddleware(session, { HumanMessage, maxTokens: 50_000 })],
  });
  const { messages } = await agent.invoke({ messages: question });
  console.log(`> ${question}\n${messages.at(-1)!.text}`);
  await session.close();
}
