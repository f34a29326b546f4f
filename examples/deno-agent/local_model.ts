/**
 * A chat endpoint on loopback that speaks the wire of the large ones, streaming and tools included, and knows nothing
 * but what a request holds: take a memory out of the prompt and it no longer knows it.
 *
 * @module
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";

/** An endpoint that is being served. */
export interface LocalModel {
  /** Address up to `/chat/completions`. */
  readonly url: string;
  /** Ends it. */
  close(): Promise<void>;
}

interface ChatMessage {
  readonly role: string;
  readonly content?: string | null;
  readonly tool_calls?: readonly { readonly function: { readonly name: string } }[];
}

interface ChatRequest {
  readonly messages: readonly ChatMessage[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
}

/** The model's next step: speak, or call a tool. */
export type Move = { readonly say: string } | { readonly call: string; readonly args: Record<string, unknown> };

/** Serves the endpoint on a free port. */
export async function startLocalModel(): Promise<LocalModel> {
  const server = createServer((request, response) => {
    serve(request, response).catch((error) => response.writeHead(400).end(String(error)));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  return {
    url: `http://127.0.0.1:${port}/v1`,
    async close(): Promise<void> {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let body = "";
  for await (const chunk of request.setEncoding("utf8")) body += chunk;
  if (request.method !== "POST" || request.url !== "/v1/chat/completions") return void response.writeHead(404).end();
  const move = nextMove(JSON.parse(body));
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const delta of deltas(move)) response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta }] })}\n\n`);
  response.end("data: [DONE]\n\n");
}

/** A move in the pieces it is streamed in. */
function* deltas(move: Move): Generator<object> {
  if ("say" in move) {
    for (const content of move.say.match(/\S+\s*/g) ?? []) yield { content };
    return;
  }
  const json = JSON.stringify(move.args);
  const half = json.length >> 1;
  yield { tool_calls: [{ index: 0, id: "call_1", type: "function", function: { name: move.call, arguments: "" } }] };
  for (const part of [json.slice(0, half), json.slice(half)]) {
    yield { tool_calls: [{ index: 0, function: { arguments: part } }] };
  }
}

const SMALL_WORDS = new Set(
  "a an and are did do does for from have how i in is it my of on or our the to was we what when where which who will with you your"
    .split(" "),
);

/** Decides by the request alone. */
export function nextMove({ messages, tools = [] }: ChatRequest): Move {
  const last = messages.at(-1) ?? { role: "user", content: "" };
  const text = last.content ?? "";
  if (last.role === "tool") return { say: afterTool(messages) };
  const tool = (ending: string): string | undefined =>
    tools.map(({ function: { name } }) => name).find((name) => name.endsWith(ending));
  const [, agent, task] = /^ask the (\w+)\W+(.+)$/is.exec(text) ?? [];
  if (agent && task && tool("delegate")) return { call: "delegate", args: { agent, task } };
  if (!text.trimEnd().endsWith("?")) return { say: "Understood." };
  const known = bestAnswer(text, messages.slice(0, -1));
  if (known) return { say: known };
  const recall = tool("__recall");
  return recall ? { call: recall, args: { query: text } } : { say: "I do not know: nothing I was told says so." };
}

function afterTool(messages: readonly ChatMessage[]): string {
  const { content } = messages.at(-1)!;
  const name = messages.findLast(({ tool_calls }) => tool_calls)?.tool_calls?.at(-1)?.function.name ?? "";
  const result = content ?? "";
  if (!name.endsWith("__recall")) return name === "delegate" ? `The other agent says: ${result}` : "Done.";
  try {
    const [best] = JSON.parse(result).memories;
    return best ? `I looked it up: ${best.content}` : "I do not know, and I remember nothing of it.";
  } catch {
    return "I could not look it up.";
  }
}

/** The sentence of the request that shares most of the question's words, if it shares half of them. */
function bestAnswer(question: string, messages: readonly ChatMessage[]): string | null {
  const asked = new Set(words(question));
  const told = messages.filter(({ role }) => role !== "tool").flatMap(({ content }) => sentences(content ?? ""))
    .filter((sentence) => !sentence.endsWith("?"));
  const scored = told.map((sentence) => ({
    sentence,
    shared: new Set(words(sentence).filter((each) => asked.has(each))).size,
  }));
  const best = scored.reduce((a, b) => b.shared > a.shared ? b : a, { sentence: "", shared: 0 });
  return best.shared > 0 && best.shared * 2 >= asked.size ? best.sentence : null;
}

function sentences(text: string): string[] {
  return text.split(/(?<=[.!?])\s+|\n+/).map((part) => part.replace(/^[\s#-]+/, "").trim()).filter((part) =>
    /\w \w/.test(part)
  );
}

/** Words of weight, without their commonest endings. */
function words(text: string): string[] {
  return (text.toLowerCase().match(/[a-z0-9]+/g) ?? []).filter((word) => !SMALL_WORDS.has(word))
    .map((word) => word.replace(/(?:ed|es|s|e)$/, ""));
}
