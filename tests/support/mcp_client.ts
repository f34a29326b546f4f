/**
 * The official MCP client, connected to the real `kaged mcp` of this runtime.
 *
 * @module
 */
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compiledCode } from "./compiled_code.ts";
import type { McpTransport } from "../../src/core/mcp/sdk_types.ts";
import { type FixtureOptions, fixturePlugin } from "./fixture_plugins.ts";
import { kagedCommand } from "./run_kaged.ts";

// Loaded this way because Deno cannot find the types of these files, only the files.
const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
const { StdioClientTransport } = await import("@modelcontextprotocol/sdk/client/stdio.js");
const { InMemoryTransport } = await import("@modelcontextprotocol/sdk/inMemory.js");
const { ElicitRequestSchema, ToolListChangedNotificationSchema } = await import("@modelcontextprotocol/sdk/types.js");

interface Test {
  after(run: () => Promise<void>): void;
}

/** Options of a call. */
export interface CallResult {
  readonly content: readonly Readonly<Record<string, unknown>>[];
  readonly structuredContent?: Readonly<Record<string, unknown>>;
  readonly isError?: boolean;
  readonly _meta?: Readonly<Record<string, unknown>>;
}

/** The part of the official client that tests use. */
export interface TestClient {
  listTools(): Promise<{ tools: { name: string; description?: string; inputSchema: unknown }[] }>;
  callTool(params: { name: string; arguments?: object }, schema?: undefined, options?: object): Promise<CallResult>;
  setNotificationHandler(schema: unknown, handler: (notification: unknown) => void): void;
  setRequestHandler(
    schema: unknown,
    handler: (request: { readonly params: unknown }, extra: { readonly signal: AbortSignal }) => unknown,
  ): void;
  connect(transport: McpTransport): Promise<void>;
  ping(): Promise<unknown>;
  close(): Promise<void>;
}

/** A client, the process it talks to, and what that wrote to stderr. */
export interface ConnectedClient {
  readonly client: TestClient;
  readonly pid: number;
  /** Project folder. */
  readonly dir: string;
  stderr(): string;
}

/** Cleans up after a test, the last first: a folder must not be removed while a process still writes to it. */
const belongings = new WeakMap<Test, AsyncDisposableStack>();

/** Returns what belongs to a test. */
export function belongingsOf(t: Test): AsyncDisposableStack {
  const known = belongings.get(t);
  if (known) return known;
  const made = new AsyncDisposableStack();
  belongings.set(t, made);
  t.after(() => made.disposeAsync());
  return made;
}

/** A project whose primary has the fixtures as plugins; returns what `kaged mcp` takes for it. */
export async function mcpProject(
  t: Test,
  fixtures: Readonly<Record<string, { fixture: string } & FixtureOptions>>,
  yaml: object = {},
): Promise<{ dir: string; args: string[] }> {
  const root = await realpath(await mkdtemp(join(tmpdir(), "kaged-mcp-")));
  const own = belongingsOf(t);
  own.defer(() => rm(root, { recursive: true, force: true }));
  const [dir, home] = [join(root, "music"), join(root, "home")];
  await mkdir(dir);
  const plugins = Object.fromEntries(Object.keys(fixtures).map((key) => [key, { package: `@test/${key}` }]));
  await writeFile(join(dir, "project.yaml"), JSON.stringify({ primary: { plugins, ...yaml } }));
  const folders: string[] = [];
  for (const [key, { fixture, ...options }] of Object.entries(fixtures)) {
    const plugin = own.use(await fixturePlugin(fixture, options));
    folders.push("--plugin", `@test/${key}=${plugin.dir}`);
  }
  return { dir, args: ["mcp", "--project", dir, "--home", home, ...folders] };
}

/** Starts `kaged` with `args` and connects to it. */
export async function connectClient(t: Test, args: readonly string[], dir: string): Promise<ConnectedClient> {
  const env = { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: "/nonexistent", ...compiledCode };
  const transport = new StdioClientTransport({ ...kagedCommand(args), env, stderr: "pipe" });
  let stderr = "";
  transport.stderr!.on("data", (chunk: Uint8Array) => stderr += new TextDecoder().decode(chunk));
  const client = newClient();
  belongingsOf(t).defer(() => client.close());
  await client.connect(transport as unknown as McpTransport);
  return { client, pid: transport.pid!, dir, stderr: () => stderr };
}

/** Two ends of one wire in memory: give one to a server, connect a client to the other. */
export function memoryWire(): [McpTransport, McpTransport] {
  return InMemoryTransport.createLinkedPair() as unknown as [McpTransport, McpTransport];
}

/** A client that is not connected yet. */
export function newClient(capabilities: object = {}): TestClient {
  return new Client({ name: "test", version: "1.0.0" }, { capabilities }) as unknown as TestClient;
}

/** Has a client with the capability `elicitation` show forms to `person`, who returns the result. */
export function asksPerson(
  client: TestClient,
  // deno-lint-ignore no-explicit-any
  person: (form: any, extra: { readonly signal: AbortSignal }) => unknown,
): void {
  client.setRequestHandler(ElicitRequestSchema, ({ params }, extra) => person(params, extra));
}

/** Calls `listener` each time the server says that its tools changed. */
export function onToolsChanged(client: TestClient, listener: () => void): void {
  client.setNotificationHandler(ToolListChangedNotificationSchema, listener);
}
