/**
 * A launcher that waits for the next start of a home: it runs, has closed its descriptors and, under root, sealed the
 * device nodes, so that the next start has only to give it orders. There is one while the home has a cage; it ends with
 * the last of them, and with the host.
 *
 * @module
 */
import type { ChildProcess, Command, ProcessListeners, Runtime } from "../ports/ports.ts";
import { writeNodeFiles } from "./launcher.ts";

/** A launcher that waits in the folder of its start to come. */
export interface ReadyLauncher {
  readonly dir: string;
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
}

const homes = new Map<string, Home>();

/** Counts a cage of `home`; the returned function takes it back, once, and with the last one ends the launcher. */
export function enterHome(home: string): () => Promise<void> {
  const entry: Home = homes.get(home) ?? { cages: 0, next: null };
  homes.set(home, entry);
  entry.cages++;
  let isLeft = false;
  return async () => {
    if (isLeft) return;
    isLeft = true;
    if (--entry.cages > 0) return;
    homes.delete(home);
    await (await entry.next)?.discard();
  };
}

/** Makes a launcher ready for the next start, unless one is or the home has no cage. */
export function readyNext(home: string, launcherIn: (dir: string) => Command, runtime: Runtime): void {
  const entry = homes.get(home);
  if (entry) entry.next ??= makeReady(home, launcherIn, runtime).catch(() => null); // The next start goes the long way.
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

async function makeReady(
  home: string,
  launcherIn: (dir: string) => Command,
  { files, processes, uid }: Runtime,
): Promise<ReadyLauncher | null> {
  const dir = await files.makeTempDir(`${home}/run/ready-`);
  let listeners: ProcessListeners | null = null;
  let hasEnded = false;
  const waits = Promise.withResolvers<void>();
  try {
    if (uid === 0) await writeNodeFiles(dir, files);
    const child = await processes.spawn(launcherIn(dir), {
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
    return { dir, hasEnded: () => hasEnded, start, discard };
  } catch {
    await files.remove(dir);
  }
  return null;
}
