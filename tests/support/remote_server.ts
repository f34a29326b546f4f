/**
 * A real MCP server on loopback, of the official SDK, and a supervisor or host that has it as a plugin without a process.
 *
 * @module
 */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { detectRuntime } from "../../src/adapters/default.ts";
import type { HttpServer } from "../../src/core/ports/http.ts";

// Loaded this way because not every runtime can read the types of the SDK.
interface ServerSdk {
  readonly McpServer: new (info: object, options?: object) => {
    registerTool(name: string, config: object, run: (args: never, extra: never) => unknown): void;
    connect(transport: object): Promise<void>;
    close(): Promise<void>;
  };
  readonly WebStandardStreamableHTTPServerTransport: new (options: object) => {
    handleRequest(request: Request): Promise<Response>;
  };
  readonly createMcpHandler: (factory: () => unknown, options?: object) => {
    fetch(request: Request): Promise<Response>;
  };
  readonly fromJsonSchema: (schema: object) => unknown;
}
const sdk = await import("@modelcontextprotocol/server") as unknown as ServerSdk;

interface Test {
  after(run: () => Promise<void>): void;
}

/** A request as it came in. */
export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Method of its JSON-RPC message, when it has one. */
  readonly rpc: string | null;
}

/** A server for one test. */
export interface RemoteServer {
  readonly url: string;
  readonly port: number;
  readonly seen: SeenRequest[];
  /** Answers a request in the place of the server when it returns a response. */
  intercept: (request: Request, seen: SeenRequest) => Response | null | Promise<Response | null>;
  /** Forgets every session. */
  forget(): void;
  /** Ends the server; another one can take its port. */
  stop(): Promise<void>;
}

/** Makes the server with its tools: `echo`, `slow` (answers when it is cancelled, never before), `long`. */
function exampleServer(): InstanceType<ServerSdk["McpServer"]> {
  const server = new sdk.McpServer({ name: "elsewhere", version: "1.2.3" });
  const text = (words: string): object => ({ content: [{ type: "text", text: words }] });
  const inputSchema = sdk.fromJsonSchema({ type: "object", properties: { text: { type: "string" } } });
  server.registerTool(
    "echo",
    { description: "Repeats", inputSchema },
    ({ text: words }: { text: string }) => text(words),
  );
  server.registerTool("long", { description: "Says too much", inputSchema }, () => text("x".repeat(5 * 1024 * 1024)));
  server.registerTool("slow", { description: "Takes its time", inputSchema }, () => new Promise(() => {}));
  return server;
}

/** Starts a server. `era` legacy keeps sessions, modern is revision 2026-07-28 with the older ones beside it. */
export async function remoteServer(
  t: Test,
  { era = "legacy", port = 0 }: { readonly era?: "legacy" | "modern"; readonly port?: number } = {},
): Promise<RemoteServer> {
  const runtime = await detectRuntime();
  const sessions = new Map<string, InstanceType<ServerSdk["WebStandardStreamableHTTPServerTransport"]>>();
  const modern = sdk.createMcpHandler(exampleServer);
  const legacy = async (request: Request): Promise<Response> => {
    const id = request.headers.get("mcp-session-id");
    const known = id === null ? null : sessions.get(id);
    if (known) return await known.handleRequest(request);
    if (id !== null) return new Response("No such session", { status: 404 });
    const transport = new sdk.WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      onsessioninitialized: (created: string) => void sessions.set(created, transport),
      keepAliveMs: 0,
    });
    await exampleServer().connect(transport);
    return await transport.handleRequest(request);
  };
  const seen: SeenRequest[] = [];
  const server: HttpServer = await runtime.http.listen({
    at: { hostname: "127.0.0.1", port },
    background: true,
    handler: async (request) => {
      const text = request.method === "POST" ? await request.clone().text() : "";
      const rpc = text.startsWith("{") ? JSON.parse(text).method ?? null : null;
      const { pathname, search } = new URL(request.url);
      const one = {
        method: request.method,
        path: pathname + search,
        headers: Object.fromEntries(request.headers),
        rpc,
      };
      seen.push(one);
      const own = await remote.intercept(request, one);
      return own ?? await (era === "legacy" ? legacy(request) : modern.fetch(request));
    },
  });
  const remote: RemoteServer = {
    url: `http://127.0.0.1:${server.port}/mcp`,
    port: server.port!,
    seen,
    intercept: () => null,
    forget: () => sessions.clear(),
    stop: () => server.stop(),
  };
  t.after(() => server.destroy());
  return remote;
}

/** Writes the folder of a plugin that is the server at `url`, with `more` lines in its manifest. */
export async function remotePlugin(t: Test, url: string, more = "", name = "elsewhere"): Promise<string> {
  const dir = join(await mkdtemp(join(tmpdir(), "kaged-remote-")), name);
  t.after(() => rm(join(dir, ".."), { recursive: true, force: true }));
  await mkdir(dir);
  const head = `name: ${name}\nversion: 0.1.0\nkaged_api: 1\ndescription: A server elsewhere\n`;
  await writeFile(join(dir, "kaged-plugin.yaml"), `${head}runtime: mcp_http\nurl: ${url}\n${more}`);
  return dir;
}
