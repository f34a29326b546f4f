/**
 * The AI SDK's mock model with a script: one line of it for each call of the model.
 *
 * @module
 */
import type { LanguageModelMiddleware, ModelMessage, ToolResultPart } from "ai";
import { convertArrayToReadableStream, MockLanguageModelV4 } from "ai/test";

type Generated = Awaited<ReturnType<MockLanguageModelV4["doGenerate"]>>;
type StreamPart = Awaited<ReturnType<MockLanguageModelV4["doStream"]>>["stream"] extends ReadableStream<infer P> ? P
  : never;
type Content = Generated["content"][number];

/** A text, or calls of tools: name, arguments, and an id where it matters. */
export type Line = string | readonly (readonly [name: string, input: unknown, id?: string])[];

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 1, text: 1, reasoning: undefined },
};

/** Returns a model that says these lines, and `done` when there are no more; it speaks to both kinds of calls. */
export function scripted(...lines: readonly Line[]): MockLanguageModelV4 {
  let next = 0;
  const say = (): Generated => {
    const line = lines[next++] ?? "done";
    const content: Content[] = typeof line === "string"
      ? [{ type: "text", text: line }]
      : line.map(([toolName, input, toolCallId = `call-${next}-${toolName}`]) => {
        return { type: "tool-call", toolCallId, toolName, input: JSON.stringify(input) };
      });
    const unified = typeof line === "string" ? "stop" : "tool-calls";
    return { content, finishReason: { unified, raw: undefined }, usage, warnings: [] };
  };
  return new MockLanguageModelV4({
    doGenerate: () => Promise.resolve(say()),
    doStream: () => {
      const { content, finishReason } = say();
      const parts = content.flatMap((part): StreamPart[] => {
        if (part.type === "tool-call") return [part];
        const id = "text-1";
        const delta = part.type === "text" ? part.text : "";
        return [{ type: "text-start", id }, { type: "text-delta", id, delta }, { type: "text-end", id }];
      });
      const stream = convertArrayToReadableStream<StreamPart>([
        { type: "stream-start", warnings: [] },
        ...parts,
        { type: "finish", finishReason, usage },
      ]);
      return Promise.resolve({ stream });
    },
  });
}

type Params = Parameters<NonNullable<LanguageModelMiddleware["transformParams"]>>[0]["params"];

/** The results of tools that a call of the model was given. */
export function resultsIn(messages: Params["prompt"] | readonly ModelMessage[]): Pick<ToolResultPart, "output">[] {
  return messages.flatMap((message) =>
    message.role === "tool" ? message.content.filter((part) => part.type === "tool-result") : []
  );
}
