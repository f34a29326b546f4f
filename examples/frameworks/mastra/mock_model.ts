/** A model that needs no key: it retains a fact, and knows what plugins put into its instructions. */
import type { MastraModelConfig } from "@mastra/core/llm";

type Model = Extract<MastraModelConfig, { specificationVersion: "v2" }>;

const FACT = "The harbour office opens at nine.";

/** Answers in the stream of a model of the AI SDK 5, which Mastra takes as it is. */
export const model: Model = {
  specificationVersion: "v2",
  provider: "mock",
  modelId: "mock",
  supportedUrls: {},
  doGenerate: (): Promise<never> => Promise.reject(new Error("The example streams")),
  doStream({ prompt }) {
    const [system, ...said] = prompt;
    const last = said.at(-1)!;
    const isKnown = system!.role === "system" && system!.content.includes(FACT);
    const answer = isKnown ? "At nine." : "I will.";
    const isOver = last.role === "tool" || isKnown;
    const call = { toolCallId: "1", toolName: "memory-markdown__retain", input: JSON.stringify({ content: FACT }) };
    const stream: Awaited<ReturnType<Model["doStream"]>>["stream"] = new ReadableStream({
      start(controller) {
        controller.enqueue({ type: "stream-start", warnings: [] });
        if (isOver) {
          controller.enqueue({ type: "text-start", id: "1" });
          controller.enqueue({ type: "text-delta", id: "1", delta: answer });
          controller.enqueue({ type: "text-end", id: "1" });
        } else controller.enqueue({ type: "tool-call", ...call });
        const usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };
        controller.enqueue({ type: "finish", finishReason: isOver ? "stop" : "tool-calls", usage });
        controller.close();
      },
    });
    return Promise.resolve({ stream });
  },
};
