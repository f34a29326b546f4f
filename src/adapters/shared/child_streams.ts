/**
 * A child process on the streams that the runtime itself gives it: on Deno pipes, on Node and Bun sockets.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import type { ChildProcess, Exit, ProcessListeners } from "../../core/ports/ports.ts";
import { signalProcess } from "./signal_process.ts";

/** Joins the child's streams to the listeners, which hear nothing before `open` is called. */
export function joinStreams(
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
  const paused = { stdout: false, stderr: false };

  const exited = new Promise<Exit>((resolve) => {
    child.once("exit", (code, signal) => {
      ended = true;
      resolve({ code, signal });
      // Node resumes every pipe of a process that ended; a reader that paused stays paused.
      queueMicrotask(() => {
        if (paused.stdout) stdout.pause();
        if (paused.stderr) stderr.pause();
      });
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
    pause: (output = "stdout") => void (paused[output] = true, child[output].pause()),
    resume: (output = "stdout") => void (paused[output] = false, child[output].resume()),
    release(): void {
      letGo = true;
      for (const stream of [stdin, stdout, stderr]) stream.destroy();
      endStdout();
    },
    // Not child.kill(): on Deno that one sends a single signal in a process's life.
    kill: (signal) => void (ended || signalProcess(child.pid!, signal)),
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

function ignore(): void {}
