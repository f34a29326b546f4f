/**
 * What the MCP servers of a host's agents offer beyond tools, behind the calls that an embedder makes.
 *
 * @module
 */
import type { Audit } from "../core/audit/audit.ts";
import { asHostError, HostError, messageOf } from "../core/errors/host_error.ts";
import {
  type ClientOffer,
  MCP_LOG_LEVELS,
  type McpCallOptions,
  type McpDefinition,
  type McpEvent,
  type McpPeer,
  type McpServerRequest,
} from "../core/mcp/peer.ts";
import type { Clock } from "../core/ports/ports.ts";
import { safeAliases } from "../core/tools/safe_alias.ts";
import { byteLength } from "../core/values/cut_text.ts";
import { didYouMean } from "../core/values/nearest_word.ts";
import { isMap } from "../core/values/plain_data.ts";
import { shown } from "../core/values/shown_value.ts";
import type { CallAt } from "./call_types.ts";
import { fullAddress, McpAddresses, shownUri } from "./mcp_addresses.ts";
import { McpClients } from "./mcp_clients.ts";
import { McpLinks } from "./mcp_links.ts";
import { McpLogLevels } from "./mcp_log_levels.ts";
import { type McpRequestPorts, McpRequests } from "./mcp_requests.ts";
import { type McpServer, type McpServerPorts, McpServers } from "./mcp_servers.ts";
import { MAX_SUBSCRIPTIONS, McpSubscriptions } from "./mcp_subscriptions.ts";
import type { ClientSide, HostMcp, HostPrompt } from "./mcp_types.ts";
import type { Sessions } from "./sessions.ts";

/** The host around it. */
export interface HostMcpPorts extends McpServerPorts, Pick<McpRequestPorts, "desk" | "rules"> {
  readonly audit: Pick<Audit, "emit" | "on">;
  readonly clock: Pick<Clock, "after" | "monotonic">;
  readonly sessions: () => Pick<Sessions, "find" | "has">;
  /** Parts of a client that servers are told of. Default: none. */
  readonly offers?: readonly ClientOffer[];
  /** Answers requests of servers where the session has nobody. */
  readonly client?: ClientSide;
  readonly warn: (message: string) => void;
}

type At = Pick<CallAt, "agent" | "session">;
type Listener = Parameters<HostMcp["on"]>[1];

/** Events after which a server lists nothing. */
const GONE: ReadonlySet<string> = new Set(["plugin.crashed", "plugin.exited", "plugin.stopped", "plugin.killed"]);

/** The one implementation of {@link HostMcp}. */
export class HostMcpRoom implements HostMcp {
  readonly #ports: HostMcpPorts;
  readonly #servers: McpServers;
  readonly #links = new McpLinks();
  readonly #addresses: McpAddresses;
  readonly #subscriptions: McpSubscriptions;
  readonly #levels: McpLogLevels;
  readonly #requests: McpRequests;
  readonly #clients: McpClients;
  readonly #listeners = new Set<{ readonly agent: string; readonly call: Listener }>();
  /** The conversation with each instance that was last seen: another one is a new process. */
  readonly #known = new Map<string, McpPeer>();
  #unhear: (() => void) | null = null;

  constructor(ports: HostMcpPorts) {
    this.#ports = ports;
    this.#servers = new McpServers(ports);
    this.#addresses = new McpAddresses(this.#servers, this.#links);
    this.#subscriptions = new McpSubscriptions(this.#servers, (...of) => this.#trouble("subscriptions", ...of));
    this.#levels = new McpLogLevels(this.#servers, (...of) => this.#trouble("log_level", ...of));
    const { offers = [], client = {} } = ports;
    this.#clients = new McpClients(this.#servers, offers.includes("roots"));
    this.#requests = new McpRequests({
      ...ports,
      offers,
      client,
      clients: (session) => this.#clients.of(session),
      onlyWithRoots: (instance) => this.#clients.onlyWithRoots(instance),
      isOpen: (session) => ports.sessions().has(session),
    });
  }

  resources(agent: string): ReturnType<HostMcp["resources"]> {
    return this.#addresses.resources(agent);
  }

  resourceTemplates(agent: string): ReturnType<HostMcp["resourceTemplates"]> {
    return this.#addresses.templates(agent);
  }

  async prompts(agent: string): Promise<HostPrompt[]> {
    const listed = await this.#servers.list(agent, "prompts");
    const full = listed.map(({ server: { plugin }, item: { name } }) => `${plugin}.${name}`);
    const aliases = safeAliases(full);
    const prompts = new Map<string, HostPrompt>();
    for (const [at, { server: { plugin }, item: { definition } }] of listed.entries()) {
      const name = full[at]!;
      // A server that lists a prompt twice has it once: the first.
      if (!prompts.has(name)) prompts.set(name, { name, alias: aliases.get(name)!, plugin, definition });
    }
    return [...prompts.values()];
  }

  instructions(agent: string): ReturnType<HostMcp["instructions"]> {
    return this.#servers.of(agent).flatMap((server) => {
      // A server that rests is there for whoever calls it: it says what it said last.
      const last = this.#servers.isResting(server) ? this.#known.get(server.instance) : undefined;
      const text = (this.#servers.running(server) ?? last)?.info.instructions ?? null;
      return text === null ? [] : [{ plugin: server.plugin, text }];
    });
  }

  async readResource(uri: string, at: CallAt): Promise<McpDefinition> {
    checkText("uri", uri);
    this.#enter(at);
    const { server, uri: own, isFull } = await this.#addresses.find(uri, at);
    const { plugin } = server;
    const answer = await this.#audited("plugin.resource_read", server, { uri: shownUri(own) }, at, (peer, options) => {
      return peer.readResource(own, options);
    });
    this.#links.note(at.session, plugin, answer);
    if (!isFull || !Array.isArray(answer["contents"])) return answer;
    // Addressed as they were asked for: the bare URIs are also another server's.
    const contents = answer["contents"].map((one) => {
      return isMap(one) && typeof one["uri"] === "string" ? { ...one, uri: fullAddress(plugin, one["uri"]) } : one;
    });
    return { ...answer, contents };
  }

  async getPrompt(name: string, args: Readonly<Record<string, string>>, at: CallAt): Promise<McpDefinition> {
    checkText("name", name);
    const wrong = isMap(args) ? Object.entries(args).find(([, value]) => typeof value !== "string")?.[0] : "arguments";
    if (wrong !== undefined) throw paramsError(`The argument ${shown(wrong)} of a prompt is no text`, "Give texts");
    this.#enter(at);
    const { server, own, full } = await this.#findPrompt(name, at.agent);
    const prompt = full.slice(0, 300);
    const answer = await this.#audited("plugin.prompt_used", server, { prompt }, at, (peer, options) => {
      return peer.getPrompt(own, args, options);
    });
    this.#links.note(at.session, server.plugin, answer);
    return answer;
  }

  async complete(params: McpDefinition, at: CallAt): Promise<McpDefinition> {
    const ref = isMap(params) ? params["ref"] : null;
    this.#enter(at);
    if (isMap(ref) && ref["type"] === "ref/prompt" && typeof ref["name"] === "string") {
      const { server, own } = await this.#findPrompt(ref["name"], at.agent);
      const peer = await this.#servers.awake(server, "completion/complete");
      return await peer.complete({ ...params, ref: { ...ref, name: own } }, callOptions(at));
    }
    if (isMap(ref) && ref["type"] === "ref/resource" && typeof ref["uri"] === "string") {
      const { server, uri } = await this.#addresses.findTemplate(ref["uri"], at);
      const peer = await this.#servers.awake(server, "completion/complete");
      return await peer.complete({ ...params, ref: { ...ref, uri } }, callOptions(at));
    }
    const hint = 'Write { "type": "ref/prompt", "name": … } or { "type": "ref/resource", "uri": … }';
    throw paramsError("ref names neither a prompt nor a resource", hint);
  }

  async subscribe(uri: string, listener: () => void, at: CallAt): Promise<() => Promise<void>> {
    checkText("uri", uri);
    this.#enter(at);
    const { server, uri: own } = await this.#addresses.find(uri, at);
    if (this.#subscriptions.count(server) >= MAX_SUBSCRIPTIONS) {
      throw new HostError("mcp.params_invalid", `${server.plugin} has ${MAX_SUBSCRIPTIONS} subscriptions already`, {
        data: { plugin: server.plugin },
        hint: "End some of them first",
      });
    }
    const call = (): void => this.#guarded("A listener of a resource", listener);
    await this.#servers.awake(server, "resources/subscribe");
    return await this.#subscriptions.add(server, own, { session: at.session, call });
  }

  async setLogLevel(level: Parameters<HostMcp["setLogLevel"]>[0], at: At): Promise<void> {
    if (!MCP_LOG_LEVELS.includes(level)) {
      throw paramsError(`There is no log level ${shown(level)}`, `Write one of: ${MCP_LOG_LEVELS.join(", ")}`);
    }
    this.#enter(at);
    await this.#levels.set(level, at);
  }

  on(agent: string, listener: Listener): () => void {
    this.#servers.of(agent); // Throws for an agent that is not there.
    const own = { agent, call: listener };
    this.#listeners.add(own);
    // Only while somebody listens: an audit without listeners costs nothing.
    this.#unhear ??= this.#ports.audit.on(({ type, name: plugin, instance }) => {
      if (GONE.has(type)) this.#listsChanged({ plugin, instance });
    });
    return () => {
      if (!this.#listeners.delete(own) || this.#listeners.size > 0) return;
      this.#unhear?.();
      this.#unhear = null;
    };
  }

  offer(session: string, client: ClientSide, { agent }: { readonly agent?: string } = {}): () => void {
    this.#ports.sessions().find(session);
    if (agent !== undefined) this.#servers.of(agent); // Throws for an agent that is not there.
    return this.#clients.add(session, client, agent ?? null);
  }

  rootsChanged(session: string): void {
    this.#clients.rootsChanged(session);
  }

  /** Answers a request of a server to its client. */
  answer(server: McpServer, request: McpServerRequest): Promise<McpDefinition> {
    return this.#requests.answer(server, request);
  }

  /** A server says something by itself. */
  heard(server: McpServer, event: McpEvent): void {
    if (event.type === "resource_updated") this.#subscriptions.updated(server.instance, event.uri);
    this.#tell(server, event);
  }

  /** Whether somebody waits to hear from an instance: its process must not be ended for want of calls. */
  isHeld(instance: string): boolean {
    return this.#subscriptions.count({ instance }) > 0;
  }

  /** A server runs, or has listed its tools anew. */
  started({ plugin, instance }: McpServer): void {
    const server = { plugin, instance };
    const peer = this.#servers.running(server);
    if (!peer || this.#known.get(instance) === peer) return;
    this.#known.set(instance, peer);
    this.#subscriptions.renew(instance);
    void this.#levels.renew(server);
    this.#listsChanged(server);
  }

  /** Remembers the links in the result of a server's tool. */
  noteLinks(session: string, plugin: string, output: unknown): void {
    this.#links.note(session, plugin, output);
  }

  /** A session was closed. */
  async sessionEnded(session: string): Promise<void> {
    this.#links.forget(session);
    this.#clients.forget(session);
    this.#requests.sessionEnded(session);
    await Promise.all([this.#subscriptions.forget(session), this.#levels.forget(session)]);
  }

  /** Checks agent and session of a call, which is work of the session. */
  #enter({ agent, session }: At): void {
    this.#servers.of(agent);
    this.#ports.sessions().find(session).touch();
  }

  async #findPrompt(
    name: string,
    agent: string,
  ): Promise<{ readonly server: McpServer; readonly own: string; readonly full: string }> {
    const prompts = await this.prompts(agent);
    const found = prompts.find((one) => one.name === name) ?? prompts.find((one) => one.alias === name);
    if (found) {
      const server = this.#servers.of(agent).find(({ plugin }) => plugin === found.plugin)!;
      return { server, own: found.name.slice(found.plugin.length + 1), full: found.name };
    }
    const owner = this.#servers.of(agent).find(({ plugin }) => {
      return name.startsWith(`${plugin}.`) || name.startsWith(`${plugin}__`);
    });
    if (owner) this.#servers.peer(owner); // A server that is down says so.
    const known = prompts.map((one) => one.name);
    throw new HostError("mcp.prompt_unknown", `No server of "${agent}" has the prompt ${shown(name)}`, {
      data: { prompt: name.slice(0, 300), agent_path: agent, known: known.slice(0, 50) },
      hint: didYouMean(name, known, known.length > 0 ? `Prompts: ${known.slice(0, 20).join(", ")}` : "There is none"),
    });
  }

  /** Makes a call and records it: the names and the sizes, and nothing of the contents. */
  async #audited<T extends "plugin.resource_read" | "plugin.prompt_used">(
    type: T,
    { plugin: name, instance }: McpServer,
    what: T extends "plugin.resource_read" ? { uri: string } : { prompt: string },
    at: CallAt,
    call: (peer: McpPeer, options: McpCallOptions) => Promise<McpDefinition>,
  ): Promise<McpDefinition> {
    const { clock, audit } = this.#ports;
    const startedMs = clock.monotonic();
    const record = (success: boolean, bytes: number): void => {
      const duration_ms = Math.round(clock.monotonic() - startedMs);
      const place = { agent_path: at.agent, session_id: at.session };
      audit.emit(type, { name, instance }, { ...what, success, bytes, duration_ms, ...place } as never);
    };
    try {
      const need = type === "plugin.resource_read" ? "resources/read" : "prompts/get";
      const answer = await call(await this.#servers.awake({ instance }, need), callOptions(at));
      record(true, byteLength(JSON.stringify(answer)));
      return answer;
    } catch (error) {
      record(false, 0);
      throw error;
    }
  }

  #listsChanged(server: McpServer): void {
    for (const list of ["resources", "prompts"] as const) this.#tell(server, { type: "list_changed", list });
  }

  #tell({ plugin, instance }: McpServer, event: McpEvent): void {
    if (this.#listeners.size === 0) return;
    const agents = this.#servers.agentsOf(instance);
    for (const { agent, call } of [...this.#listeners]) {
      if (agents.includes(agent)) this.#guarded("A listener of MCP servers", () => call({ ...event, plugin }));
    }
  }

  #guarded(whose: string, call: () => void): void {
    try {
      call();
    } catch (error) {
      this.#ports.warn(`${whose} failed: ${messageOf(error)}`);
    }
  }

  /** A server did not do what was asked of it for a session that does not wait for that. */
  #trouble(part: "subscriptions" | "log_level", { plugin, instance }: McpServer, thrown: unknown): void {
    const { code, message } = asHostError(thrown);
    if (code === "plugin.unavailable") return;
    const data = { part, error_code: code, error_message: message.slice(0, 200) };
    this.#ports.audit.emit("plugin.mcp_failed", { name: plugin, instance }, data);
  }
}

function callOptions({ agent, session, signal, timeoutMs, onProgress }: CallAt): McpCallOptions {
  return {
    at: { agent, session },
    ...(signal && { signal }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(onProgress && { onProgress }),
  };
}

function checkText(what: string, value: unknown): void {
  if (typeof value !== "string" || value === "") throw paramsError(`${what} is no text`, `Give the ${what}`);
}

function paramsError(problem: string, hint: string): HostError {
  return new HostError("mcp.params_invalid", problem, { hint });
}
