/**
 * Official MCP clients of both SDKs and both eras behind one face.
 *
 * @module
 */
import type { McpTransport } from "../../src/core/mcp/sdk_types.ts";

// Loaded this way because Deno cannot find the types of these files, only the files.
const one = await import("@modelcontextprotocol/sdk/client/index.js");
const oneTypes = await import("@modelcontextprotocol/sdk/types.js");
const oneMemory = await import("@modelcontextprotocol/sdk/inMemory.js");
const oneStdio = await import("@modelcontextprotocol/sdk/client/stdio.js");
const two = await import("@modelcontextprotocol/client");
const twoStdio = await import("@modelcontextprotocol/client/stdio");

/** SDK 1, and SDK 2 as it negotiates: not at all, by a probe, or the newest revision only. */
export const CLIENTS = ["sdk1", "legacy", "auto", "modern"] as const;

/** One of {@link CLIENTS}. */
export type ClientKind = (typeof CLIENTS)[number];

/** The clients that speak revision 2026-07-28 with a server that can. */
export function isModern(kind: ClientKind): boolean {
  return kind === "auto" || kind === "modern";
}

type Json = Record<string, unknown>;
// deno-lint-ignore no-explicit-any
type Answer = Record<string, any>;

/** The client's answers to requests of servers; each that is there is declared as a capability. */
export interface Answers {
  readonly elicit?: (params: Answer, extra: { readonly signal: AbortSignal }) => unknown;
  readonly sample?: (params: Answer) => unknown;
  readonly roots?: () => unknown;
  /** Whether it opens addresses too. */
  readonly urls?: boolean;
}

/** A client that is connected. */
export interface AnyClient {
  readonly kind: ClientKind;
  /** Every notification so far. */
  readonly heard: { readonly method: string; readonly params: Answer }[];
  version(): string | undefined;
  capabilities(): Answer;
  instructions(): string | undefined;
  /** Sends a request as it is; `_meta` of modern requests is the client's own and yours. */
  request(method: string, params?: Json, options?: object): Promise<Answer>;
  callTool(name: string, args?: Json, options?: object): Promise<Answer>;
  /** Says that its roots have changed; clients of the newest revision say nothing. */
  rootsChanged(): Promise<void>;
  /** Has changes of lists and of resources reported. */
  listen(uris?: readonly string[]): Promise<() => Promise<void>>;
  close(): Promise<void>;
}

const HEARD = [
  ["notifications/message", "LoggingMessageNotificationSchema"],
  ["notifications/tools/list_changed", "ToolListChangedNotificationSchema"],
  ["notifications/resources/list_changed", "ResourceListChangedNotificationSchema"],
  ["notifications/prompts/list_changed", "PromptListChangedNotificationSchema"],
  ["notifications/resources/updated", "ResourceUpdatedNotificationSchema"],
] as const;

/** Two ends of one wire in memory, of the SDK of such a client. */
export function wireFor(kind: ClientKind): [McpTransport, McpTransport] {
  const { InMemoryTransport } = kind === "sdk1" ? oneMemory : two;
  return InMemoryTransport.createLinkedPair() as unknown as [McpTransport, McpTransport];
}

/** The wire to a program that such a client starts. */
export function stdioFor(kind: ClientKind, command: { command: string; args: string[]; env: object }): McpTransport {
  const { StdioClientTransport } = kind === "sdk1" ? oneStdio : twoStdio;
  return new StdioClientTransport({ ...command, stderr: "ignore" } as never) as unknown as McpTransport;
}

/** Connects a client of a kind. */
export async function connectAny(kind: ClientKind, wire: McpTransport, answers: Answers = {}): Promise<AnyClient> {
  const { elicit, sample, roots, urls } = answers;
  const capabilities = {
    ...(elicit && { elicitation: urls ? { form: {}, url: {} } : {} }),
    ...(sample && { sampling: {} }),
    ...(roots && { roots: { listChanged: true } }),
  };
  const mode = kind === "modern" ? { pin: "2026-07-28" } : kind;
  const info = { name: "test", version: "1.0.0" };
  // deno-lint-ignore no-explicit-any
  const client: any = kind === "sdk1"
    ? new one.Client(info, { capabilities })
    : new two.Client(info, { capabilities, versionNegotiation: { mode } } as never);
  const on = (method: string, schema: unknown, handler: unknown) =>
    client.setRequestHandler(kind === "sdk1" ? schema : method, handler);
  if (elicit) on("elicitation/create", oneTypes.ElicitRequestSchema, answering(elicit));
  if (sample) on("sampling/createMessage", oneTypes.CreateMessageRequestSchema, answering(sample));
  if (roots) on("roots/list", oneTypes.ListRootsRequestSchema, answering(roots));
  const heard: { method: string; params: Answer }[] = [];
  for (const [method, schema] of HEARD) {
    const hear = ({ params = {} }: { params?: Answer }) => void heard.push({ method, params });
    client.setNotificationHandler(kind === "sdk1" ? oneTypes[schema] : method, hear);
  }
  await client.connect(wire);
  const request = (method: string, params: Json = {}, options: object = {}): Promise<Answer> =>
    kind === "sdk1"
      ? client.request({ method, params }, oneTypes.ResultSchema, options)
      : client.request({ method, params }, options);
  return {
    kind,
    heard,
    version: () => client.getNegotiatedProtocolVersion?.() ?? client.transport?._negotiated,
    capabilities: () => client.getServerCapabilities(),
    instructions: () => client.getInstructions(),
    request,
    callTool: (name, args = {}, options = {}) => request("tools/call", { name, arguments: args }, options),
    rootsChanged: () => client.sendRootsListChanged(),
    async listen(uris = []) {
      if (!isModern(kind)) {
        for (const uri of uris) await request("resources/subscribe", { uri });
        return async () => {
          for (const uri of uris) await request("resources/unsubscribe", { uri });
        };
      }
      const lists = { toolsListChanged: true, resourcesListChanged: true, promptsListChanged: true };
      const subscription = await client.listen({ ...lists, resourceSubscriptions: [...uris] });
      return () => subscription.close();
    },
    close: () => client.close(),
  };
}

function answering(
  answer: (params: Answer, extra: never) => unknown,
): (request: { params: Answer }, extra: never) => unknown {
  return ({ params }, extra) => answer(params, extra);
}
