/** A client whose model knows one story, so that the example runs without a network. */
import type { AnthropicTool, AnthropicToolUse } from "@kaged/plugin-host/tools";

interface Request {
  readonly model: string;
  readonly max_tokens: number;
  readonly system: string;
  readonly tools: readonly AnthropicTool[];
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
}
type Block = AnthropicToolUse | { readonly type: "text"; readonly text: string };

function answerTo(said: string): Block {
  const call = { type: "tool_use", id: "call" } as const;
  if (said.includes("tool_result")) {
    return { type: "text", text: said.includes("Thursdays") ? "On Thursdays." : "I will." };
  }
  if (!said.includes("Remember")) return { ...call, name: "memory-markdown__recall", input: { query: "deployed" } };
  const content = "The harbor project is deployed on Thursdays";
  return { ...call, name: "memory-markdown__retain", input: { content } };
}

export const client = {
  messages: {
    create({ messages }: Request) {
      const block = answerTo(JSON.stringify(messages.at(-1)));
      const stop_reason = block.type === "tool_use" ? "tool_use" : "end_turn";
      return Promise.resolve({ content: [block], stop_reason, usage: { input_tokens: 100 } });
    },
  },
};
