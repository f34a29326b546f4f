/** A model that knows one story, so that the example runs without a network. */
import { type Model, type ModelRequest, type protocol, Usage } from "@openai/agents";

type Item = protocol.AssistantMessageItem | protocol.FunctionCallItem;

const says = (text: string): Item => {
  return { type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text }] };
};
const calls = (name: string, args: object): Item => {
  const call = { callId: `call-${name}`, name: `memory-markdown__${name}`, arguments: JSON.stringify(args) };
  return { type: "function_call", status: "completed", ...call };
};

function answer({ input }: ModelRequest): Item {
  const last = typeof input === "string" ? input : JSON.stringify(input.at(-1));
  if (last.includes("function_call_result")) return says(last.includes("Thursdays") ? "On Thursdays." : "I will.");
  if (!last.includes("Remember")) return calls("recall", { query: "deployed" });
  return calls("retain", { content: "The harbor project is deployed on Thursdays" });
}

export const model: Model = {
  getResponse: (request) => Promise.resolve({ usage: new Usage(), output: [answer(request)] }),
  async *getStreamedResponse(request) {
    const usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };
    yield { type: "response_done", response: { id: "story", usage, output: [answer(request)] } };
  },
};
