/**
 * Runs the commands of hooks, each in a cage of its own: the project's folder, a private `/tmp`, the system's programs
 * read-only, no network. More only by the operator's settings. There is no way to run one outside.
 *
 * @module
 */
import type { Cage } from "../../../core/cage/cage.ts";
import { killCage } from "../../../core/cage/kill_cage.ts";
import { openCage } from "../../../core/cage/open_cage.ts";
import { asHostError, type HostError } from "../../../core/errors/host_error.ts";
import type { ChildProcess, Exit, Runtime } from "../../../core/ports/ports.ts";
import { type CommandRunnerOptions, hookCageRequest, layGround } from "./hook_cage.ts";
import { outputBuffer } from "./output_buffer.ts";
import type { CommandEnd, CommandRun, RunCommand } from "./types.ts";

/** Bytes of stdout a hook may print: a decision is small. */
export const MAX_STDOUT_BYTES: number = 1024 * 1024;
const MAX_STDERR_BYTES = 64 * 1024;
/** How long pipes may outlive their process. */
const PIPE_GRACE_MS = 1_000;

/** Runs commands. */
export interface CommandRunner {
  /** Runs one. */
  readonly run: RunCommand;
  /** Resolves when none is running any more. */
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

async function runInCage(run: CommandRun, options: CommandRunnerOptions): Promise<CommandEnd> {
  const { runtime } = options;
  const startedMs = runtime.clock.monotonic();
  const ground = await layGround(run, options);
  try {
    const cage = await openCage(hookCageRequest(run.hook, ground.overlays, options), runtime);
    const leftMs = run.hook.timeoutMs - (runtime.clock.monotonic() - startedMs);
    const signal = options.signal ? AbortSignal.any([run.signal, options.signal]) : run.signal;
    return await runIn(cage, { ...run, signal }, { runtime, leftMs });
  } finally {
    await ground.clear();
  }
}

/** One command in its cage, from spawn to the end of everything in it. */
async function runIn(
  cage: Cage,
  { input, signal }: CommandRun,
  { runtime, leftMs }: { readonly runtime: Runtime; readonly leftMs: number },
): Promise<CommandEnd> {
  const state: { ended: CommandEnd["ended"]; child: ChildProcess | null } = { ended: "exit", child: null };
  const end = (why: CommandEnd["ended"]): void => {
    if (state.ended !== "exit") return;
    state.ended = why;
    if (state.child !== null) void killCage(state.child, runtime);
  };
  const stdout = outputBuffer(MAX_STDOUT_BYTES, () => end("flood"));
  const stderr = outputBuffer(MAX_STDERR_BYTES);
  const abort = (): void => end("aborted");
  const cancelTimeout = runtime.clock.after(Math.max(0, leftMs), () => end("timeout"));
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  try {
    const listeners = { stdout: stdout.add, stdoutEnd: stdout.end, stderr: stderr.add };
    const child = await runtime.processes.spawn(cage.command, listeners);
    state.child = child;
    cage.watch();
    if (state.ended !== "exit") void killCage(child, runtime);
    await stdout.first;
    const distrust = await letGo(cage, child, input);
    if (distrust !== null) void killCage(child, runtime);
    const exit = await exitOf(child, runtime);
    const failure = distrust ?? await cage.diagnose(exit, linesOf(stderr.text()));
    if (failure !== null && state.ended === "exit") throw failure;
    // The first byte is the shell's own: it says that the cage stands.
    return { exit: innerExit(exit), ended: state.ended, stdout: stdout.text().slice(1), stderr: stderr.text() };
  } finally {
    cancelTimeout();
    signal.removeEventListener("abort", abort);
    await cage.close();
  }
}

/** Looks at the cage from outside, then lets the command begin. Returns why the cage cannot be trusted, or null. */
async function letGo(cage: Cage, child: ChildProcess, input: string): Promise<HostError | null> {
  try {
    await cage.verifyMounts();
    await cage.settle();
  } catch (error) {
    return asHostError(error);
  }
  child.write(`\n${input}`);
  child.endInput();
  return null;
}

const linesOf = (text: string): string[] => text.split("\n").filter((line) => line !== "");

async function exitOf(child: ChildProcess, { clock }: Runtime): Promise<Exit> {
  const exit = await child.exited;
  const cancel = clock.after(PIPE_GRACE_MS, () => child.release());
  await child.closed;
  cancel();
  return exit;
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
