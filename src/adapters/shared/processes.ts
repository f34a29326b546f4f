/**
 * Child processes through `node:child_process`, which all three runtimes have. One trap: on Deno it rewrites an argument
 * that equals the path of Deno's own executable, so such a path never goes into `args`.
 *
 * @module
 */
import { type ChildProcess as NodeChild, type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { closeSync } from "node:fs";
import type { ChildProcess, Command, ProcessListeners, ProcessSpawner } from "../../core/ports/ports.ts";
import { joinPipes } from "./child_pipes.ts";
import { joinStreams } from "./child_streams.ts";
import type { PipeEnds } from "./pipe_ends.ts";
import { type PipeSet, pipeStore, splitPipes } from "./pipe_store.ts";
import { signalProcess } from "./signal_process.ts";

/** Starts processes on the streams of the runtime, and signals them; see {@link ProcessSpawner}. */
export const processes: ProcessSpawner = { spawn: spawnOnStreams, signal: signalProcess };

/** As {@link processes}, with pipes of the host's own: for runtimes that give a process sockets. */
export function processesOnPipes(ends: PipeEnds): ProcessSpawner {
  const take = pipeStore();
  return {
    async spawn(command, listeners): Promise<ChildProcess> {
      const set = await take();
      return await (set === null ? spawnOnStreams(command, listeners) : spawnOnPipes(command, listeners, set, ends));
    },
    signal: signalProcess,
  };
}

async function spawnOnPipes(
  command: Command,
  listeners: ProcessListeners,
  set: PipeSet,
  ends: PipeEnds,
): Promise<ChildProcess> {
  const pipes = splitPipes(set);
  try {
    const child = start(command, pipes.child);
    const ready = spawned(child);
    const { piped, open } = joinPipes(child, listeners, { fds: pipes.host, ends });
    await ready;
    setImmediate(open);
    return piped;
  } catch (error) {
    pipes.host.forEach((fd) => closeSync(fd));
    throw error;
  } finally {
    pipes.child.forEach((fd) => closeSync(fd));
  }
}

async function spawnOnStreams(command: Command, listeners: ProcessListeners): Promise<ChildProcess> {
  const child = start(command, ["pipe", "pipe", "pipe"]);
  const ready = spawned(child);
  // Out of descriptors, Bun and Deno return a child without streams, and the error comes later.
  if (!child.stdin || !child.stdout || !child.stderr) await ready;
  const { piped, open } = joinStreams(child as ChildProcessWithoutNullStreams, listeners);
  await ready;
  setImmediate(open);
  return piped;
}

function start({ file, args, env, cwd }: Command, stdio: readonly (number | "pipe")[]): NodeChild {
  // Detached gives it a process group of its own: a Ctrl-C in the terminal reaches the host's group alone.
  return spawn(file, [...args], { env: { ...env }, cwd, stdio: [...stdio], detached: true });
}

/** Resolves when the process runs, rejects when it could not be started. */
function spawned(child: NodeChild): Promise<void> {
  // Listened to at once: an `error` that nobody hears ends the host.
  return new Promise<void>((resolve, reject) => {
    child.once("spawn", resolve);
    // After the start, `error` only says that a signal could not be sent: the process had ended.
    child.on("error", reject);
  });
}
