/**
 * The MCP servers of an agent, and their lists. A server that is down lists nothing; one that is slow or broken keeps
 * nobody from the lists of the others.
 *
 * @module
 */
import type { Audit } from "../core/audit/audit.ts";
import { asHostError, HostError } from "../core/errors/host_error.ts";
import { speaksMcp } from "../core/manifest/speaks_mcp.ts";
import type { McpPeer, McpPrompt, McpResource, McpResourceTemplate } from "../core/mcp/peer.ts";
import type { Clock } from "../core/ports/ports.ts";
import type { Supervisor } from "../core/supervisor/types.ts";
import type { HostModel } from "./model.ts";

/** The host around them. */
export interface McpServerPorts {
  readonly model: Pick<HostModel, "agent" | "project">;
  readonly supervisor: Pick<Supervisor, "mcp" | "wake" | "plugins">;
  readonly audit: Pick<Audit, "emit">;
  readonly clock: Pick<Clock, "after">;
}

/** A server of an agent. */
export interface McpServer {
  readonly plugin: string;
  readonly instance: string;
}

/** Lists of a server, by name. */
interface Lists {
  readonly resources: McpResource;
  readonly templates: McpResourceTemplate;
  readonly prompts: McpPrompt;
}

/** A part of a list, and the server that has it. */
export interface Listed<T> {
  readonly server: McpServer;
  readonly item: T;
}

/** How long the lists of the other servers wait for one. */
export const LIST_MS = 10_000;

/** A list that a server was asked for and has not given yet. */
interface Asked {
  readonly items: Promise<readonly unknown[]>;
  isLate: boolean;
}

/** Finds servers and reads their lists. */
export class McpServers {
  readonly #ports: McpServerPorts;
  readonly #asked = new WeakMap<McpPeer, Map<keyof Lists, Asked>>();
  /** Lists that failed when they were last asked for: `<instance> <list>`. */
  readonly #failed = new Set<string>();

  constructor(ports: McpServerPorts) {
    this.#ports = ports;
  }

  /** Returns the MCP servers that an agent declares, each plugin once, whether they run or not. Throws `agent.unknown`. */
  of(agent: string): McpServer[] {
    const servers = new Map<string, McpServer>();
    for (const { plugin, instance, manifest } of this.#ports.model.agent(agent).plugins) {
      if (speaksMcp(manifest) && !servers.has(plugin)) servers.set(plugin, { plugin, instance });
    }
    return [...servers.values()];
  }

  /** Returns the agents that an instance serves. */
  agentsOf(instance: string): readonly string[] {
    return this.#ports.model.project.instances.find((one) => one.instance === instance)?.agents ?? [];
  }

  /** Returns the instances of MCP servers that serve an agent; null: any agent. */
  instancesOf(agent: string | null): string[] {
    return this.#ports.model.project.instances
      .filter(({ manifest, agents }) => speaksMcp(manifest) && (agent === null || agents.includes(agent)))
      .map(({ instance }) => instance);
  }

  /** Returns the conversation with a server. Throws `plugin.unavailable` while it is down. */
  peer({ instance }: Pick<McpServer, "instance">): McpPeer {
    return this.#ports.supervisor.mcp(instance);
  }

  /** Returns the conversation with a server; null while it is down. */
  running(server: Pick<McpServer, "instance">): McpPeer | null {
    try {
      return this.peer(server);
    } catch {
      return null;
    }
  }

  /** Whether a server has no process and gets one when it is called. */
  isResting({ instance }: Pick<McpServer, "instance">): boolean {
    return this.#ports.supervisor.plugins().some((one) => one.instance === instance && one.status === "resting");
  }

  /** Returns the conversation with a server, started first where it rests. Rejects as its start does, or as {@link peer}. */
  async awake(server: Pick<McpServer, "instance">, need: string): Promise<McpPeer> {
    await this.#ports.supervisor.wake(server.instance, need);
    return this.peer(server);
  }

  /** Reads one list of every server of an agent, in the order of its plugins. */
  async list<K extends keyof Lists>(agent: string, list: K): Promise<Listed<Lists[K]>[]> {
    const lists = await Promise.all(
      this.of(agent).map(async (server) => {
        const items = await this.#listOf(server, list) as readonly Lists[K][];
        return items.map((item) => ({ server, item }));
      }),
    );
    return lists.flat();
  }

  /** Returns the list of a server; an empty one where there is none to be had now. */
  async #listOf(server: McpServer, list: keyof Lists): Promise<readonly unknown[]> {
    const peer = this.running(server) ?? await this.#awakeInTime(server, list);
    if (!peer) return [];
    const key = `${server.instance} ${list}`;
    try {
      const items = await this.#inTime(peer, list, server);
      this.#failed.delete(key);
      return items;
    } catch (thrown) {
      const { code, message } = asHostError(thrown);
      // Its end is an event of its own, and many servers have no such part.
      if (code === "mcp.not_offered" || code === "plugin.unavailable" || this.#failed.has(key)) return [];
      this.#failed.add(key);
      const data = { part: list, error_code: code, error_message: message.slice(0, 200) };
      this.#ports.audit.emit("plugin.mcp_failed", { name: server.plugin, instance: server.instance }, data);
      return [];
    }
  }

  /** Returns null for a server that is down, and for one that takes longer to wake than others wait for its list. */
  async #awakeInTime(server: McpServer, list: keyof Lists): Promise<McpPeer | null> {
    const late = Promise.withResolvers<null>();
    const cancel = this.#ports.clock.after(LIST_MS, () => late.resolve(null));
    return await Promise.race([this.awake(server, `${list}/list`).catch(() => null), late.promise]).finally(cancel);
  }

  /** Waits for a list once: who asks while it is late goes on without it until the server has given it. */
  async #inTime(peer: McpPeer, list: keyof Lists, { plugin }: McpServer): Promise<readonly unknown[]> {
    const pending = this.#asked.get(peer) ?? new Map<keyof Lists, Asked>();
    this.#asked.set(peer, pending);
    const late = (): HostError => {
      return new HostError("protocol.timeout", `"${plugin}" did not list its ${list} in ${LIST_MS / 1000} s`);
    };
    let asked = pending.get(list);
    if (!asked) {
      const items = peer[list]();
      const mine: Asked = asked = { items, isLate: false };
      const settled = (): void => void (pending.get(list) === mine && pending.delete(list));
      pending.set(list, mine);
      items.then(settled, settled);
    }
    if (asked.isLate) throw late();
    const current = asked;
    const over = Promise.withResolvers<never>();
    const cancel = this.#ports.clock.after(LIST_MS, () => {
      current.isLate = true;
      over.reject(late());
    });
    return await Promise.race([current.items, over.promise]).finally(cancel);
  }
}
