/**
 * The source of an MCP server, as commands take it and as the install record keeps it.
 *
 * @module
 */
import { HostError } from "../../core/errors/host_error.ts";
import type { ServerSource } from "./types.ts";

const PACKAGE = /^(@[a-z0-9~][a-z0-9._~-]*\/)?[a-z0-9~][a-z0-9._~-]*$/i;
/** A version, a range or a tag; nothing that makes npm look elsewhere than in its registry. */
const RANGE = /^[A-Za-z0-9.^~<>=|* +-]{1,100}$/;
const MAX_PACKAGE = 214;

/** Splits `@scope/name@1.2` into package and range; null where it is none that a registry could have. */
export function parsePackage(text: string): { readonly package: string; readonly range: string } | null {
  const at = text.indexOf("@", 1);
  const [name, range] = at === -1 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
  if (!PACKAGE.test(name) || name.length > MAX_PACKAGE || (at !== -1 && !RANGE.test(range))) return null;
  return { package: name, range: range === "latest" ? "" : range };
}

/**
 * Reads the source that a command names: `npm:<package>`, a bare package, a folder, a `.mcpb` file, or the address of a
 * remote server. `resolve` makes a path absolute.
 *
 * @throws {HostError} `mcp_add.source_invalid`.
 */
export function parseServerSource(text: string, resolve: (path: string) => string): ServerSource {
  const invalid = (why: string): HostError =>
    new HostError("mcp_add.source_invalid", `Cannot take in ${JSON.stringify(text)}: ${why}`, {
      data: { source: text },
      hint: "Name an npm package, a folder such as ./server, a .mcpb file, or https://… of a remote server",
    });
  if (text.includes("\0")) throw invalid("It holds a NUL character");
  if (/^(?:mcp\+)?https?:\/\//i.test(text)) return remoteSource(text.replace(/^mcp\+/i, ""), invalid);
  if (/^(?:mcpb:|.*\.(?:mcpb|dxt)$)/is.test(text)) return { kind: "bundle", path: resolve(text.replace(/^mcpb:/, "")) };
  const named = /^npm:(.*)$/s.exec(text)?.[1];
  const isPath = named === undefined && (/^[./~]/.test(text) || (text.includes("/") && !text.startsWith("@")));
  if (isPath) return { kind: "folder", path: resolve(text), entry: null };
  const found = parsePackage(named ?? text);
  if (found) return { kind: "npm", ...found };
  throw invalid("It is no name of an npm package");
}

function remoteSource(text: string, invalid: (why: string) => HostError): ServerSource {
  const url = URL.parse(text);
  if (!url) throw invalid("It is no address");
  if (url.username !== "" || url.password !== "") throw invalid("It holds a name or a password, which would be shown");
  return { kind: "remote", url: url.href };
}

/** Returns a source as the install record keeps it, for {@link parseServerSource} to read again. */
export function serverSourceText(source: ServerSource): string {
  switch (source.kind) {
    case "npm":
      return `npm:${source.package}${source.range === "" ? "" : `@${source.range}`}`;
    case "folder":
      return source.path;
    case "bundle":
      return `mcpb:${source.path}`;
    case "remote":
      return `mcp+${source.url}`;
  }
}

/** Whether two sources lead to the same server, whatever its version. */
export function isSameServer(a: ServerSource, b: ServerSource): boolean {
  const bare = (source: ServerSource): ServerSource => source.kind === "npm" ? { ...source, range: "" } : source;
  return serverSourceText(bare(a)) === serverSourceText(bare(b));
}
