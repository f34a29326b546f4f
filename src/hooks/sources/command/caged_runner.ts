/**
 * Runs the commands of hooks, each in a cage of its own: the project's folder, a private `/tmp`, the system's programs
 * read-only, no network. More only by the operator's settings. There is no way to run one outside.
 *
 * @module
 */
import { CagedProcess } from "../../../core/cage/caged_process.ts";
import { asHostError, type HostError } from "../../../core/errors/host_error.ts";
import type { Exit } from "../../../core/ports/ports.ts";
import { hookFolder } from "../../files/hook_evidence.ts";
import { type CommandRunnerOptions, programCageRequest } from "./hook_cage.ts";
import { type CommandEnd, type CommandRun, type RunCommand, START_MS } from "./types.ts";

// The command waits until the host has looked at the cage from outside: a line on stdin lets it go on. A shell reads
// that line byte by byte, and leaves the rest of stdin to the command.
const ENTER = `umask 022; printf '\\n'; IFS= read -r _ || exit 125; cd -- "$1" && exec /bin/bash -c "$2"`;

/** Bytes of stdout a hook may print: a decision is small. */
const MAX_STDOUT_BYTES = 1024 * 1024;
const MAX_STDERR_BYTES = 64 * 1024;

/** Runs the commands of one repository. */
export interface CommandRunner {
  readonly run: RunCommand;
  /** Resolves when no command is running any more. */
  idle(): Promise<void>;
}

/** Returns a runner that cages every command. */
export function cagedRunner(options: CommandRunnerOptions): CommandRunner {
  const running = new Set<Promise<unknown>>();
  return {
    run(run: CommandRun): Promise<CommandEnd> {
      const end = runInCage(run, options);
      const settled = end.catch(() => {}).finally(() => running.delete(settled));
      running.add(settled);
      return end;
    },
    async idle(): Promise<void> {
      while (running.size > 0) await Promise.all(running);
    },
  };
}

/** Runs one command in its cage, from the making of the cage to the end of everything in it. */
async function runInCage(
  { hook, input, sealed, signal, variables, writable = [], texts = {} }: CommandRun,
  options: CommandRunnerOptions,
): Promise<CommandEnd> {
  const { runtime } = options;
  let ended: CommandEnd["ended"] = "exit";
  let caged: CagedProcess | null = null;
  const end = (why: CommandEnd["ended"]): void => {
    if (ended !== "exit") return;
    ended = why;
    void caged?.kill();
  };
  const stdout = outputBuffer(MAX_STDOUT_BYTES, () => end("flood"));
  const stderr = outputBuffer(MAX_STDERR_BYTES);
  const ending = options.signal ? AbortSignal.any([signal, options.signal]) : signal;
  const abort = (): void => end("aborted");
  const timeUp = (): void => end("timeout");
  // Its own time begins when the command does: to build a cage takes longer than some hooks may run.
  let cancelTimeout = runtime.clock.after(hook.timeoutMs + START_MS, timeUp);
  ending.addEventListener("abort", abort, { once: true });
  if (ending.aborted) abort();
  try {
    const enter = ["/bin/bash", "--norc", "--noprofile", "-c", ENTER, "hook", hookFolder(hook, options.dir)];
    const { origin, script, env, root } = hook;
    const program = {
      name: "hook",
      command: [...enter, script],
      env: { ...env, ...variables },
      origin,
      writable,
      ...(origin === "plugin" && { plugin: root }),
    };
    const request = await programCageRequest(program, { files: sealed, texts }, options);
    const listeners = { onStdout: stdout.add, onStdoutEnd: stdout.end, onStderr: stderr.add };
    caged = await CagedProcess.start(request, { runtime, ...listeners });
    if (ended !== "exit") void caged.kill();
    await stdout.first;
    const distrust = await letGo(caged, input);
    cancelTimeout();
    cancelTimeout = runtime.clock.after(hook.timeoutMs, timeUp);
    if (distrust !== null) void caged.kill();
    const { exit, fault } = await caged.ended;
    const failure = distrust ?? fault;
    if (failure !== null && ended === "exit") throw failure;
    // The first byte is the shell's own: it says that the cage stands.
    return { exit: innerExit(exit), ended, stdout: stdout.text().slice(1), stderr: stderr.text() };
  } finally {
    cancelTimeout();
    ending.removeEventListener("abort", abort);
  }
}

/** Looks at the cage from outside, then lets the command begin. Returns why the cage cannot be trusted, or null. */
async function letGo(caged: CagedProcess, input: string): Promise<HostError | null> {
  try {
    await caged.cage.verifyMounts();
    await caged.cage.settle();
  } catch (error) {
    return asHostError(error);
  }
  caged.pipes.write(`\n${input}`);
  caged.pipes.endInput();
  return null;
}

/** Returns an empty buffer; `onExcess` is called once, when more comes than it keeps. */
function outputBuffer(maxBytes: number, onExcess = (): void => {}) {
  const kept = new Uint8Array(maxBytes);
  let size = 0;
  let isOver = false;
  const { promise: first, resolve: begin } = Promise.withResolvers<void>();
  return {
    /** Takes a chunk; bytes beyond the size are dropped. */
    add(chunk: Uint8Array): void {
      if (chunk.length > 0) begin();
      const room = maxBytes - size;
      kept.set(chunk.length > room ? chunk.subarray(0, room) : chunk, size);
      size += Math.min(room, chunk.length);
      if (chunk.length <= room || isOver) return;
      isOver = true;
      onExcess();
    },
    end: begin,
    /** Resolves at the first byte, or at the end without one. */
    first,
    /** Returns the kept bytes as text; those that are no UTF-8 become U+FFFD. */
    text: (): string => new TextDecoder().decode(kept.subarray(0, size)),
  };
}

/** Bubblewrap ends with 128 and the number of the signal that ended the command. */
function innerExit(exit: Exit): Exit {
  const signal = exit.code === null ? undefined : SIGNALS.get(exit.code - 128);
  return signal === undefined ? exit : { code: null, signal };
}

const SIGNALS: ReadonlyMap<number, string> = new Map([
  [1, "SIGHUP"],
  [2, "SIGINT"],
  [3, "SIGQUIT"],
  [4, "SIGILL"],
  [6, "SIGABRT"],
  [8, "SIGFPE"],
  [9, "SIGKILL"],
  [11, "SIGSEGV"],
  [13, "SIGPIPE"],
  [15, "SIGTERM"],
  [31, "SIGSYS"],
]);
