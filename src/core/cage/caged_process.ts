/**
 * The one way a caged program is run: its cage is opened, the program started, its pipes drained after its end, that
 * end explained, and everything the cage left on the host removed. Plugins, commands and MCP servers of hooks, checks
 * and replays all come through here.
 *
 * @module
 */
import { asHostError, HostError, messageOf } from "../errors/host_error.ts";
import type { ChildProcess, Exit, ProcessListeners, Runtime } from "../ports/ports.ts";
import type { Cage, CageRequest } from "./cage.ts";
import { childrenOf, isGoneOr } from "./end_leftovers.ts";
import { openCage } from "./open_cage.ts";
import { type StderrTail, stderrTail } from "./stderr_tail.ts";

/** Time between SIGTERM and SIGKILL. */
const TERM_GRACE_MS = 2_000;
/** Time the pipes may outlive their process: a daemon that left the cage's session can hold them open for ever. */
const PIPE_GRACE_MS = 1_000;
/** Looks at the launcher before giving up on seeing it stopped. */
const MAX_LOOKS = 200;

/** The reading of stderr, which can be stopped. */
type Flow = Pick<ChildProcess, "pause" | "resume">;

/** Listeners of one caged program; each is optional but for its output. */
export interface CagedProcessOptions {
  readonly runtime: Runtime;
  readonly onStdout: (chunk: Uint8Array) => void;
  /** Bubblewrap holds stdout as long as the cage stands, so this says no more than the exit does. */
  readonly onStdoutEnd?: () => void;
  readonly onStderr?: (chunk: Uint8Array) => void;
  /** Returns the function that gets the chunks of stderr in place of `take`, which it hands them on to. */
  readonly pace?: (take: (chunk: Uint8Array) => void, flow: () => Flow) => (chunk: Uint8Array) => void;
  /** Receives stderr line by line, each line capped. */
  readonly onLog?: (line: string) => void;
  /** Called when stdin takes bytes again. */
  readonly onDrain?: () => void;
  /** Called when the process itself has ended, before its output is drained. */
  readonly onExit?: () => void;
  /** Called once the cage stands and before anything runs in it; throwing here ends the start. */
  readonly beforeSpawn?: () => void;
}

/** How a caged program ended. */
export interface CagedEnd {
  readonly exit: Exit;
  /** The failure of the cage, or the limit the program went over, when that has ended it; null otherwise. */
  readonly fault: HostError | null;
  /** The newest lines of stderr, oldest first. */
  readonly stderr: readonly string[];
}

/** A program that runs in its cage. */
export class CagedProcess {
  /** Process id of the launcher. */
  readonly pid: number;
  /** Its stdin, dropped once the program has ended, and the flow of its stdout. */
  readonly pipes: Pick<ChildProcess, "write" | "bufferedBytes" | "pause" | "resume" | "endInput">;
  /** Verify it when the program has shown a sign of life, and before the program gets anything confidential. */
  readonly cage: Cage;
  /** Resolves when the program has ended, its output has been read and its end explained; the cage may still stand. */
  readonly exited: Promise<CagedEnd>;
  /** As {@link exited}, once the cage is gone with all its processes and files. */
  readonly ended: Promise<CagedEnd>;
  readonly #child: ChildProcess;
  readonly #runtime: Runtime;
  readonly #stderr: StderrTail;
  #hasEnded = false;
  #cancelKill: () => void = () => {};

  /**
   * Opens a cage and starts the program in it. Rejects with `cage.*`, `capability.*` or what `beforeSpawn` threw; no
   * cage is left then.
   */
  static async start(request: CageRequest, options: CagedProcessOptions): Promise<CagedProcess> {
    const { runtime, onStdout, onStdoutEnd = () => {}, onStderr, onLog, onDrain, beforeSpawn } = options;
    const { pace = (take) => take } = options;
    const cage = await openCage(request, runtime, { mayWait: true });
    const stderr = stderrTail(onLog);
    const flow = (): Flow => ({ pause: () => child.pause("stderr"), resume: () => child.resume("stderr") });
    const keep = pace(stderr.receive, flow);
    let child: ChildProcess;
    try {
      beforeSpawn?.();
      const listeners: ProcessListeners = {
        stdout: onStdout,
        stdoutEnd: onStdoutEnd,
        stderr(chunk) {
          onStderr?.(chunk);
          keep(chunk);
        },
        ...(onDrain && { drain: onDrain }),
      };
      child = cage.waiting?.start(listeners) ??
        await runtime.processes.spawn(cage.command, listeners).catch((cause) => {
          throw new HostError("cage.spawn_failed", `Cannot start "${cage.command.file}": ${messageOf(cause)}`, {
            cause,
            hint: "Run kaged doctor",
          });
        });
      return new CagedProcess(cage, child, stderr, options);
    } catch (error) {
      await cage.close();
      throw error;
    }
  }

  private constructor(cage: Cage, child: ChildProcess, stderr: StderrTail, options: CagedProcessOptions) {
    this.pid = child.pid;
    this.pipes = child;
    this.cage = cage;
    this.#child = child;
    this.#runtime = options.runtime;
    this.#stderr = stderr;
    cage.watch();
    this.exited = this.#finish(options.onExit);
    this.ended = this.exited.then(async (end) => {
      await cage.close();
      return end;
    });
  }

  /** The newest lines of stderr so far, oldest first. */
  stderr(): readonly string[] {
    return this.#stderr.lines();
  }

  /**
   * Sends SIGTERM and closes stdin, and calls `kill` where the program has not ended after 2 s. Returns false when the
   * signal reached nobody: `kill` was called at once then.
   */
  async terminate(kill: () => void = () => void this.kill()): Promise<boolean> {
    if (this.#hasEnded) return false;
    this.#cancelKill();
    this.#cancelKill = this.#runtime.clock.after(TERM_GRACE_MS, kill);
    // The group inside, not bubblewrap: that one would take the program with it before its handler has run. No such
    // group yet means no program yet.
    const pid = await this.cage.childPid();
    const isSent = pid !== null && this.#runtime.processes.signal(-pid, "SIGTERM");
    if (isSent) this.pipes.endInput();
    else kill();
    return isSent;
  }

  /**
   * Kills the launcher and the first process inside the cage, and with that one all others. Killing bubblewrap alone
   * would leave its child behind when it dies before that child has asked to die with it. Resolves with the end.
   */
  async kill(): Promise<CagedEnd> {
    const { files, processes } = this.#runtime;
    const { pid } = this;
    this.#child.kill("SIGSTOP"); // Stopped, it makes no more children.
    for (let look = 0; look < MAX_LOOKS && !await isGoneOr("TtZX", pid, files); look++);
    for (const inner of await childrenOf(pid, files)) processes.signal(inner, "SIGKILL");
    this.#child.kill("SIGKILL");
    return await this.ended;
  }

  async #finish(onExit: () => void = () => {}): Promise<CagedEnd> {
    const exit = await this.#child.exited;
    onExit();
    const cancelRelease = this.#runtime.clock.after(PIPE_GRACE_MS, () => this.#child.release());
    await this.#child.closed;
    cancelRelease();
    this.#hasEnded = true;
    this.#cancelKill();
    this.#stderr.end();
    const lines = this.stderr();
    return { exit, fault: await this.cage.diagnose(exit, lines).catch(asHostError), stderr: lines };
  }
}
