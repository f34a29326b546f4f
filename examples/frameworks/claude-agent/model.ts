/** A Messages API on this machine whose model knows one story, so that the example runs without a network. */
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";

interface Block {
  readonly type: "text" | "tool_use";
  readonly text?: string;
  readonly name?: string;
  readonly input?: object;
}

const says = (text: string): Block => ({ type: "text", text });
const calls = (name: string, input: object): Block => ({ type: "tool_use", name: `mcp__kaged__${name}`, input });

function answer(messages: readonly { readonly role: string; readonly content: unknown }[]): Block {
  const last = JSON.stringify(messages.filter(({ role }) => role === "user").at(-1));
  if (last.includes("tool_result")) return says(last.includes("Thursdays") ? "On Thursdays." : "I will.");
  if (!last.includes("Remember")) return calls("recall", { query: "deployed" });
  return calls("retain", { content: "The harbor project is deployed on Thursdays" });
}

/** The answer as the API streams it. */
function streamed({ type, text, name, input }: Block): string {
  const message = { id: "msg_1", type: "message", role: "assistant", model: "story", content: [], stop_reason: null };
  const isText = type === "text";
  const events = [
    { type: "message_start", message: { ...message, usage: { input_tokens: 1, output_tokens: 1 } } },
    {
      type: "content_block_start",
      index: 0,
      content_block: isText ? { type, text: "" } : { type, id: `toolu_${Date.now()}`, name, input: {} },
    },
    {
      type: "content_block_delta",
      index: 0,
      delta: isText ? { type: "text_delta", text } : { type: "input_json_delta", partial_json: JSON.stringify(input) },
    },
    { type: "content_block_stop", index: 0 },
    {
      type: "message_delta",
      delta: { stop_reason: isText ? "end_turn" : "tool_use" },
      usage: { output_tokens: 1 },
    },
    { type: "message_stop" },
  ];
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
}

/** Starts the API, and returns options that point the SDK to it, with a home of its own. */
export async function scriptedApi() {
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    response.writeHead(body === "" ? 404 : 200, { "content-type": "text/event-stream" });
    response.end(body === "" ? "" : streamed(answer(JSON.parse(body).messages)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const home = await mkdtemp(join(tmpdir(), "kaged-claude-"));
  const env = {
    PATH: process.env["PATH"],
    HOME: home,
    CLAUDE_CONFIG_DIR: home,
    ANTHROPIC_BASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ANTHROPIC_API_KEY: "none",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  };
  return {
    options: { env, cwd: home, model: "story" },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await rm(home, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
