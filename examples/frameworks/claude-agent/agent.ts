/** A query of the Claude Agent SDK that remembers: its memory is a plugin in a cage. */
import { query } from "@anthropic-ai/claude-agent-sdk";
import { createHost } from "@kaged/plugin-host";
import { claudeOptions } from "@kaged/plugin-host/claude-agent";
import { scriptedApi } from "./model.ts"; // It runs without a key. See README.md for a real one.

await using host = await createHost({
  project: import.meta.dirname!,
  plugins: { "@kaged/memory-markdown": `${import.meta.dirname}/../../../plugins/memory-markdown` },
});
const { failed } = await host.start();
for (const { instance, error } of failed) console.error(`${instance} is not there: ${error.message}`);

await using api = await scriptedApi();
const session = host.openSession();
const options = claudeOptions(session, {
  ...api.options,
  systemPrompt: "You help with the harbor project.",
  tools: [], // None of the SDK's own: those of the session come beside them.
  settingSources: [],
});

for (const prompt of ["Remember that we deploy on Thursdays.", "When do we deploy?"]) {
  for await (const message of query({ prompt, options })) {
    if (message.type === "result" && message.subtype === "success") console.log(`> ${prompt}\n${message.result}`);
  }
}
await session.close();
