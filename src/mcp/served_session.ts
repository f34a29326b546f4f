/**
 * A session of a host, served to one client: what is under way for the client, whatever number of servers answer its
 * requests.
 *
 * @module
 */
import type { AuditType } from "../core/audit/events.ts";
import { speaksMcp } from "../core/manifest/speaks_mcp.ts";
import type { McpTransport } from "../core/mcp/sdk_types.ts";
import { cutText } from "../core/values/cut_text.ts";
import { HOST_VERSION } from "../core/values/version.ts";
import type { HostMcp } from "../host/mcp_types.ts";
import type { Host } from "../host/types.ts";
import { askClient } from "./ask_client.ts";
import { ClientLogs } from "./client_logs.ts";
import { clientSide, hasRoots } from "./client_side.ts";
import { Flights } from "./flights.ts";
import { addHandlers, type CallOptions, sentMessage, type Serving } from "./host_server.ts";
import { loadServerSdk } from "./load_server_sdk.ts";
import type { NameStyle } from "./offered_names.ts";
import { offeredTools } from "./offered_tools.ts";
import type { Era, Json, McpServer, ServerEvent } from "./sdk_types.ts";
import { taskCapabilities } from "./task_handlers.ts";
import { WatchedResources } from "./watched_resources.ts";

/** A session to serve. */
export interface ServeSessionOptions {
  /** It must have been started. */
  readonly host: Host;
  /** Agent whose tools are served. */
  readonly agent: string;
  /** Open session that calls are made in. */
  readonly session: string;
  /** Whether hooks that their hookspec exposes are served too. Default true. */
  readonly hooks?: boolean;
  /** Default `long`. */
  readonly names?: NameStyle;
}

/** A session that is served to one client. */
export interface ServedSession {
  /**
   * Makes a server with every handler, to be connected to one transport. One that announces sends changes and log
   * messages by itself; leave that to {@link on} where a server answers one request only.
   */
  server(era: Era, options?: { readonly announces?: boolean }): McpServer;
  /** Listens to changes of lists and of watched resources; returns a function that ends it. */
  on(listener: (event: ServerEvent) => void): () => void;
  /** Watches resources, as `subscriptions/listen` asks; those that are unknown stay silent. The result ends it. */
  watch(uris: readonly string[]): () => void;
  /** Ends it: calls in flight and parked ones are cancelled. The host's session stays open. */
  close(): Promise<void>;
}

/** Events after which an agent may have other tools. */
const CHANGES: ReadonlySet<AuditType> = new Set([
  "plugin.initialized",
  "plugin.tools_listed",
  "plugin.tool_approved",
  "plugin.failed",
  "plugin.disabled",
]);

const METHODS = {
  tools_list_changed: "notifications/tools/list_changed",
  resources_list_changed: "notifications/resources/list_changed",
  prompts_list_changed: "notifications/prompts/list_changed",
  resource_updated: "notifications/resources/updated",
} as const;

/** Longest text for the model: of one server, and of all. */
const MAX_INSTRUCTIONS = 16 * 1024;
const MAX_ALL_INSTRUCTIONS = 64 * 1024;

/** Serves a session. Rejects with `mcp.sdk_missing` where the SDK is not installed. */
export async function serveSession(
  options: ServeSessionOptions,
  callOptions: CallOptions | null = null,
): Promise<ServedSession> {
  const { host, agent, session, hooks = true, names = "long" } = options;
  const sdk = await loadServerSdk();
  const mcp = hasServers(host, agent) ? host.mcp : null;
  const offered = { host, agent, hooks, names };
  const flights = new Flights(host.view.clock);
  const announcers = new Announcers();
  const listeners = new Set<(event: ServerEvent) => void>();

  const emit = (event: ServerEvent): void => {
    announcers.announce(METHODS[event.kind], event.kind === "resource_updated" ? { uri: event.uri } : undefined);
    for (const listener of listeners) listener(event);
  };
  const logs = new ClientLogs({
    flights,
    setLevel: async (level) => await mcp?.setLogLevel(level, { agent, session }),
    announce: (method, params) => announcers.announce(method, params, "legacy"),
  });
  const watched = new WatchedResources(
    (uri, onChange) => mcp!.subscribe(uri, onChange, { agent, session }),
    (uri) => emit({ kind: "resource_updated", uri }),
  );
  const serving: Serving = { sdk, offered, mcp, session, flights, logs, watched, callOptions };

  const ends = [
    askClient({
      host,
      session,
      put: (question, request, options) => flights.ask(question, request, options),
      // A server's form is not for allowing or denying: a client that shows forms gets that one itself.
      isTaken: ({ source }) => source.kind !== "elicitation",
    }),
    onToolChanges(host, () => JSON.stringify(offeredTools(offered)), () => emit({ kind: "tools_list_changed" })),
    ...(mcp
      ? [
        mcp.offer(session, clientSide(flights, () => announcers.of("legacy")), { agent }),
        mcp.on(agent, (event) => {
          if (event.type === "log") logs.hear(event.plugin, event);
          else if (event.type === "list_changed" && event.list !== "tools") {
            emit({ kind: `${event.list}_list_changed` });
          }
        }),
      ]
      : []),
  ];

  return {
    server(era, { announces = true } = {}) {
      const server = new sdk.Server({ name: "kaged", version: HOST_VERSION }, {
        capabilities: { ...capabilitiesOf(mcp !== null), ...taskCapabilities(era) },
        instructions: instructionsOf(mcp, agent),
      });
      addHandlers(server, era, serving);
      sendMended(server, era);
      // Modern clients have no roots but in the answer to a call.
      if (era === "legacy") passOnRoots(server, () => mcp?.rootsChanged(session));
      if (announces) announcers.add(server, era);
      return server;
    },
    on(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    watch(uris) {
      if (!mcp) return () => {};
      const added = uris.map((uri) => watched.add(uri).then(() => uri, () => null));
      return () => {
        for (const one of added) void one.then((uri) => uri === null ? undefined : watched.remove(uri));
      };
    },
    async close() {
      for (const end of ends.splice(0)) end();
      flights.end();
      await watched.clear();
    },
  };
}

/** Servers whose connections are open, and that send news by themselves. */
class Announcers {
  readonly #all = new Map<McpServer, Era>();

  /** Adds a server until its connection has ended. */
  add(server: McpServer, era: Era): void {
    this.#all.set(server, era);
    server.onclose = () => void this.#all.delete(server);
  }

  /** Returns those of an era. */
  of(era: Era): McpServer[] {
    return [...this.#all].filter((one) => one[1] === era).map(([server]) => server);
  }

  /** Sends news to the clients of all, or of one era. */
  announce(method: string, params?: Json, era?: Era): void {
    for (const server of era ? this.of(era) : this.#all.keys()) {
      server.notification({ method, ...(params && { params }) }).catch(() => {}); // Gone, or not there yet.
    }
  }
}

/** Calls `onRoots` when a client with roots has shaken hands, and whenever it says that they have changed. */
function passOnRoots(server: McpServer, onRoots: () => void): void {
  const changed = (): void => hasRoots(server) ? onRoots() : undefined;
  server.oninitialized = changed;
  server.setNotificationHandler("notifications/roots/list_changed", changed);
}

/**
 * The parts that are declared: beside tools all of them as soon as one plugin of the agent is an MCP server, since that
 * may be down now and offer any of them later.
 */
function capabilitiesOf(hasServers: boolean): Json {
  const tools = { listChanged: true };
  if (!hasServers) return { tools };
  return {
    tools,
    resources: { subscribe: true, listChanged: true },
    prompts: { listChanged: true },
    completions: {},
    logging: {},
  };
}

function hasServers(host: Host, agent: string): boolean {
  return host.plugins(agent).some(({ plugin, state }) => {
    return state !== "refused" && speaksMcp(host.view.plugin(plugin).manifest ?? {});
  });
}

/** Texts of the agent's servers for the model, each under the name of its plugin. */
function instructionsOf(mcp: HostMcp | null, agent: string): string | undefined {
  const texts = mcp?.instructions(agent) ?? [];
  if (texts.length === 0) return undefined;
  const parts = texts.map(({ plugin, text }) => `## ${plugin}\n\n${cutText(text, MAX_INSTRUCTIONS)}`);
  return cutText(parts.join("\n\n"), MAX_ALL_INSTRUCTIONS);
}

/** Calls `onChange` when the list is another than before. */
function onToolChanges(host: Host, list: () => string, onChange: () => void): () => void {
  let listed = list();
  return host.onAudit(({ type }) => {
    if (!CHANGES.has(type)) return;
    const now = list();
    if (now === listed) return;
    listed = now;
    onChange();
  });
}

/** Has a server send its messages as the client's revision wants them, over whatever transport it is connected to. */
function sendMended(server: McpServer, era: Era): void {
  const connect = server.connect.bind(server);
  server.connect = (transport: McpTransport) => {
    const send = transport.send.bind(transport);
    transport.send = (message, options) => send(sentMessage(message, era), options);
    return connect(transport);
  };
}
