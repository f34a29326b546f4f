/**
 * Which server a URI belongs to. A URI stays as its server wrote it as long as one server of the agent claims it; where
 * several do, each is addressed as `kaged:<plugin>/<uri>`, so that no server is asked for the resource of another.
 *
 * @module
 */
import { HostError } from "../core/errors/host_error.ts";
import type { McpResource, McpResourceTemplate } from "../core/mcp/peer.ts";
import type { McpLinks } from "./mcp_links.ts";
import type { Listed, McpServer, McpServers } from "./mcp_servers.ts";
import type { HostResource } from "./mcp_types.ts";
import { templateMatcher } from "./uri_template.ts";

/** A resource of one server. */
export interface Addressed {
  readonly server: McpServer;
  /** The URI as the server knows it. */
  readonly uri: string;
  /** Whether it was asked for as `kaged:<plugin>/<uri>`. */
  readonly isFull: boolean;
}

/** Steps that matching the URIs of one list with templates may take; beyond, every server with templates claims them. */
const MAX_STEPS = 50_000_000;
const FULL = /^kaged:([a-z][a-z0-9-]*)\/(.*)$/su;

/** Returns the address of a resource that holds whoever else claims its URI. */
export function fullAddress(plugin: string, uri: string): string {
  return `kaged:${plugin}/${uri}`;
}

/** Returns plugin and URI of such an address; null for any other URI. */
export function readFullAddress(address: string): { readonly plugin: string; readonly uri: string } | null {
  const [, plugin, uri] = FULL.exec(address) ?? [];
  return plugin !== undefined && uri !== undefined ? { plugin, uri } : null;
}

/** Finds the servers of resources. */
export class McpAddresses {
  readonly #servers: McpServers;
  readonly #links: McpLinks;

  constructor(servers: McpServers, links: McpLinks) {
    this.#servers = servers;
    this.#links = links;
  }

  /** Returns the resources of an agent under addresses that can be read. */
  async resources(agent: string): Promise<HostResource[]> {
    const { listed, claimants } = await this.#claims(agent);
    return unique(listed.map(({ server: { plugin }, item: { uri, definition } }) => {
      const isShared = claimants(uri).some((other) => other !== plugin) || readFullAddress(uri) !== null;
      const address = isShared ? fullAddress(plugin, uri) : uri;
      return { uri: address, plugin, definition: isShared ? { ...definition, uri: address } : definition };
    }));
  }

  /** Returns the templates of an agent; where two servers have the same one, under full addresses. */
  async templates(agent: string): Promise<HostResource[]> {
    const listed = await this.#servers.list(agent, "templates");
    const owners = new Map<string, Set<string>>();
    for (const { server: { plugin }, item: { uriTemplate } } of listed) {
      owners.set(uriTemplate, (owners.get(uriTemplate) ?? new Set()).add(plugin));
    }
    return unique(listed.map(({ server: { plugin }, item: { uriTemplate, definition } }) => {
      const isShared = readFullAddress(uriTemplate) !== null || owners.get(uriTemplate)!.size > 1;
      const uri = isShared ? fullAddress(plugin, uriTemplate) : uriTemplate;
      return { uri, plugin, definition: isShared ? { ...definition, uriTemplate: uri } : definition };
    }));
  }

  /** Returns the server of a resource. Throws `mcp.resource_unknown` or `mcp.resource_ambiguous`. */
  async find(
    uri: string,
    { agent, session }: { readonly agent: string; readonly session: string },
  ): Promise<Addressed> {
    const servers = this.#servers.of(agent);
    const full = readFullAddress(uri);
    if (full) return this.#named(full, uri, agent);
    const { claimants } = await this.#claims(agent);
    const claimed = new Set(claimants(uri));
    const owners = servers.filter(({ plugin }) => claimed.has(plugin) || this.#links.has(session, plugin, uri));
    return { server: this.#only(owners, uri, agent), uri, isFull: false };
  }

  /** Returns the server of a template, or of a resource, that an argument is completed for. Throws as {@link find}. */
  async findTemplate(template: string, at: { readonly agent: string; readonly session: string }): Promise<Addressed> {
    const full = readFullAddress(template);
    if (full) return this.#named(full, template, at.agent);
    const listed = await this.#servers.list(at.agent, "templates");
    const owners = listed.filter(({ item }) => item.uriTemplate === template).map(({ server }) => server);
    if (owners.length === 0) return await this.find(template, at);
    return { server: this.#only([...new Set(owners)], template, at.agent), uri: template, isFull: false };
  }

  #named({ plugin, uri }: { readonly plugin: string; readonly uri: string }, asked: string, agent: string): Addressed {
    const server = this.#servers.of(agent).find((one) => one.plugin === plugin);
    if (!server) throw unknownError(asked, agent, this.#servers);
    return { server, uri, isFull: true };
  }

  #only(owners: readonly McpServer[], uri: string, agent: string): McpServer {
    const [owner] = owners;
    if (!owner) throw unknownError(uri, agent, this.#servers);
    if (owners.length === 1) return owner;
    const addresses = owners.map(({ plugin }) => fullAddress(plugin, shownUri(uri)));
    const names = owners.map(({ plugin }) => plugin);
    throw new HostError("mcp.resource_ambiguous", `Several servers claim "${shownUri(uri)}": ${names.join(", ")}`, {
      data: { uri: shownUri(uri), plugins: names, addresses },
      hint: `Say whose you mean: ${addresses.join(" or ")}`,
    });
  }

  /** Reads the lists of an agent's servers; `claimants` names the plugins that list a URI or have a template for it. */
  async #claims(agent: string): Promise<{
    readonly listed: readonly Listed<McpResource>[];
    readonly claimants: (uri: string) => string[];
  }> {
    const [listed, templates] = await Promise.all([
      this.#servers.list(agent, "resources"),
      this.#servers.list(agent, "templates"),
    ]);
    return { listed, claimants: claimantsIn(listed, templates) };
  }
}

function claimantsIn(
  listed: readonly Listed<McpResource>[],
  templates: readonly Listed<McpResourceTemplate>[],
): (uri: string) => string[] {
  const byUri = new Map<string, Set<string>>();
  for (const { server: { plugin }, item: { uri } } of listed) {
    byUri.set(uri, (byUri.get(uri) ?? new Set()).add(plugin));
  }
  const matchers = templates.map(({ server: { plugin }, item }) => ({
    plugin,
    match: templateMatcher(item.uriTemplate),
  }));
  let steps = 0;
  return (uri) => {
    const plugins = new Set(byUri.get(uri));
    for (const { plugin, match } of matchers) {
      if (plugins.has(plugin) || match === null || !uri.startsWith(match.start)) continue;
      steps += match.cost * uri.length;
      if (steps > MAX_STEPS || match.matches(uri)) plugins.add(plugin);
    }
    return [...plugins];
  };
}

/** A server that lists a resource twice has it once. */
function unique(all: readonly HostResource[]): HostResource[] {
  return [...new Map(all.toReversed().map((one) => [one.uri, one])).values()].reverse();
}

const MAX_SHOWN = 1_000;

/** A URI as it stands in errors and events. */
export function shownUri(uri: string): string {
  return uri.slice(0, MAX_SHOWN);
}

function unknownError(uri: string, agent: string, servers: McpServers): HostError {
  const down = servers.of(agent).filter((server) => !servers.running(server)).map(({ plugin }) => plugin);
  return new HostError("mcp.resource_unknown", `No server of "${agent}" has the resource "${shownUri(uri)}"`, {
    data: { uri: shownUri(uri), agent_path: agent, ...(down.length > 0 && { down }) },
    hint: down.length > 0 ? `Not running: ${down.join(", ")}` : "List the resources of the agent",
  });
}
