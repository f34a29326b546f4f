/**
 * Resources that MCP servers linked to in a session: a server may be asked for those, whether it lists them or not.
 *
 * @module
 */
import { isMap } from "../core/values/plain_data.ts";

/** Links of one server that a session remembers; older ones go first. */
const MAX_LINKS = 1_000;
/** Longest URI that is remembered. */
const MAX_URI_LENGTH = 8_192;

/** The links of all open sessions. */
export class McpLinks {
  readonly #bySession = new Map<string, Map<string, Set<string>>>();

  /** Remembers the resources that a server's answer links to or holds. */
  note(session: string, plugin: string, answer: unknown): void {
    for (const uri of linkedIn(answer)) this.#add(session, plugin, uri);
  }

  /** Whether a server has linked to a URI in a session. */
  has(session: string, plugin: string, uri: string): boolean {
    return this.#bySession.get(session)?.get(plugin)?.has(uri) ?? false;
  }

  /** Forgets the links of a session that was closed. */
  forget(session: string): void {
    this.#bySession.delete(session);
  }

  #add(session: string, plugin: string, uri: string): void {
    const servers = this.#bySession.get(session) ?? new Map<string, Set<string>>();
    this.#bySession.set(session, servers);
    const links = servers.get(plugin) ?? new Set<string>();
    servers.set(plugin, links);
    links.delete(uri); // It is the newest now.
    links.add(uri);
    if (links.size > MAX_LINKS) links.delete(links.values().next().value!);
  }
}

/** Returns the URIs in the result of a tool (`content`), of a prompt (`messages`) or of a read (`contents`). */
function linkedIn(answer: unknown): readonly string[] {
  if (!isMap(answer)) return NONE;
  if (answer.messages === undefined && answer.contents === undefined && !hasLinks(answer.content)) return NONE;
  const list = (value: unknown): readonly unknown[] => Array.isArray(value) ? value : [];
  const blocks = [
    ...list(answer.content),
    ...list(answer.messages).flatMap((message) => {
      const content = isMap(message) ? message.content : null;
      return Array.isArray(content) ? content : [content];
    }),
  ];
  const resources = [
    ...blocks.filter(isMap).map((block) =>
      block.type === "resource" ? block.resource : block.type === "resource_link" ? block : null
    ),
    ...list(answer.contents),
  ];
  return resources.flatMap((one) => {
    const uri = isMap(one) ? one.uri : null;
    return typeof uri === "string" && uri.length <= MAX_URI_LENGTH ? [uri] : [];
  });
}

const NONE: readonly string[] = [];

function hasLinks(content: unknown): boolean {
  return Array.isArray(content) &&
    content.some((block) => isMap(block) && typeof block.type === "string" && block.type !== "text");
}
