/**
 * Child processes through `node:child_process`, the fastest pipes in all three runtimes. One trap: on Deno it rewrites
 * an argument that equals the path of Deno's own executable, so such a path never goes into `args`.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import process from "node:process";
import type { ChildProcess, Command, Exit, ProcessListeners, ProcessSpawner, Signal } from "../../core/ports/ports.ts";

/** Starts and signals processes; see {@link ProcessSpawner}. */
export const processes: ProcessSpawner = {
  async spawn(command: Command, listeners: ProcessListeners): Promise<ChildProcess> {
    const { file, args, env, cwd } = command;
    // Detached gives it a process group of its own: a Ctrl-C in the terminal reaches the host's group alone.
    const child = spawn(file, [...args], { env: { ...env }, cwd, stdio: ["pipe", "pipe", "pipe"], detached: true });
    // Listened to at once: an `error` that nobody hears ends the host.
    const spawned = new Promise<void>((resolve, reject) => {
      child.once("spawn", resolve);
      child.once("error", reject);
    });
    // Out of descriptors, Bun and Deno return a child without streams, and the error comes later.
    if (!child.stdin || !child.stdout || !child.stderr) await spawned;
    const { piped, open } = pipe(child, listeners);
    await spawned;
    // From here on `error` only says that a signal could not be sent: the process had ended.
    child.on("error", ignore);
    setImmediate(open);
    return piped;
  },

  signal(pid: number, signal: Signal): boolean {
    // 0 is this process group and -1 every process there is: no caller means those.
    if (!Number.isSafeInteger(pid) || pid === 0 || pid === -1) throw new RangeError(`No process to signal: ${pid}`);
    try {
      return process.kill(pid, signal);
    } catch (error) {
      if ((error as { code?: string }).code === "ESRCH") return false;
      throw error;
    }
  },
};

function ignore(): void {}

/** Joins the child's streams to the listeners, which hear nothing before `open` is called. */
function pipe(
  child: ChildProcessWithoutNullStreams,
  listeners: ProcessListeners,
): { piped: ChildProcess; open: () => void } {
  const { stdin, stdout, stderr } = child;
  // Output that arrives before the caller has the process is queued here: a stream without a reader would lose it.
  let early: (() => void)[] | null = [];
  const deliver = (call: () => void): void => early === null ? call() : void early.push(call);
  const open = (): void => {
    const waiting = early ?? [];
    early = null;
    for (const call of waiting) call();
  };
  let queuedBytes = 0;
  let ended = false;
  let paused = false;

  const exited = new Promise<Exit>((resolve) => {
    child.once("exit", (code, signal) => {
      ended = true;
      resolve({ code, signal });
      // Node resumes every pipe of a process that ended; a reader that paused stays paused.
      queueMicrotask(() => paused && stdout.pause());
    });
  });

  let letGo = false;
  let stdoutOpen = true;
  const endStdout = (): void => {
    if (!stdoutOpen) return;
    stdoutOpen = false;
    listeners.stdoutEnd();
  };
  const onStdout = (chunk: Uint8Array): void => letGo ? undefined : listeners.stdout(chunk);
  const onStderr = (chunk: Uint8Array): void => letGo ? undefined : listeners.stderr(chunk);
  // No closure per chunk once it flows: this is the path of every message.
  stdout.on("data", (chunk: Uint8Array) => early ? deliver(() => onStdout(chunk)) : onStdout(chunk));
  stderr.on("data", (chunk: Uint8Array) => early ? deliver(() => onStderr(chunk)) : onStderr(chunk));
  const delivered = (): Promise<void> => new Promise((resolve) => deliver(resolve));
  const stdoutEnded = atEnd(stdout).then(delivered).then(endStdout);
  const closed = Promise.all([stdoutEnded, atEnd(stderr).then(delivered)]).then(ignore);

  stdin.on("error", ignore); // A dead process takes no input; `exited` reports its end.
  const write = (text: string): void => {
    if (ended || !stdin.writable) return;
    // Counted here: `writableLength` counts characters on Node and Deno, and stays 0 on Bun.
    const bytes = Buffer.byteLength(text);
    queuedBytes += bytes;
    stdin.write(text, () => {
      queuedBytes -= bytes;
      if (queuedBytes === 0 && !ended && !letGo) listeners.drain?.();
    });
  };

  const piped: ChildProcess = {
    pid: child.pid ?? 0,
    exited,
    closed,
    write,
    bufferedBytes: () => queuedBytes,
    endInput: () => void stdin.end(),
    pause: () => void (paused = true, stdout.pause()),
    resume: () => void (paused = false, stdout.resume()),
    release(): void {
      letGo = true;
      for (const stream of [stdin, stdout, stderr]) stream.destroy();
      endStdout();
    },
    // Not child.kill(): on Deno that one sends a single signal in a process's life.
    kill: (signal) => void (ended || processes.signal(child.pid!, signal)),
  };
  return { piped, open };
}

/** Resolves when a stream has ended, broken or been destroyed. */
function atEnd(stream: NodeJS.ReadableStream): Promise<void> {
  return new Promise((resolve) => {
    stream.once("end", () => resolve());
    stream.once("close", () => resolve());
    stream.once("error", () => resolve());
  });
}
