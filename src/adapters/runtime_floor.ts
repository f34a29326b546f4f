/**
 * The oldest runtimes that the host runs on. This module imports nothing, so that an old runtime can load it and say
 * what is wrong.
 *
 * @module
 */
/** The oldest version of each. */
export const FLOORS: Readonly<Record<"deno" | "bun" | "node", string>> = {
  deno: "2.9.0",
  bun: "1.4.0",
  node: "24.15.0",
};

/** Versions of a runtime and of its parts, by name. */
export type Versions = Readonly<Record<string, string | undefined>>;

/** Returns in one line that this runtime is older than `program` needs; null when it is new enough. */
export function oldRuntime(program: string, versions: Versions = ownVersions()): string | null {
  // Node comes last: the other two also answer to its name.
  const runtime = versions["deno"] ? "deno" : versions["bun"] ? "bun" : "node";
  const [version, floor] = [versions[runtime] ?? "0", FLOORS[runtime]];
  return isOlder(version, floor) ? `${program} needs ${runtime} ${floor} or newer, and this is ${version}` : null;
}

function ownVersions(): Versions {
  return (globalThis as { process?: { versions?: Versions } }).process?.versions ?? {};
}

/** Whether a version comes before another. */
export function isOlder(version: string, floor: string): boolean {
  const [have, need] = [version, floor].map((text) => text.split(".").map((part) => parseInt(part, 10) || 0));
  for (let at = 0; at < 3; at++) {
    const difference = (have?.[at] ?? 0) - (need?.[at] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}
