/**
 * Capabilities that the settings of a server call for: folders among its arguments, and addresses.
 *
 * @module
 */
import { parseCapability } from "../../core/manifest/capability.ts";
import type { Files } from "../../core/ports/ports.ts";
import { hostOfUrl } from "./secret_hosts.ts";

/** Settings with the capabilities they call for. */
export interface ValueGrants {
  /** The arguments, paths in them with links resolved: a grant is for the place itself. */
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly capabilities: readonly string[];
}

/**
 * Returns the grants for paths that exist and for addresses. A path is granted for reading, unless it is in `writable`;
 * each of those is granted whether a setting names it or not.
 */
export async function valueGrants(
  { args, env }: Pick<ValueGrants, "args" | "env">,
  { files, userHome, writable }: {
    readonly files: Files;
    readonly userHome: string | null;
    readonly writable: readonly string[];
  },
): Promise<ValueGrants> {
  const capabilities = new Set<string>();
  const real = async (path: string): Promise<string | null> => await files.realPath(path).catch(() => null);
  const written = (await Promise.all(writable.map(real))).filter((path) => path !== null);
  const settle = async (text: string): Promise<string> => {
    const host = hostOfUrl(text);
    if (host !== null) return capabilities.add(`net:${host}`), text;
    const [, option = "", path = ""] = /^(--?[\w-]+=)?(~?\/.*)$/s.exec(text) ?? [];
    const place = path === "" ? null : await real(path.replace(/^~(?=\/)/, userHome ?? "~"));
    if (place === null) return text;
    capabilities.add(`${written.some((one) => one === place) ? "write" : "read"}:fs:${place}`);
    return option + place;
  };
  const filled = { args: await Promise.all(args.map(settle)), env: await settleAll(env, settle) };
  for (const path of written) capabilities.add(`write:fs:${path}`);
  const isPossible = (one: string): boolean => parseCapability(one).ok;
  return { ...filled, capabilities: [...capabilities].filter(isPossible) };
}

async function settleAll(
  texts: Readonly<Record<string, string>>,
  settle: (text: string) => Promise<string>,
): Promise<Record<string, string>> {
  const entries = Object.entries(texts).map(async (
    [name, text],
  ): Promise<[string, string]> => [name, await settle(text)]);
  return Object.fromEntries(await Promise.all(entries));
}
