/**
 * Sources of plugins: a folder, an archive, or an address that git can fetch.
 *
 * @module
 */
import { HostError } from "../../core/errors/host_error.ts";
import type { Files } from "../../core/ports/ports.ts";

/** A folder or an archive of this machine by its absolute path, or a repository by its address without `git+`. */
export type Source =
  | { readonly kind: "path" | "archive"; readonly path: string }
  | { readonly kind: "git"; readonly url: string };

/** A source that an MCP server was taken in from, as `kaged mcp upgrade` reads it: `npm:<package>`, `mcpb:/…`. */
export interface ServerOrigin {
  readonly kind: "mcp";
  readonly text: string;
}

/** The source that an install record keeps. */
export type Origin = Source | ServerOrigin;

const LOOPBACK: readonly string[] = ["127.0.0.1", "localhost", "[::1]"];

/** Whether a text is an address and no path. */
export function isAddress(text: string): boolean {
  return /^(?:git\+)?[a-z][a-z0-9+.-]*:\/\//i.test(text);
}

/** Returns a source as it is shown and recorded. */
export function sourceText(source: Origin): string {
  if (source.kind === "mcp") return source.text;
  return source.kind === "git" ? source.url : source.path;
}

/** Whether a path is one of an archive, by its name. */
export function isArchive(path: string): boolean {
  return /\.(?:tgz|tar|tar\.gz|zip)$/i.test(path);
}

/** Returns the source at an absolute path. */
export function pathSource(path: string): Source {
  return { kind: isArchive(path) ? "archive" : "path", path };
}

/**
 * Reads a source: an absolute path, `https://…` or `git+https://…`; plain http only to this machine and with `allowHttp`.
 *
 * @throws {HostError} `install.source_invalid` or `install.http_refused`.
 */
export function parseSource(text: string, { allowHttp = false }: { readonly allowHttp?: boolean } = {}): Source {
  if (!isAddress(text)) {
    if (text.startsWith("/") && !text.includes("\0")) return pathSource(text);
    if (isServerOrigin(text)) throw ofServer(text);
    throw invalid(text, "It is neither an absolute path nor an address");
  }
  if (isServerOrigin(text)) throw ofServer(text);
  const url = URL.parse(text.replace(/^git\+/i, ""));
  if (!url || !["https:", "http:"].includes(url.protocol)) throw invalid(text, "Only https:// can be fetched");
  if (url.username !== "" || url.password !== "") {
    throw invalid("the address", "It holds a name or a password, which would be recorded and shown");
  }
  if (url.hash !== "") throw invalid(text, "It has a part after #: name a release with --release instead");
  if (url.protocol === "http:" && !LOOPBACK.includes(url.hostname)) {
    throw new HostError("install.http_refused", `"${text}" would be fetched without encryption`, {
      data: { source: text },
      hint: "Use https://",
    });
  }
  if (url.protocol === "http:" && !allowHttp) {
    throw new HostError("install.http_refused", `"${text}" would be fetched over plain http`, {
      data: { source: text },
      hint: "It is this machine: add --allow-http if you mean it",
    });
  }
  return { kind: "git", url: url.href };
}

/**
 * Reads the `source:` of a project: `./path` is a folder or an archive of the project, links followed.
 *
 * @throws {HostError} `install.source_missing`, `install.source_outside`, or as {@link parseSource} does.
 */
export async function projectSource(
  text: string,
  { projectDir, files, allowHttp = false }: {
    readonly projectDir: string;
    readonly files: Files;
    readonly allowHttp?: boolean;
  },
): Promise<Source> {
  if (isAddress(text)) return parseSource(text, { allowHttp });
  const root = await files.realPath(projectDir);
  const path = await files.realPath(`${root}/${text}`).catch((cause) => {
    throw new HostError("install.source_missing", `The project has no "${text}"`, {
      data: { source: text, project: root },
      hint: "Correct source: in project.yaml, or put the plugin there",
      cause,
    });
  });
  if (path.startsWith(`${root}/`)) return pathSource(path);
  throw new HostError("install.source_outside", `The source "${text}" leads to "${path}", outside the project`, {
    data: { source: text, path, project: root },
    hint: "Move the plugin into the project, or install it by its path",
  });
}

/** Whether a text is the source of an MCP server, which no plugin is installed from as it is. */
export function isServerOrigin(text: string): boolean {
  return /^(?:npm:|mcpb:|mcp\+)/.test(text);
}

function ofServer(text: string): HostError {
  return new HostError("install.source_invalid", `${JSON.stringify(text)} is the source of an MCP server`, {
    data: { source: text },
    hint: "Use kaged mcp add or kaged mcp upgrade",
  });
}

function invalid(text: string, why: string): HostError {
  return new HostError("install.source_invalid", `Cannot install from ${JSON.stringify(text)}: ${why}`, {
    hint: "Name a folder, an archive such as ./plugin.tgz, https://… or git+https://…",
  });
}
