/** A model that knows one story, so that the example runs without a network. */
import { MockLanguageModelV4 } from "ai/test";

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};
const calls = (toolName: string, input: object) => {
  return { type: "tool-call", toolCallId: `call-${toolName}`, toolName, input: JSON.stringify(input) } as const;
};

export const model = new MockLanguageModelV4({
  doGenerate({ prompt }) {
    const last = prompt.at(-1)!;
    const asked = JSON.stringify(last.content);
    const content = last.role === "tool"
      ? { type: "text", text: asked.includes("Thursdays") ? "On Thursdays." : "I will." } as const
      : asked.includes("Remember")
      ? calls("memory-markdown__retain", { content: "The harbor project is deployed on Thursdays" })
      : calls("memory-markdown__recall", { query: "deployed" });
    const unified = content.type === "text" ? "stop" : "tool-calls";
    return Promise.resolve({ content: [content], finishReason: { unified, raw: undefined }, usage, warnings: [] });
  },
});
