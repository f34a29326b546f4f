/**
 * The kernel's files on a Deno with fewer permissions than all: Deno refuses `/proc` and `/sys` then, whatever
 * `--allow-read` says. The host needs them to check each cage from outside, so it asks a helper process, which it may
 * start by `--allow-run`. With `-A` there is no helper.
 *
 * @module
 */
import process from "node:process";
import type { ChildProcess, Files } from "../../core/ports/ports.ts";
import { clock } from "./clock.ts";
import {
  isKernelPath,
  KERNEL_OPERATIONS,
  type KernelAnswer,
  type KernelOperation,
  type KernelQuestion,
} from "./kernel_operations.ts";
import { processes } from "./processes.ts";

/** Returns `files`, with the kernel's asked of a helper as soon as Deno has refused one; `args` run a script. */
export function kernelFiles(files: Files, args: readonly string[]): Files {
  const helper = new KernelHelper(args);
  let isRefused = false;
  const asked = (op: KernelOperation): Files[KernelOperation] => {
    const direct = files[op] as (path: string, ...rest: unknown[]) => Promise<unknown>;
    const ask = async (path: string, ...rest: unknown[]): Promise<unknown> => {
      if (!isKernelPath(path)) return await direct(path, ...rest);
      try {
        if (!isRefused) return await direct(path, ...rest);
      } catch (error) {
        if ((error as Error).name !== "NotCapable") throw error;
        isRefused = true;
      }
      if (op === "readLink" && path === "/proc/self") return String(process.pid);
      return await helper.ask(op, [path.replace(/^\/proc\/self(?=\/|$)/, `/proc/${process.pid}`), ...rest]);
    };
    return ask as Files[KernelOperation];
  };
  return { ...files, ...Object.fromEntries(KERNEL_OPERATIONS.map((op) => [op, asked(op)])) };
}

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** A helper that nobody asks for so long ends: it would keep the program around the host alive. */
const IDLE_MS = 500;

/** The helper process, started with a question and kept while more come. */
class KernelHelper {
  readonly #args: readonly string[];
  readonly #waiting = new Map<number, Waiting>();
  #child: Promise<ChildProcess> | null = null;
  #cancelEnd: () => void = () => {};
  #lastId = 0;

  constructor(args: readonly string[]) {
    this.#args = args;
  }

  async ask(op: KernelOperation, args: KernelQuestion["args"]): Promise<unknown> {
    this.#cancelEnd();
    const id = ++this.#lastId;
    const answer = new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
    const starting = this.#child ??= this.#start();
    const question: KernelQuestion = { id, op, args };
    starting.then((child) => child.write(`${JSON.stringify(question)}\n`), (error) => this.#lose(starting, error));
    return await answer;
  }

  async #start(): Promise<ChildProcess> {
    const { KERNEL_FILES_PROGRAM } = await import("../generated/kernel_files_program.ts");
    const program = `data:text/javascript;base64,${btoa(KERNEL_FILES_PROGRAM)}`;
    const command = { file: process.execPath, args: [...this.#args, program], env: {}, cwd: "/" };
    const decoder = new TextDecoder();
    let text = "";
    const child = await processes.spawn(command, {
      stdout: (chunk) => {
        const lines = (text + decoder.decode(chunk, { stream: true })).split("\n");
        text = lines.pop()!;
        for (const line of lines) this.#take(JSON.parse(line) as KernelAnswer);
      },
      stdoutEnd: () => {},
      stderr: () => {},
    });
    const starting = this.#child;
    void child.exited.then(() => this.#lose(starting, new Error("The helper that reads /proc has ended")));
    return child;
  }

  #take({ id, ok, error }: KernelAnswer): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error) waiting?.reject(Object.assign(new Error(error.message), { code: error.code }));
    else waiting?.resolve(ok);
    if (this.#waiting.size === 0) this.#cancelEnd = clock.after(IDLE_MS, () => this.#end());
  }

  /** Ends a helper that nobody waits for; the next question starts another. */
  #end(): void {
    const ending = this.#child;
    this.#child = null;
    void ending?.then((child) => child.endInput());
  }

  /** Fails the questions to a helper that has ended by itself, or could not be started. */
  #lose(lost: Promise<ChildProcess> | null, error: Error): void {
    if (this.#child !== lost || lost === null) return;
    this.#child = null;
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { reject } of waiting) reject(error);
  }
}
