/**
 * A home folder in memory, for programs that will not start where they cannot write to `$HOME`: it is empty at each start
 * and gone at its end. MCP servers have one, and every plugin whose manifest asks for it.
 *
 * @module
 */
import type { Manifest } from "../manifest/manifest.ts";
import { speaksMcp } from "../manifest/speaks_mcp.ts";
import { type CageLimits, memoryBytes } from "./limits/cage_limits.ts";

/** Where it is in the cage. No grant can be there, as `/.cage` is never granted. */
export const PRIVATE_HOME = "/.cage/home";

/** Folders of the XDG specification, at the places that programs look in by default. */
const FOLDERS = [".cache", ".config", ".local", ".local/share", ".local/state"];

/** Whether the home of a plugin's cage is private, rather than the plugin's own folder, which is read-only. */
export function hasPrivateHome(manifest: Pick<Manifest, "home" | "runtime">): boolean {
  return (manifest.home ?? (speaksMcp(manifest) ? "private" : "readonly")) === "private";
}

/**
 * Returns the arguments of bubblewrap for it. It takes at most half of the memory limit, which also counts it: a full
 * home is then an error of a write, before it is the end of the plugin.
 */
export function homeArgs(limits: CageLimits, canSize: boolean): string[] {
  const size = canSize ? ["--size", `${Math.floor(memoryBytes(limits) / 2)}`] : [];
  const folders = FOLDERS.flatMap((name) => ["--perms", "0700", "--dir", `${PRIVATE_HOME}/${name}`]);
  return [...size, "--perms", "0700", "--tmpfs", PRIVATE_HOME, ...folders];
}
