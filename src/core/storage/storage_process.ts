/**
 * One storage process, as the host sees it: it answers one question at a time, and is killed when an answer takes too
 * long or too much memory.
 *
 * @module
 */
import { HostError, messageOf } from "../errors/host_error.ts";
import type { ChildProcess, Runtime } from "../ports/ports.ts";
import { LineReader } from "../wire/read_lines.ts";
import type { StorageLimits } from "./limits.ts";
import { errorFromParts, type StorageAnswer, type StorageQuestion, type StorageSetup } from "./messages.ts";

/** How a storage process is started. */
interface StorageProcessOptions {
  readonly runtime: Runtime;
  /** Path of the program's file, see {@link writeProgram}. */
  readonly program: string;
  readonly cwd: string;
  readonly setup: StorageSetup;
}

/** Far above the largest answer: the process itself caps those. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
const MEMORY_CHECK_MS = 100;
const PAGE_BYTES = 4096;
const STDERR_CHARACTERS = 2_000;

/** A process that runs one question at a time. */
export class StorageProcess {
  readonly #clock: Runtime["clock"];
  readonly #files: Runtime["files"];
  readonly #limits: StorageLimits;
  readonly #child: ChildProcess;
  #settle: ((answer: StorageAnswer | HostError) => void) | null = null;
  #stderr = "";
  #isDead = false;

  private constructor(child: ChildProcess, { runtime, setup }: StorageProcessOptions) {
    this.#child = child;
    this.#clock = runtime.clock;
    this.#files = runtime.files;
    this.#limits = setup.limits;
  }

  /** Starts a process; resolves when it has opened the database. */
  static async start(options: StorageProcessOptions): Promise<StorageProcess> {
    const { runtime, program, cwd, setup } = options;
    let started: StorageProcess | null = null;
    const lines = new LineReader({
      line: (text) => void (started && started.#answered(text)),
      undecodable: (start) => started?.fail(`sent bytes that are no UTF-8: ${start.slice(0, 100)}`),
      oversize: () => started?.fail("sent an answer without end"),
    }, { bytes: runtime.bytes, maxLineBytes: MAX_ANSWER_BYTES });
    const decoder = new TextDecoder();
    const command = { file: runtime.executable, args: [...runtime.scriptArgs.storage, program], env: {}, cwd };
    const child = await runtime.processes.spawn(command, {
      stdout: (chunk) => lines.push(chunk),
      stdoutEnd: () => {},
      stderr: (chunk) => void (started && started.#noteStderr(decoder.decode(chunk, { stream: true }))),
    }).catch((error) => {
      throw new HostError("storage.failed", `Cannot start the storage process: ${messageOf(error)}`, { cause: error });
    });
    const ready = started = new StorageProcess(child, options);
    child.exited.then(({ code, signal }) => ready.#ended(signal ?? `code ${code}`));
    await ready.ask(setup, Infinity);
    return ready;
  }

  /** Whether it has ended, or is being ended. */
  get isDead(): boolean {
    return this.#isDead;
  }

  /** Lets it end by itself, or ends it when it is busy. */
  async close(): Promise<void> {
    if (this.#settle) this.#kill(new HostError("storage.failed", "The storage was closed"));
    this.#isDead = true;
    this.#child.endInput();
    await this.#child.exited;
    this.#child.release();
  }

  /** Kills it, because it broke the protocol between host and process. */
  fail(reason: string): void {
    this.#kill(new HostError("storage.failed", `The storage process ${reason}`));
  }

  /** Asks one question. The process is gone after `storage.timeout` and `storage.out_of_memory`. */
  async ask(question: StorageQuestion | StorageSetup, deadlineMs: number): Promise<unknown> {
    const answer = await new Promise<StorageAnswer | HostError>((resolve) => {
      if (this.#isDead) return resolve(new HostError("storage.failed", "The storage process has ended"));
      const stopWatching = this.#watchMemory();
      const stopTimer = deadlineMs === Infinity ? () => {} : this.#clock.after(deadlineMs, () =>
        this.#kill(
          new HostError("storage.timeout", `The statement was stopped after ${deadlineMs} ms`, {
            data: { deadline_ms: deadlineMs },
          }),
        ));
      this.#settle = (settled) => {
        this.#settle = null;
        stopTimer();
        stopWatching();
        resolve(settled);
      };
      this.#child.write(`${JSON.stringify(question)}\n`);
    });
    if (answer instanceof HostError) {
      // The database stays locked until the process is really gone.
      if (this.#isDead) await this.#child.exited;
      throw answer;
    }
    if ("error" in answer) throw errorFromParts(answer.error);
    return answer.ok;
  }

  #answered(text: string): void {
    if (!this.#settle) return this.fail("answered without a question");
    try {
      this.#settle(JSON.parse(text) as StorageAnswer);
    } catch {
      this.fail("sent an answer that is no JSON");
    }
  }

  #ended(how: string): void {
    this.#isDead = true;
    const said = this.#stderr.trim().split("\n").at(-1) ?? "";
    this.#settle?.(
      /out of memory/i.test(this.#stderr)
        ? new HostError("storage.out_of_memory", "The statement needs more memory than it may take")
        : new HostError("storage.failed", `The storage process ended (${how})`, { data: { stderr: said } }),
    );
  }

  #kill(reason: HostError): void {
    this.#isDead = true;
    this.#child.kill("SIGKILL");
    this.#settle?.(reason);
  }

  /** Checks the process's memory every 100 ms, where the system has /proc. */
  #watchMemory(): () => void {
    const { maxMemoryBytes } = this.#limits;
    let cancel = (): void => {};
    let isOver = false;
    const look = async (): Promise<void> => {
      const statm = await this.#files.readText(`/proc/${this.#child.pid}/statm`).catch(() => null);
      if (isOver || statm === null) return;
      if (Number(statm.split(" ")[1]) * PAGE_BYTES > maxMemoryBytes) {
        const message = `The statement was stopped: it took more than ${maxMemoryBytes} bytes of memory`;
        return this.#kill(new HostError("storage.out_of_memory", message, { hint: "Use LIMIT, or sort less at once" }));
      }
      cancel = this.#clock.after(MEMORY_CHECK_MS, look);
    };
    cancel = this.#clock.after(MEMORY_CHECK_MS, look);
    return () => {
      isOver = true;
      cancel();
    };
  }

  #noteStderr(text: string): void {
    this.#stderr = (this.#stderr + text).slice(-STDERR_CHARACTERS);
  }
}

/** Writes the program into `<home>/run/`, unless it is there already; returns its path. */
export async function writeProgram({ databases, files, ids }: Runtime, home: string): Promise<string> {
  const text = await databases.storageProgram();
  const dir = `${home}/run`;
  await files.makeDir(dir, { recursive: true, mode: 0o700 });
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  const hash = Array.from(new Uint8Array(digest).subarray(0, 8), (byte) => byte.toString(16).padStart(2, "0")).join("");
  const path = `${dir}/storage-${hash}.mjs`;
  if (await files.readText(path).catch(() => null) === text) return path;
  // Another host may be doing the same: the file appears whole.
  const draft = `${dir}/${ids.create("storage")}.tmp`;
  await files.write(draft, text);
  await files.rename(draft, path);
  return path;
}
