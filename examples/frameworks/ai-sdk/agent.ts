/** An agent of the AI SDK that remembers: its memory is a plugin in a cage. */
import { createHost } from "@kaged/plugin-host";
import { kagedMiddleware, kagedTools } from "@kaged/plugin-host/ai-sdk";
import { type ModelMessage, ToolLoopAgent, wrapLanguageModel } from "ai";
import { model } from "./model.ts"; // It runs without a key. See README.md for a real one.

await using host = await createHost({
  project: import.meta.dirname,
  plugins: { "@kaged/memory-markdown": `${import.meta.dirname}/../../../plugins/memory-markdown` },
});
const { failed } = await host.start();
for (const { instance, error } of failed) console.error(`${instance} is not there: ${error.message}`);

const session = host.openSession();
const agent = new ToolLoopAgent({
  model: wrapLanguageModel({ model, middleware: kagedMiddleware(session, { maxTokens: 100_000 }) }),
  tools: kagedTools(session),
  instructions: "You help with the harbor project.",
});

const messages: ModelMessage[] = [];
for (const content of ["Remember that we deploy on Thursdays.", "When do we deploy?"]) {
  messages.push({ role: "user", content });
  const { text, responseMessages } = await agent.generate({ messages });
  messages.push(...responseMessages);
  console.log(`> ${content}\n${text}`);
}
await session.close();
