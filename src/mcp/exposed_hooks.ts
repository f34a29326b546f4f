/**
 * Hooks that a hookspec offers over MCP (`mcp_exposed`), each as a tool named by its template,
 * `{kind}.{plugin}.{hook}`, and once more under a name that every client takes.
 *
 * @module
 */
import { dispatchSingleton } from "../hooks/dispatch/dispatch.ts";
import type { HookContract } from "../hooks/dispatch/types.ts";
import { completeParams, lifecycleContract } from "../hooks/sources/plugin/lifecycle.ts";
import type { CallAt, Host } from "../host/types.ts";
import { defined } from "../core/values/plain_data.ts";
import * as lifecycle from "../core/contract/generated/agent_lifecycle.ts";
import * as tool from "../core/contract/generated/tool.ts";
import { checkArguments } from "../core/tools/check_arguments.ts";
import { plainName } from "../core/tools/plain_name.ts";
import type { HostKind, KindHook } from "../hooks/kinds/types.ts";

/** The part of a hook's metadata that offering it takes. */
export interface ExposableHook {
  readonly name: string;
  readonly description: string;
  /** Null when the hook never leaves the host. */
  readonly wireMethod: string | null;
  /** Name of the MCP tool with {plugin} in it; null when the hook is not exposed. */
  readonly mcpToolName: string | null;
}

/** A hook that clients can call as a tool. */
export interface ExposedHook {
  readonly tool: OfferedTool;
  call(args: Readonly<Record<string, unknown>>, at: CallAt): Promise<unknown>;
}

const EXECUTE: HookContract = {
  ...tool.HOOKS.find(({ name }) => name === "execute")!,
  ...tool.HOOK_SCHEMAS.execute as Pick<HookContract, "input" | "output">,
};

/**
 * Returns the exposed hooks that plugins of an agent take part in, each under both of its names. The second holds only
 * letters, digits, `_` and `-`, and no tool of the agent has it.
 */
export function exposedHooks(
  host: Host,
  agent: string,
  { moments = lifecycle.HOOKS, calls = tool.HOOKS }: {
    readonly moments?: readonly ExposableHook[];
    readonly calls?: readonly ExposableHook[];
  } = {},
): ExposedHook[] {
  const tools = host.tools(agent);
  const exposed = host.plugins(agent).flatMap(({ plugin, hooks }) => {
    const short = tools.filter((one) => one.plugin === plugin).map(({ name }) => name.slice(plugin.length + 1));
    return [
      ...moments.filter(({ name }) => hooks.includes(name)).flatMap((hook) => moment(host, plugin, hook)),
      ...(short.length === 0 ? [] : calls.flatMap((hook) => execution(host, plugin, hook, short))),
    ];
  });
  const own = host.kinds.list(agent).flatMap((kind) => kind.hooks.flatMap((hook) => kindHooks(host, kind, hook)));
  // A tool may be listed with or without its plugin's name: no hook takes either from it.
  const names = tools.flatMap(({ name, alias, plugin, definition }) => {
    return [alias, name.slice(plugin.length + 1), String(definition?.name)];
  });
  return withPlainNames([...exposed, ...own], names);
}

/** Adds each hook once more, under a name that every client takes and no tool has. */
function withPlainNames(hooks: readonly ExposedHook[], names: readonly string[]): ExposedHook[] {
  const taken = new Set(names);
  const plain = hooks.map(({ tool: { name: document, description, ...tool }, call }) => {
    const name = plainName(document, taken);
    taken.add(name);
    return { tool: { ...tool, name, description: `${description} The same as ${document}.` }, call };
  });
  return [...hooks, ...plain];
}

/** A hook of a kind of one's own, for each plugin that answers it: that plugin alone is asked. */
function kindHooks(host: Host, { kind, plugins }: HostKind, hook: KindHook): ExposedHook[] {
  const { name, description, mcpToolName, inputSchema, outputSchema } = hook;
  if (mcpToolName === null) return [];
  return plugins.filter(({ hooks }) => hooks.includes(name)).map(({ plugin, version }) => ({
    tool: {
      name: mcpToolName.replace("{plugin}", plugin),
      description: `${description} (of ${plugin})`,
      inputSchema: { ...inputSchema, type: "object" },
      // Clients of older revisions refuse the schema of anything but an object.
      ...(outputSchema.type === "object" && { outputSchema }),
    },
    async call(args, at) {
      const { agent, session, signal, timeoutMs, onProgress } = at;
      const { contract, participants } = host.kinds.participants(kind, name, {
        agent,
        session,
        major: Number.parseInt(version),
        ...defined({ signal, timeoutMs, onProgress }),
      });
      return await dispatchSingleton(asked(contract), participants.filter((one) => one.name === plugin), args);
    },
  }));
}

/** A tool's name says which plugin answers: whatever the class of its hook, that one alone is asked. */
function asked(contract: HookContract): HookContract {
  return { ...contract, dispatch: "singleton" };
}

/** A moment of an agent's life: the plugin that the name of the tool says is asked, and nobody else. */
function moment(host: Host, plugin: string, hook: ExposableHook): ExposedHook[] {
  const { name, description, wireMethod, mcpToolName } = hook;
  if (mcpToolName === null || wireMethod === null) return [];
  const contract = asked(lifecycleContract(name));
  const toolName = mcpToolName.replace("{plugin}", plugin);
  return [{
    tool: { name: toolName, description: `${description} (of ${plugin})`, inputSchema: { type: "object" } },
    async call(args, at) {
      const params = completeParams(name, args, { agent_path: at.agent, session_id: at.session, nowMs: Date.now() });
      const call = async (): Promise<unknown> => await host.callMethod(plugin, wireMethod, params, at) ?? null;
      return await dispatchSingleton(contract, [{ name: plugin, call }], params);
    },
  }];
}

/** `execute` of the kind `tool`: one of the plugin's tools by its short name. */
function execution(
  host: Host,
  plugin: string,
  { name: hook, description, mcpToolName }: ExposableHook,
  short: readonly string[],
): ExposedHook[] {
  if (mcpToolName === null || hook !== "execute") return [];
  const name = mcpToolName.replace("{plugin}", plugin);
  const inputSchema = {
    type: "object" as const,
    properties: {
      name: { type: "string", enum: [...short], description: "Name of the tool." },
      args: { type: "object", description: "Its arguments." },
    },
    required: ["name", "args"],
  };
  return [{
    tool: { name, description: `${description} (of ${plugin})`, inputSchema },
    async call(args, at) {
      await checkArguments({ name, parametersSchema: inputSchema }, args);
      const execute = async ({ name: wanted, args: given }: tool.ExecuteInput): Promise<tool.ExecuteOutput> => {
        const startedMs = performance.now();
        const result = await host.callTool(`${plugin}.${wanted}`, given, at);
        return { result, elapsed_ms: Math.round(performance.now() - startedMs) };
      };
      return await dispatchSingleton(EXECUTE, [{ name: plugin, call: execute }], args as unknown as tool.ExecuteInput);
    },
  }];
}

/** A tool in a `tools/list` answer. */
export interface OfferedTool extends Record<string, unknown> {
  /** Name that every client accepts: `<plugin>__<tool>`. */
  name: string;
  description: string;
  inputSchema: { type: "object" } & Record<string, unknown>;
}
