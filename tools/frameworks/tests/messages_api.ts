/**
 * A Messages API on the loopback interface with a scripted model, for the program of the Claude Agent SDK.
 *
 * @module
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A block of an answer. */
export type Block =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "tool_use"; readonly id: string; readonly name: string; readonly input: object };

/** A request, as far as tests look at it. */
export interface ApiRequest {
  readonly system?: unknown;
  readonly tools?: readonly { readonly name: string }[];
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
}

/** The server. */
export interface MessagesApi extends AsyncDisposable {
  readonly url: string;
  /** Requests so far. */
  readonly requests: ApiRequest[];
  /** The result of a call in the newest request that has it. */
  result(id: string): { readonly content: unknown; readonly is_error?: boolean } | undefined;
}

/** Starts the server: `answer` is the model. */
export async function messagesApi(answer: (request: ApiRequest) => readonly Block[]): Promise<MessagesApi> {
  const requests: ApiRequest[] = [];
  const server = createServer(async (incoming, response) => {
    let body = "";
    for await (const chunk of incoming) body += chunk;
    if (incoming.method !== "POST" || !incoming.url!.startsWith("/v1/messages?")) {
      response.writeHead(404, { "content-type": "application/json" });
      response.end(JSON.stringify({ type: "error", error: { type: "not_found_error", message: "Not here" } }));
      return;
    }
    const request = JSON.parse(body) as ApiRequest;
    requests.push(request);
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(eventsOf(answer(request), requests.length).map(asSse).join(""));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    result: (id) => {
      const blocks = requests.flatMap(({ messages }) => messages).flatMap(({ content }) =>
        content as { tool_use_id?: string }[]
      );
      return blocks.findLast((block) => block.tool_use_id === id) as never;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Returns a model that gives these answers in turn, and then says that it is done. */
export function scripted(...answers: (readonly Block[])[]): () => readonly Block[] {
  return () => answers.shift() ?? [{ type: "text", text: "done" }];
}

function asSse(event: { readonly type: string }): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

function eventsOf(blocks: readonly Block[], count: number): { readonly type: string }[] {
  const message = { id: `msg_${count}`, type: "message", role: "assistant", model: "scripted", content: [] };
  const usage = { input_tokens: 10, output_tokens: 1 };
  const stop_reason = blocks.some(({ type }) => type === "tool_use") ? "tool_use" : "end_turn";
  return [
    { type: "message_start", message: { ...message, stop_reason: null, stop_sequence: null, usage } } as never,
    ...blocks.flatMap((block, index) => {
      const isText = block.type === "text";
      const content_block = isText ? { type: "text", text: "" } : { ...block, input: {} };
      const delta = isText
        ? { type: "text_delta", text: block.text }
        : { type: "input_json_delta", partial_json: JSON.stringify(block.input) };
      return [
        { type: "content_block_start", index, content_block },
        { type: "content_block_delta", index, delta },
        { type: "content_block_stop", index },
      ];
    }),
    { type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 5 } } as never,
    { type: "message_stop" },
  ];
}
