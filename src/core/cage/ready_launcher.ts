/**
 * Launchers that a home has while it has a cage; they end with the last cage, and with the host. One waits for the next
 * start: it runs and has closed its descriptors, so that the start has only to give it orders. Under root another one has
 * sealed the device nodes and keeps the mount namespace where they are, which the launchers of cages enter.
 *
 * @module
 */
import type { ChildProcess, Command, Files, ProcessListeners, Runtime } from "../ports/ports.ts";
import type { GrantedPath } from "./cage_plan.ts";

/** A launcher that waits in the folder of its start to come. */
export interface ReadyLauncher {
  readonly dir: string;
  readonly pid: number;
  /** Whether it was ended by somebody else. */
  hasEnded(): boolean;
  /** Lets it go on, once its orders are written. */
  start(listeners: ProcessListeners): ChildProcess;
  /** Ends it and removes its folder, unless it was started. */
  discard(): Promise<void>;
}

interface Home {
  /** Cages that stand. */
  cages: number;
  next: Promise<ReadyLauncher | null> | null;
  keeper: Promise<ReadyLauncher | null> | null;
  /** The keeper, once it has sealed the nodes. */
  kept: ReadyLauncher | null;
}

const homes = new Map<string, Home>();

/** Whether a home has cages beside one that entered it. */
export function hasOthers(home: string): boolean {
  return (homes.get(home)?.cages ?? 0) > 1;
}

/** Counts a cage of `home`; the returned function takes it back, once, and with the last one ends the launchers. */
export function enterHome(home: string): () => Promise<void> {
  const entry: Home = homes.get(home) ?? { cages: 0, next: null, keeper: null, kept: null };
  homes.set(home, entry);
  entry.cages++;
  let isLeft = false;
  return async () => {
    if (isLeft) return;
    isLeft = true;
    if (--entry.cages > 0) return;
    homes.delete(home);
    await Promise.all([entry.next, entry.keeper].map(async (launcher) => (await launcher)?.discard()));
  };
}

/** Makes a launcher ready for the next start, unless one is or the home has no cage. */
export function readyNext(home: string, launcherIn: LauncherIn, runtime: Runtime): void {
  const entry = homes.get(home);
  // Where it cannot be made, the next start goes the long way.
  if (entry) entry.next ??= makeReady(`${home}/run/ready-`, launcherIn, runtime).catch(() => null);
}

/** Makes the keeper of sealed device nodes of a home, unless there is one or the home has no cage. */
export async function makeKeeper(home: string, launcherIn: LauncherIn, runtime: Runtime): Promise<void> {
  const entry = homes.get(home);
  if (!entry || keeperOf(home) !== null) return;
  if (entry.kept !== null) await forgetKeeper(entry);
  entry.keeper ??= makeReady(`${home}/run/nodes-`, launcherIn, runtime).catch(() => null);
  entry.kept = await entry.keeper;
}

/** Returns the process that keeps sealed device nodes; null while there is none: a launcher seals them for itself then. */
export function keeperOf(home: string): number | null {
  const kept = homes.get(home)?.kept ?? null;
  return kept === null || kept.hasEnded() ? null : kept.pid;
}

/**
 * Ends the keeper, and the launcher that waits in its namespace, where that does not show the granted paths as the host
 * sees them: not every system passes a file system that is mounted later on to namespaces made before.
 */
export async function endStale(home: string, granted: readonly GrantedPath[], files: Files): Promise<void> {
  const keeper = keeperOf(home);
  const entry = homes.get(home);
  if (keeper === null || !entry) return;
  const isShown = await Promise.all(granted.map(async ({ path, dev, ino }) => {
    const seen = await files.target(`/proc/${keeper}/root${path}`).catch(() => null);
    return seen?.dev === dev && seen.ino === ino;
  }));
  if (isShown.every((one) => one) || keeperOf(home) !== keeper) return;
  const { next } = entry;
  entry.next = null;
  await Promise.all([forgetKeeper(entry), next?.then((launcher) => launcher?.discard())]);
}

async function forgetKeeper(entry: Home): Promise<void> {
  const { kept } = entry;
  entry.keeper = entry.kept = null;
  await kept?.discard().catch(() => {}); // Its folder is swept by the next host.
}

/** Returns the launcher that waits, in a folder that is now the cage's; null where there is none, or it has gone. */
export async function takeReady(home: string, { files }: Runtime): Promise<ReadyLauncher | null> {
  const entry = homes.get(home);
  const next = entry?.next ?? null;
  if (!entry || next === null) return null;
  entry.next = null;
  const ready = await next;
  if (ready === null) return null;
  const dir = ready.dir.replace(/ready-([^/]*)$/, "cage-$1");
  try {
    if (ready.hasEnded()) throw new Error("It has ended");
    await files.rename(ready.dir, dir);
    return { ...ready, dir }; // The cage removes its own folder.
  } catch {
    await ready.discard();
    return null;
  }
}

/** Returns the command of a launcher whose folder is `dir`. */
type LauncherIn = (dir: string) => Command | Promise<Command>;

async function makeReady(
  prefix: string,
  launcherIn: LauncherIn,
  { files, processes }: Runtime,
): Promise<ReadyLauncher | null> {
  const dir = await files.makeTempDir(prefix);
  let listeners: ProcessListeners | null = null;
  let hasEnded = false;
  const waits = Promise.withResolvers<void>();
  try {
    const child = await processes.spawn(await launcherIn(dir), {
      stdout: (chunk) => listeners === null ? waits.resolve() : listeners.stdout(chunk),
      stdoutEnd: () => listeners?.stdoutEnd(),
      stderr: (chunk) => listeners?.stderr(chunk),
      drain: () => listeners?.drain?.(),
    });
    void child.exited.then(() => {
      hasEnded = true;
      waits.resolve();
    });
    const discard = async (): Promise<void> => {
      if (listeners !== null) return;
      child.endInput();
      await child.exited;
      await files.remove(dir);
    };
    const start = (given: ProcessListeners): ChildProcess => {
      listeners = given;
      child.write("\n");
      return child;
    };
    // Its folder may have another name only once it has looked for its mounts.
    await waits.promise;
    return { dir, pid: child.pid, hasEnded: () => hasEnded, start, discard };
  } catch {
    await files.remove(dir);
  }
  return null;
}
