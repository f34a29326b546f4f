/** A loop of one's own around Anthropic's Messages API, with tools of a plugin in a cage. */
import { createHost } from "@kaged/plugin-host";
import { anthropicTools, compact } from "@kaged/plugin-host/tools";
import { client } from "./client.ts"; // It runs without a key. See README.md for a real one.

await using host = await createHost({
  project: import.meta.dirname,
  plugins: { "@kaged/memory-markdown": `${import.meta.dirname}/../../../plugins/memory-markdown` },
});
const { failed } = await host.start();
for (const { instance, error } of failed) console.error(`${instance} is not there: ${error.message}`);

const session = host.openSession();
const { tools, all } = anthropicTools(session);
const { systemPrompt: system } = await session.start("You help with the harbor project.");

let messages: { role: "user" | "assistant"; content: string | object[] }[] = [];
for (const content of ["Remember that we deploy on Thursdays.", "When do we deploy?"]) {
  messages.push({ role: "user", content });
  console.log(`> ${content}`);
  for (let isDone = false; !isDone;) {
    const answer = await client.messages.create({
      model: "claude-sonnet-4-5",
      max_tokens: 1000,
      system,
      tools,
      messages,
    });
    messages.push({ role: "assistant", content: answer.content });
    for (const block of answer.content) if ("text" in block) console.log(block.text);
    isDone = answer.stop_reason !== "tool_use";
    if (!isDone) messages.push(await all(answer.content));
    if (answer.usage.input_tokens > 100_000) ({ messages } = await compact(session, messages));
  }
}
await session.close();
