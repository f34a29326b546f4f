/**
 * The parts of an MCP server beyond its tools: resources, prompts, completion and log levels.
 *
 * @module
 */
import { HostError } from "../errors/host_error.ts";
import type { Clock } from "../ports/ports.ts";
import { isMap } from "../values/plain_data.ts";
import { checkOffered, type McpConversation } from "./conversation.ts";
import { type ListKind, listPages, malformed } from "./list_pages.ts";
import type { OpenCalls } from "./open_calls.ts";
import type {
  McpCallOptions,
  McpDefinition,
  McpLogLevel,
  McpPeer,
  McpPrompt,
  McpResource,
  McpResourceTemplate,
  McpServerInfo,
} from "./peer.ts";

/** Time for which the list of a server that reports no changes, and sets no time, is not asked for again. */
const KEEP_MS = 5_000;
/** Most resources whose changes are reported at once. */
const MAX_SUBSCRIPTIONS = 1_000;

const RESOURCES: ListKind = { method: "resources/list", field: "resources", words: "resources" };
const TEMPLATES: ListKind = {
  method: "resources/templates/list",
  field: "resourceTemplates",
  words: "templates of resources",
};
const PROMPTS: ListKind = { method: "prompts/list", field: "prompts", words: "prompts" };

/** A list that was asked for. */
interface KeptList {
  readonly entries: Promise<readonly unknown[]>;
  /** When it must be asked for again; Infinity while that is not known, or when the server reports changes. */
  untilMs: number;
}

/** Ports of a server's parts. */
export interface ServerPartsOptions {
  /** Returns the conversation; called once the server has been greeted. */
  readonly talk: () => McpConversation;
  readonly calls: OpenCalls;
  readonly clock: Clock;
}

/** The parts of one running server. */
export class ServerParts implements McpPeer {
  readonly #options: ServerPartsOptions;
  readonly #lists = new Map<ListKind, KeptList>();
  readonly #subscribed = new Set<string>();

  /** Asks nothing yet. */
  constructor(options: ServerPartsOptions) {
    this.#options = options;
  }

  get info(): McpServerInfo {
    return this.#options.talk().info;
  }

  async resources(): Promise<readonly McpResource[]> {
    return await this.#list(RESOURCES, (definition) => ({ uri: definition.uri as string, definition }), "uri");
  }

  async templates(): Promise<readonly McpResourceTemplate[]> {
    const read = (definition: McpDefinition) => ({ uriTemplate: definition.uriTemplate as string, definition });
    return await this.#list(TEMPLATES, read, "uriTemplate");
  }

  async prompts(): Promise<readonly McpPrompt[]> {
    return await this.#list(PROMPTS, (definition) => ({ name: definition.name as string, definition }), "name");
  }

  async readResource(uri: string, options: McpCallOptions = {}): Promise<McpDefinition> {
    checkOffered(this.info, "resources");
    return await this.#ask("resources/read", { uri }, options, ({ contents }) => isListOfMaps(contents));
  }

  async getPrompt(
    name: string,
    args: Readonly<Record<string, string>>,
    options: McpCallOptions = {},
  ): Promise<McpDefinition> {
    checkOffered(this.info, "prompts");
    return await this.#ask("prompts/get", { name, arguments: args }, options, ({ messages }) => isListOfMaps(messages));
  }

  async complete(params: McpDefinition, options: McpCallOptions = {}): Promise<McpDefinition> {
    // Before 2025-03-26 there was no capability of that name, and servers completed all the same.
    if (this.info.protocol !== "2024-11-05") checkOffered(this.info, "completions");
    return await this.#ask("completion/complete", params, options, ({ completion }) => {
      const values = isMap(completion) ? completion.values : undefined;
      return Array.isArray(values) && values.every((value) => typeof value === "string");
    });
  }

  async subscribe(uri: string): Promise<void> {
    checkOffered(this.info, "resources.subscribe");
    if (!this.#subscribed.has(uri) && this.#subscribed.size >= MAX_SUBSCRIPTIONS) {
      throw new HostError("protocol.busy", `Changes of ${MAX_SUBSCRIPTIONS} resources are reported already`, {
        hint: "End the subscription of another resource first",
      });
    }
    this.#subscribed.add(uri);
    try {
      await asOwnError(this.#options.talk().subscribe(uri));
    } catch (error) {
      this.#subscribed.delete(uri);
      throw error;
    }
  }

  async unsubscribe(uri: string): Promise<void> {
    checkOffered(this.info, "resources.subscribe");
    this.#subscribed.delete(uri);
    await asOwnError(this.#options.talk().unsubscribe(uri));
  }

  async setLogLevel(level: McpLogLevel): Promise<void> {
    checkOffered(this.info, "logging");
    await asOwnError(this.#options.talk().setLogLevel(level));
  }

  rootsChanged(): void {
    this.#options.talk().rootsChanged();
  }

  /** Forgets a list that the server has changed. */
  changed(list: "resources" | "prompts"): void {
    for (const kind of list === "prompts" ? [PROMPTS] : [RESOURCES, TEMPLATES]) this.#lists.delete(kind);
  }

  /** Returns the entries of a list, each under the field that names it. */
  async #list<T>(kind: ListKind, read: (definition: McpDefinition) => T, key: string): Promise<T[]> {
    checkOffered(this.info, kind === PROMPTS ? "prompts" : "resources");
    const entries = await this.#entries(kind);
    return entries.map((entry) => {
      if (!isMap(entry) || typeof entry[key] !== "string") {
        throw malformed(kind, `an entry is no object with a ${key}`);
      }
      return read(entry);
    });
  }

  #entries(kind: ListKind): Promise<readonly unknown[]> {
    const { clock, calls, talk } = this.#options;
    const known = this.#lists.get(kind);
    if (known && clock.monotonic() < known.untilMs) return known.entries;
    const end = calls.begin(null);
    const entries = asOwnError(listPages(kind, (params) => talk().ask(kind.method, params))).then(
      ({ entries, ttlMs }) => {
        if (!this.#reportsChanges(kind)) kept.untilMs = clock.monotonic() + (ttlMs ?? KEEP_MS);
        return entries;
      },
    ).catch((error) => {
      if (this.#lists.get(kind) === kept) this.#lists.delete(kind);
      throw error;
    }).finally(end);
    const kept: KeptList = { entries, untilMs: Infinity };
    this.#lists.set(kind, kept);
    return entries;
  }

  #reportsChanges(kind: ListKind): boolean {
    const part = this.info.capabilities[kind === PROMPTS ? "prompts" : "resources"];
    return isMap(part) && part.listChanged === true;
  }

  async #ask(
    method: string,
    params: McpDefinition,
    options: McpCallOptions,
    isResult: (result: McpDefinition) => boolean,
  ): Promise<McpDefinition> {
    const end = this.#options.calls.begin(options.at ?? null);
    try {
      const result = await asOwnError(this.#options.talk().ask(method, params, options));
      if (isMap(result) && isResult(result)) return result;
      throw new HostError("mcp.malformed", `The answer to ${method} lacks what it is asked for`, { data: { method } });
    } finally {
      end();
    }
  }
}

const isListOfMaps = (value: unknown): boolean => Array.isArray(value) && value.every(isMap);

/** Errors from -32006 to -32001 have a meaning on the plugin wire that they do not have in MCP: they keep their number only. */
function asOwnError<T>(answer: Promise<T>): Promise<T> {
  return answer.catch((error) => {
    if (
      !(error instanceof HostError) || error.code.startsWith("mcp.") || !(error.rpc >= -32006 && error.rpc <= -32001)
    ) {
      throw error;
    }
    // Failures of the host's own have other words for the same numbers.
    if (error.code.startsWith("protocol.") || error.code === "plugin.unavailable") throw error;
    throw new HostError("plugin.error", error.message, { rpc: error.rpc, data: error.data, cause: error });
  });
}
