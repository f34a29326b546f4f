/**
 * The tools that a session has besides those of plugins, and what it does with results on their way to the model: keep
 * those that are too large, and count what they cost.
 *
 * @module
 */
import { PRIMARY } from "../core/contract/hook_names.ts";
import { asHostError, HostError } from "../core/errors/host_error.ts";
import type { Ids } from "../core/ports/ports.ts";
import { checkArguments } from "../core/tools/check_arguments.ts";
import { HOST_TOOLS, type HostToolName } from "../core/tools/host_tools.ts";
import { shownText } from "../core/tools/large_result.ts";
import { cancelledError } from "../core/wire/calls.ts";
import type { ToolCallOptions } from "./call_types.ts";
import type { GatedTool } from "./gate_call.ts";
import { KeptResults, type ReadRequest } from "./kept_results.ts";
import type { HostTool, Session, SessionOptions, ToolOutcome } from "./session_types.ts";
import { calledTool, foundTools, MAX_SEARCH_BYTES, type SearchPorts, type SearchRequest } from "./tool_search.ts";
import { CallCounts, type DefinitionCost } from "./tool_usage.ts";

/** The host around the tools of a session. */
export interface ToolPorts extends SearchPorts {
  /** Returns the tools an agent can call now. Throws `agent.unknown`. */
  tools(agent: string): HostTool[];
  /** Returns what the definitions of an agent's tools cost, by plugin. Throws `agent.unknown`. */
  definitions(agent: string): ReadonlyMap<string, DefinitionCost>;
  /** Returns the tokens of a text by the host's count. */
  tokens(text: string): number;
}

type Args = Readonly<Record<string, unknown>>;

const DEFAULT_MAX_BYTES = 32 * 1024;
const DEFAULT_KEEP_BYTES = 16 * 1024 * 1024;
/** The result that stands for a kept one needs some room itself. */
const MIN_BYTES = 1024;

/** The host's own tools in one session. */
export class OwnTools {
  readonly #ports: ToolPorts & { readonly ids: Ids };
  readonly #kept: KeptResults;
  readonly #counts: CallCounts | null;
  /** Undefined where results are shown whole, whatever their size. */
  readonly #maxBytes: number | undefined;

  /** Throws `host.misuse` for options that cannot be used. */
  constructor(ports: ToolPorts & { readonly ids: Ids }, { results, usage = false }: SessionOptions) {
    const { maxBytes = DEFAULT_MAX_BYTES, keepBytes = DEFAULT_KEEP_BYTES } = results ?? {};
    this.#ports = ports;
    this.#maxBytes = results && checkedBytes("results.maxBytes", maxBytes);
    this.#counts = usage ? new CallCounts() : null;
    const { ids, tokens } = ports;
    this.#kept = new KeptResults({ ids, tokens, keepBytes: checkedBytes("results.keepBytes", keepBytes) });
  }

  /** Returns the tools to hand to a model, and the agent they are for. */
  list(of: Parameters<Session["tools"]>[0]): { readonly agent: string; readonly tools: HostTool[] } {
    const asked = typeof of === "string" ? { agent: of } : of ?? {};
    const { agent = PRIMARY, search = false, results = this.#maxBytes !== undefined } = asked;
    const all = this.#ports.tools(agent);
    const own = [
      ...(search ? [HOST_TOOLS.search_tools, HOST_TOOLS.call_tool] : []),
      ...(results ? [HOST_TOOLS.read_result] : []),
    ];
    return { agent, tools: search ? own : own.length > 0 ? [...all, ...own] : all };
  }

  /** Returns the tool and the arguments that a `call_tool` stands for. */
  async called(args: Args, agent: string): Promise<{ readonly tool: GatedTool; readonly args: Args }> {
    await checkArguments(HOST_TOOLS.call_tool, args);
    const { name, arguments: given = {} } = args as { readonly name: string; readonly arguments?: Args };
    return { tool: calledTool(name, agent, this.#ports), args: given };
  }

  /** Answers `search_tools` or `read_result`: no plugin is called, so there is nothing to judge or to audit. */
  async answer(name: Exclude<HostToolName, "call_tool">, args: Args, options: ToolCallOptions): Promise<ToolOutcome> {
    const { agent = PRIMARY, signal } = options;
    if (signal?.aborted) throw cancelledError(name, signal);
    const maxBytes = this.limit(options) ?? MAX_SEARCH_BYTES;
    const work = async (): Promise<ToolOutcome> => {
      await checkArguments(HOST_TOOLS[name], args);
      const output = name === "read_result"
        ? this.#kept.read(args as unknown as ReadRequest)
        : foundTools(args as unknown as SearchRequest, { search: this.#ports.search, agent, maxBytes });
      return { output, context: [], warnings: [] };
    };
    return await this.#counted(agent, HOST_TOOLS[name].plugin, work());
  }

  /** Returns from which size on the result of a call is kept; undefined where none is. Throws `host.misuse`. */
  limit({ maxResultBytes }: ToolCallOptions): number | undefined {
    return maxResultBytes === undefined ? this.#maxBytes : checkedBytes("maxResultBytes", maxResultBytes);
  }

  /** Returns the outcome of a call as the model gets it; the very promise where there is nothing to do. */
  finish(
    passed: Promise<ToolOutcome>,
    { agent, plugin, maxBytes }: {
      readonly agent: string;
      readonly plugin: string;
      readonly maxBytes?: number | undefined;
    },
  ): Promise<ToolOutcome> {
    const shown = maxBytes === undefined ? passed : this.#shown(passed, maxBytes);
    return this.#counts ? this.#counted(agent, plugin, shown) : shown;
  }

  async #shown(passed: Promise<ToolOutcome>, maxBytes: number): Promise<ToolOutcome> {
    try {
      const outcome = await passed;
      const output = this.#kept.shown(outcome.output, maxBytes);
      return output === outcome.output ? outcome : { ...outcome, output };
    } catch (error) {
      throw this.#kept.shownError(asHostError(error), maxBytes);
    }
  }

  async #counted(agent: string, plugin: string, call: Promise<ToolOutcome>): Promise<ToolOutcome> {
    if (!this.#counts) return await call;
    try {
      const outcome = await call;
      this.#counts.add(agent, plugin, this.#ports.tokens(shownText(outcome.output)));
      return outcome;
    } catch (error) {
      this.#counts.add(agent, plugin, null);
      throw error;
    }
  }

  /** Returns what each plugin's tools have cost an agent; see {@link Session.usage}. */
  usage(agent: string): ReturnType<Session["usage"]> {
    const definitions = this.#ports.definitions(agent);
    const plugins = new Set([...definitions.keys(), ...this.#counts?.plugins(agent) ?? []]);
    return [...plugins].map((plugin) => {
      const { tools, tokens } = definitions.get(plugin) ?? { tools: 0, tokens: 0 };
      return { plugin, tools, definitionTokens: tokens, counted: this.#counts?.of(agent, plugin) ?? null };
    });
  }

  /** Forgets the results that were kept: the session has ended. */
  end(): void {
    this.#kept.clear();
  }
}

function checkedBytes(option: string, value: number): number {
  if (typeof value === "number" && value >= MIN_BYTES) return value;
  throw new HostError(
    "host.misuse",
    `Cannot use ${option}: ${String(value)} is no number of bytes from ${MIN_BYTES} on`,
    {
      data: { option },
      hint: `Give at least ${MIN_BYTES}, or leave it out`,
    },
  );
}
