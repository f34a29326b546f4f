/**
 * Plugins in the Claude Agent SDK (`@anthropic-ai/claude-agent-sdk`): tools of a session as an MCP server in this process,
 * and the session's moments as hooks of the SDK.
 *
 * @example A query with the tools of a session
 * ```ts
 * import type { Session } from "@kaged/plugin-host";
 * import { claudeOptions } from "@kaged/plugin-host/claude-agent";
 *
 * // for await (const message of query({ prompt, options: claudeOptions(session, { maxTurns: 10 }) })) …
 * export const options = (session: Session) => claudeOptions(session, { maxTurns: 10 });
 * ```
 *
 * @module
 */
import type { OnAsk } from "../core/approvals/desk_types.ts";
import { PRIMARY } from "../core/contract/hook_names.ts";
import { asHostError, HostError } from "../core/errors/host_error.ts";
import type { McpTransport } from "../core/mcp/sdk_types.ts";
import { canonicalText } from "../core/values/canonical_text.ts";
import { hostOf } from "../host/session_host.ts";
import type { Session } from "../host/types.ts";
import type { NameStyle } from "../mcp/offered_names.ts";
import { serveHost } from "../mcp/serve_host.ts";
import { type ClaudeHookMatcher, type ClaudeHookOutput, type ClaudeHooks, sessionHooks } from "./claude_hooks.ts";

export type { ClaudeHookMatcher, ClaudeHookOutput, ClaudeHooks, NameStyle };

/** How a session is given to the SDK. */
export interface KagedClaudeOptions {
  /** Name of the MCP server: the model knows tools as `mcp__<server>__<tool>`. Default `kaged`. */
  readonly server?: string;
  /** `short`: a tool goes by its plugin's own name for it where only one plugin has that. Default `short`. */
  readonly names?: NameStyle;
  /** Name of a subagent in the SDK's `agents` → path of its agent, such as `primary.subagents.helper`. */
  readonly agents?: Readonly<Record<string, string>>;
  /**
   * Where a person answers calls that a rule or a hook asks about. `framework`: in the `canUseTool` of your options.
   * `host`: at the host's desk. Default: `framework` where there is a `canUseTool`.
   */
  readonly approval?: "framework" | "host";
  /** Called with each progress report of a tool: messages of the SDK carry none. */
  readonly onProgress?: (report: KagedProgress) => void;
}

/** A progress report of a tool. */
export interface KagedProgress {
  /** Name of the tool, as the model knows it. */
  readonly tool: string;
  /** Id of the call, as the model gave it. */
  readonly toolUseID: string;
  /** The report as the plugin sent it. */
  readonly progress: unknown;
}

/** A `canUseTool` of the SDK, as the gate calls it. */
export type AskPermission = (
  toolName: string,
  input: Record<string, unknown>,
  options: {
    signal: AbortSignal;
    toolUseID: string;
    /** Id of the request at the host's desk. */
    requestId: string;
    decisionReason: string;
    mcpServer: { name: string; source: string };
  },
) => Promise<
  | { behavior: "allow"; updatedInput?: Record<string, unknown> | undefined }
  | { behavior: "deny"; message: string }
  | null
>;

/** The SDK's `Options`, as far as they are added to. */
export interface OwnOptions {
  /** Other servers stay. */
  readonly mcpServers?: object | undefined;
  /** Other rules stay. */
  readonly allowedTools?: readonly string[] | undefined;
  /** Asked for tools of the session too. */
  readonly canUseTool?: AskPermission | undefined;
  /** Other callbacks stay, and are called first. */
  readonly hooks?: object | undefined;
  /** Subagents lose the tools of agents that are not theirs. */
  readonly agents?: object | undefined;
}

/** The options that are added to the SDK's own. */
export interface AddedOptions {
  /** A server for the primary, and one for each subagent of a path of its own. */
  mcpServers: Record<string, { type: "sdk"; name: string; instance: SdkInstance }>;
  /** The servers: the gate judges each call, so that the SDK need not ask. */
  allowedTools: string[];
  /** Start, prompts and answers of the session; work of subagents. */
  hooks: ClaudeHooks;
}

/**
 * A server that the SDK connects to. Its class has private fields that no other object can have; this type goes in its
 * place.
 */
export type SdkInstance = never;

/**
 * Returns your options of a query, with a session added. Hooks of the SDK start the session before the first prompt and
 * add the text of plugins to the conversation, again after each compaction; they record prompts and answers for
 * `on_session_idle`. A start that a hook blocked blocks the prompt.
 *
 * `canUseTool` is called for the session's tools only where a rule or a hook asks; changed input is sent in place of the
 * model's. The SDK compacts its conversation itself: no plugin can replace that. The session stays open until
 * `session.close()`, because a query can be resumed.
 *
 * @throws {HostError} `host.misuse` for a session of no host, and where your options have a server of the same name;
 * `agent.unknown` for a path of no agent. Without the package `@modelcontextprotocol/server` prompts are blocked, with
 * `mcp.sdk_missing` as the reason.
 */
export function claudeOptions<O extends object>(
  session: Session,
  own: O & OwnOptions,
  options: KagedClaudeOptions = {},
): O & AddedOptions {
  const { server = "kaged", agents = {} } = options;
  let failure: HostError | null = null;
  const onFailure = (error: HostError): void => void (failure ??= error);
  const served = new Map([[server, PRIMARY]]);
  for (const [name, path] of Object.entries(agents)) served.set(`${server}-${name}`, path);
  const servers = [...served].map(([name, agent]) => {
    // Now: the SDK only logs that a server could not be connected, and goes on without its tools.
    session.tools(agent);
    if (own.mcpServers && Object.hasOwn(own.mcpServers, name)) throw takenError(name);
    const instance = {
      connect: connector(session, { ...options, name, agent, canUseTool: own.canUseTool, onFailure }),
    };
    return [name, { type: "sdk", name, instance: instance as unknown as SdkInstance }] as const;
  });
  const rules = [...served.keys()].map((name) => `mcp__${name}__*`);
  return {
    ...own,
    ...(own.agents && served.size > 1 && { agents: keptApart(own.agents, server, agents) }),
    mcpServers: { ...own.mcpServers, ...Object.fromEntries(servers) },
    allowedTools: [...own.allowedTools ?? [], ...rules],
    hooks: joined(own.hooks, sessionHooks(session, { server, agents, failed: () => failure })),
  };
}

function takenError(server: string): HostError {
  return new HostError("host.misuse", `The options have an MCP server "${server}" already`, {
    data: { server },
    hint: "Give the session's another name: claudeOptions(session, own, { server })",
  });
}

interface ServedAgent extends KagedClaudeOptions {
  readonly name: string;
  readonly agent: string;
  readonly canUseTool: AskPermission | undefined;
  readonly onFailure: (error: HostError) => void;
}

/** Key in the `_meta` of a call under which the SDK puts the model's id of it. */
const CALL_ID = "claudecode/toolUseId";

function connector(session: Session, served: ServedAgent): (transport: McpTransport) => Promise<void> {
  const { name, agent, names = "short", canUseTool, onProgress, onFailure } = served;
  const { approval = canUseTool ? "framework" : "host" } = served;
  const host = hostOf(session);
  return async (transport) => {
    const serving = serveHost({
      host,
      agent,
      session: session.id,
      transport,
      names,
      hooks: false,
      callOptions: (short, meta) => {
        const call = { server: name, tool: `mcp__${name}__${short}`, toolUseID: String(meta[CALL_ID] ?? "") };
        return {
          ...(canUseTool && approval === "framework" && { onAsk: asker(canUseTool, call) }),
          ...(onProgress && {
            onProgress: (progress) => onProgress({ tool: call.tool, toolUseID: call.toolUseID, progress }),
          }),
        };
      },
    });
    await serving.catch((error) => {
      onFailure(asHostError(error));
      throw error;
    });
  };
}

function asker(
  canUseTool: AskPermission,
  { server, tool, toolUseID }: { readonly server: string; readonly tool: string; readonly toolUseID: string },
): OnAsk {
  return async ({ id, reason, arguments: shown }, { signal }) => {
    const answer = await canUseTool(tool, structuredClone(shown), {
      signal,
      toolUseID,
      requestId: id,
      decisionReason: reason,
      mcpServer: { name: server, source: "sdk" },
    });
    if (answer === null) return null;
    if (answer.behavior !== "allow") return { decision: "deny", reason: answer.message };
    const { updatedInput } = answer;
    // Most front ends return the input as it was shown, with secrets masked: that is no change.
    const isChanged = updatedInput !== undefined && canonicalText(updatedInput) !== canonicalText(shown);
    return { decision: "allow", ...(isChanged && { arguments: updatedInput }) };
  };
}

/** Takes from each subagent with a server of its own the tools of the others. */
function keptApart(all: object, server: string, agents: Readonly<Record<string, string>>): object {
  const servers = [server, ...Object.keys(agents).map((name) => `${server}-${name}`)];
  return Object.fromEntries(
    Object.entries(all as Record<string, { readonly disallowedTools?: readonly string[] }>).map(
      ([name, definition]) => {
        const mine = Object.hasOwn(agents, name) ? `${server}-${name}` : server;
        const others = servers.filter((one) => one !== mine).map((one) => `mcp__${one}`);
        return [name, { ...definition, disallowedTools: [...definition.disallowedTools ?? [], ...others] }];
      },
    ),
  );
}

function joined(own: object = {}, added: ClaudeHooks): ClaudeHooks {
  const hooks: Record<string, unknown[]> = { ...own } as Record<string, unknown[]>;
  for (const [event, matchers] of Object.entries(added)) hooks[event] = [...hooks[event] ?? [], ...matchers];
  return hooks as unknown as ClaudeHooks;
}
