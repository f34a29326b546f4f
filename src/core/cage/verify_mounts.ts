/**
 * Looks from outside at what is mounted in a cage: each granted path is the one that was checked, and no mount can be
 * changed that was not granted for writing or made for the cage alone.
 *
 * @module
 */
import { HostError } from "../errors/host_error.ts";
import type { Files } from "../ports/ports.ts";
import type { CageOverlay } from "./cage.ts";
import type { GrantedPath } from "./cage_plan.ts";
import { PRIVATE_HOME } from "./private_home.ts";
import { NODES } from "./sealed_nodes.ts";

/** File systems of the cage's own. */
const OWN = ["/tmp", "/dev/shm", "/dev/pts", PRIVATE_HOME];
const NODE_PATHS = NODES.map((name) => `/dev/${name}`);

type Place = Pick<GrantedPath, "path" | "access">;

/**
 * Rejects with `cage.path_swapped` or `cage.walls_missing` unless the mounts of the cage are those of its plan. `pid` is
 * a process inside; one that has ended passes, for its end is reported elsewhere.
 */
export async function verifyMounts(
  pid: number | null,
  { granted, overlays, isRoot }: {
    readonly granted: readonly GrantedPath[];
    /** Shown read-only, also where a folder around them is granted for writing. */
    readonly overlays: readonly Pick<CageOverlay, "dest">[];
    readonly isRoot: boolean;
  },
  files: Files,
): Promise<void> {
  const root = pid === null ? null : `/proc/${pid}/root`;
  const isGone = async (): Promise<boolean> => root !== null && await files.target(root) === null;
  await Promise.all(granted.map(async ({ path, dev, ino }) => {
    // A path could be swapped between the check and the mount.
    const inside = root === null ? null : await files.target(`${root}${path}`);
    if (inside?.dev === dev && inside.ino === ino) return;
    if (inside === null && await isGone()) return;
    throw new HostError("cage.path_swapped", `Cannot trust the cage: "${path}" changed while the plugin started`, {
      data: { path },
      hint: "Start the plugin again",
    });
  }));
  const places = [...granted, ...overlays.map(({ dest }) => ({ path: dest, access: "read" as const }))];
  const mounts = await files.readText(`/proc/${pid}/mountinfo`).catch(() => "");
  const writable = writableMounts(mounts).filter((at) => {
    if (OWN.includes(at) || (!isRoot && NODE_PATHS.includes(at))) return false;
    return deepest(at, places)?.access !== "write";
  });
  const reachable = await Promise.all(writable.map((at) => canReach(`${root}${at}`, files)));
  const open = mounts === "" ? ["mounts that cannot be seen"] : writable.filter((_, index) => reachable[index]);
  if (open.length === 0 || await isGone()) return;
  throw new HostError("cage.walls_missing", `Cannot trust the cage: it can change ${open.join(", ")}`, {
    data: { faults: open.map((at) => `it can change ${at}`) },
    hint: "Use the distribution's bubblewrap, then run kaged doctor",
  });
}

/** Returns the places in a text like `/proc/self/mountinfo` that are mounted for writing. */
export function writableMounts(text: string): string[] {
  const mounts = text.split("\n").filter((line) => line !== "").map((line) => {
    const [id, parent, , , at = "", flags = ""] = line.split(" ");
    const path = at.replace(/\\([0-7]{3})/g, (_, octal) => String.fromCharCode(Number.parseInt(octal, 8)));
    return { id, parent, path, isOpen: !flags.split(",").includes("ro") };
  });
  // Of two mounts at one place the upper one counts, which has the lower as its parent.
  const isCovered = (id?: string, path?: string): boolean =>
    mounts.some((other) => other.parent === id && other.path === path);
  return mounts.filter(({ id, path, isOpen }) => isOpen && !isCovered(id, path)).map(({ path }) => path);
}

/**
 * Whether the host's user, who is the plugin's too, gets to a path. Bubblewrap leaves a mount writable where it may not go
 * itself, such as another user's FUSE mount below a folder granted for reading.
 */
async function canReach(path: string, files: Files): Promise<boolean> {
  return await files.target(path).then((info) => info !== null, (error) => error.code !== "EACCES");
}

/** The planned place nearest above a mount: a folder for reading may lie in one for writing. */
function deepest(at: string, places: readonly Place[]): Place | undefined {
  return places.filter(({ path }) => at === path || at.startsWith(`${path}/`))
    .toSorted((a, b) => b.path.length - a.path.length)[0];
}
