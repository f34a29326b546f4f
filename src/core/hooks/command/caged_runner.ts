/**
 * Runs the commands of hooks, each in a cage of its own: the project's folder, a private `/tmp`, the system's programs
 * read-only, no network. More only by the operator's settings. There is no way to run one outside.
 *
 * @module
 */
import type { Cage, CageOverlay, CageRequest, OpenCage } from "../../cage/cage.ts";
import { PROGRAMS_DIR } from "../../cage/compile_cage.ts";
import { killCage } from "../../cage/kill_cage.ts";
import type { CageLimits } from "../../cage/limits/cage_limits.ts";
import { openCage } from "../../cage/open_cage.ts";
import { asHostError, HostError } from "../../errors.ts";
import type { Manifest } from "../../manifest/manifest.ts";
import type { ChildProcess, Exit, Runtime } from "../../ports.ts";
import type { HookSettings } from "../../project/hook_settings.ts";
import { folderVariables, hookFolder } from "../files/hook_evidence.ts";
import type { LoadedHook } from "../files/load_hook_files.ts";
import { outputBuffer } from "./output_buffer.ts";
import type { CommandEnd, CommandRun, RunCommand } from "./types.ts";

/** Bytes of stdout a hook may print: a decision is small. */
export const MAX_STDOUT_BYTES: number = 1024 * 1024;
const MAX_STDERR_BYTES = 64 * 1024;
/** How long pipes may outlive their process. */
const PIPE_GRACE_MS = 1_000;
/** Stands in for the plugin's folder: every cage shows it anyway. */
const NO_FOLDER = "/usr/share";

// The command waits until the host has looked at the cage from outside: a line on stdin lets it go on. A shell reads
// that line byte by byte, and leaves the rest of stdin to the command.
const ENTER = `umask 022; printf '\\n'; IFS= read -r _ || exit 125; cd -- "$1" && exec /bin/bash -c "$2"`;

/** What a runner stands on. */
export interface CommandRunnerOptions {
  /** The runtime. */
  readonly runtime: Runtime;
  /** The operator's folder. */
  readonly home: string;
  /** The repository's folder, links resolved. */
  readonly dir: string;
  /** What the operator lets hooks do. */
  readonly settings: HookSettings;
  /** Interpreters the operator named. */
  readonly runtimes?: Readonly<Record<string, string>>;
  /** What a command may use. */
  readonly limits?: CageLimits;
  /** Home of the operator, for hooks of their own; null when there is none. */
  readonly userHome?: string | null;
  /** Builds cages. Default: bubblewrap's. */
  readonly openCage?: OpenCage;
}

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
      const end = runCaged(run, options);
      const settled = end.catch(() => {}).finally(() => running.delete(settled));
      running.add(settled);
      return end;
    },
    async idle(): Promise<void> {
      while (running.size > 0) await Promise.all(running);
    },
  };
}

async function runCaged(run: CommandRun, options: CommandRunnerOptions): Promise<CommandEnd> {
  const { runtime } = options;
  const startedMs = runtime.clock.monotonic();
  const copies = await writeCopies(run, options);
  try {
    const cage = await (options.openCage ?? openCage)(cageRequest(run.hook, copies.overlays, options), runtime);
    const leftMs = run.hook.timeoutMs - (runtime.clock.monotonic() - startedMs);
    return await runIn(cage, run, { runtime, leftMs });
  } finally {
    if (copies.dir !== null) await runtime.files.remove(copies.dir);
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

/** What a hook's cage is built from: a manifest of its own making, by the operator's settings alone. */
function cageRequest(hook: LoadedHook, overlays: readonly CageOverlay[], options: CommandRunnerOptions): CageRequest {
  const { home, dir, settings, runtimes = {}, limits, userHome = null, runtime } = options;
  const isOwn = hook.origin === "user" && userHome !== null;
  const handed = settings.env.flatMap((name): [string, string][] => {
    const value = runtime.env(name);
    return value === null ? [] : [[name, value]];
  });
  const manifest: Manifest = {
    name: "hook",
    version: "1.0.0",
    kaged_api: 1,
    description: "A hook of a file",
    command: ["/bin/bash", "--norc", "--noprofile", "-c", ENTER, "hook", hookFolder(hook, dir), hook.script],
    env: {
      ...folderVariables(dir),
      HOME: isOwn ? userHome : "/tmp",
      PATH: `${PROGRAMS_DIR}:/usr/local/bin:/usr/bin:/bin`,
      ...Object.fromEntries(handed),
      ...hook.env,
    },
    capabilities: [
      "write:fs:project:/",
      ...settings.readable.map((path) => `read:fs:${path}`),
      ...settings.writable.map((path) => `write:fs:${path}`),
      ...settings.network.map((host) => `net:${host}`),
      ...(isOwn ? [`read:fs:${userHome}/.copilot/hooks`] : []),
    ],
    roles: [],
    hooks: [],
    tools: [],
    methods: [],
    notifications: [],
    knobs: {},
    shutdown_timeout_sec: 5,
    health_interval_sec: 30,
    hook_timeout_sec: 10,
  };
  const places = { installDir: NO_FOLDER, home, projectDir: dir };
  return {
    manifest,
    places,
    logLevel: "info",
    runtimes,
    ...(limits !== undefined && { limits }),
    systemPrograms: true,
    overlays,
  };
}

/** Writes the checked bytes where only the host can change them, to be shown in place of the files themselves. */
async function writeCopies(
  { sealed }: CommandRun,
  { home, dir, settings, runtime: { files } }: CommandRunnerOptions,
): Promise<{ readonly dir: string | null; readonly overlays: readonly CageOverlay[] }> {
  const git = await files.info(`${dir}/.git`);
  const isGit = git !== null && git.kind !== "symlink" && !settings.git_writable;
  const overlays: CageOverlay[] = isGit ? [{ source: `${dir}/.git`, dest: `${dir}/.git` }] : [];
  if (sealed.length === 0) return { dir: null, overlays };
  await files.makeDir(`${home}/run`, { recursive: true, mode: 0o700 });
  const folder = await files.makeTempDir(`${home}/run/hook-`);
  try {
    for (const [index, { path, bytes, executable }] of sealed.entries()) {
      const source = `${folder}/${index}`;
      await files.write(source, bytes, executable ? 0o700 : 0o600);
      overlays.push({ source, dest: `${dir}/${path}` });
    }
    return { dir: folder, overlays };
  } catch (error) {
    await files.remove(folder);
    throw new HostError("hooks.command_failed", "Cannot keep a copy of the checked scripts", { cause: error });
  }
}
