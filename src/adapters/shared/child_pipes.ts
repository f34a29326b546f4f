/**
 * A child process on pipes of the host's own.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import type { ChildProcess as NodeChild } from "node:child_process";
import { closeSync, writeSync } from "node:fs";
import type { ChildProcess, Exit, ProcessListeners } from "../../core/ports/ports.ts";
import type { PipeEnds, PipeReader, PipeWriter } from "./pipe_ends.ts";
import { signalProcess } from "./signal_process.ts";

/** Joins the pipes of a child to the listeners, which hear nothing before `open` is called: once it is known to run. */
export function joinPipes(
  child: NodeChild,
  listeners: ProcessListeners,
  { fds: [input, output, errors], ends }: {
    readonly fds: readonly [stdin: number, stdout: number, stderr: number];
    readonly ends: PipeEnds;
  },
): { piped: ChildProcess; open: () => void } {
  const stdin = pipedInput(input, ends, () => listeners.drain?.());
  const closed = Promise.withResolvers<void>();
  let hasEnded = false;
  const paused = { stdout: false, stderr: false };
  let letGo = false;
  let left = 2;
  let readers: { readonly stdout: PipeReader; readonly stderr: PipeReader } | null = null;
  const endOne = (): void => void (--left === 0 && closed.resolve());
  const open = (): void => {
    const stdout = ends.read(output, (chunk) => letGo ? undefined : listeners.stdout(chunk), () => {
      listeners.stdoutEnd();
      endOne();
    });
    const stderr = ends.read(errors, (chunk) => letGo ? undefined : listeners.stderr(chunk), endOne);
    readers = { stdout, stderr };
    if (paused.stdout) stdout.pause();
    if (paused.stderr) stderr.pause();
    if (letGo) release();
  };
  const release = (): void => {
    letGo = true;
    stdin.close();
    readers?.stdout.close();
    readers?.stderr.close();
  };
  const exited = new Promise<Exit>((resolve) => {
    child.once("exit", (code, signal) => {
      hasEnded = true;
      stdin.close();
      resolve({ code, signal });
    });
  });
  const piped: ChildProcess = {
    pid: child.pid ?? 0,
    exited,
    closed: closed.promise,
    write: stdin.write,
    bufferedBytes: stdin.bufferedBytes,
    endInput: stdin.end,
    pause: (output = "stdout") => (paused[output] = true, readers?.[output].pause()),
    resume: (output = "stdout") => (paused[output] = false, readers?.[output].resume()),
    release,
    // Not child.kill(): on Deno that one sends a single signal in a process's life.
    kill: (signal) => void (hasEnded || signalProcess(child.pid!, signal)),
  };
  return { piped, open };
}

interface PipedInput extends Pick<ChildProcess, "write" | "bufferedBytes"> {
  end(): void;
  close(): void;
}

/** So many bytes a pipe takes whole or not at all: PIPE_BUF, as Linux has it. */
const WHOLE_BYTES = 4096;
/** Most bytes that one UTF-16 unit takes in UTF-8. */
const MAX_BYTES_PER_CHAR = 3;

/** Writes text to a pipe: at once while the pipe takes everything, as that of an idle process does, else by a writer. */
function pipedInput(fd: number, ends: PipeEnds, onDrain: () => void): PipedInput {
  let writer: PipeWriter | null = null;
  let isOpen = true;
  let queuedBytes = 0;
  const close = (): void => {
    if (writer) writer.close();
    else if (isOpen) closeSync(fd);
    isOpen = false;
  };
  const queue = (text: string, left: string | Uint8Array): void => {
    const bytes = Buffer.byteLength(text); // Counted whole until the last of them is taken.
    queuedBytes += bytes;
    writer ??= ends.write(fd);
    writer.write(left, () => {
      queuedBytes -= bytes;
      if (queuedBytes === 0 && isOpen) onDrain();
    });
  };
  const write = (text: string): void => {
    if (!isOpen || text === "") return;
    if (writer) return queue(text, text);
    const isSmall = text.length * MAX_BYTES_PER_CHAR <= WHOLE_BYTES;
    const bytes = isSmall ? null : Buffer.from(text);
    try {
      // A small text is written as it is: to measure it, or to copy it, would cost more than writing it.
      const taken = bytes === null ? writeSync(fd, text) : writeSync(fd, bytes);
      if (bytes !== null && taken < bytes.length) queue(text, bytes.subarray(taken));
    } catch (error) {
      if ((error as { code?: string }).code === "EAGAIN") queue(text, bytes ?? text);
      else close(); // A dead process takes no input; `exited` reports its end.
    }
  };
  const end = (): void => {
    if (writer && isOpen) writer.end();
    else if (isOpen) closeSync(fd);
    isOpen = false;
  };
  return { write, bufferedBytes: () => queuedBytes, end, close };
}
