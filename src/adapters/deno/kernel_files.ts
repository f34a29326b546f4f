/**
 * The kernel's files on a Deno with fewer permissions than all: Deno refuses `/proc` and `/sys` then, whatever
 * `--allow-read` says. The host needs them to check each cage from outside, so it asks a helper process, which it may
 * start by `--allow-run`. With `-A` there is no helper.
 *
 * @module
 */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import process from "node:process";
import { createInterface } from "node:readline";
import type { Files } from "../../core/ports/ports.ts";
import {
  isKernelPath,
  KERNEL_OPERATIONS,
  type KernelAnswer,
  type KernelOperation,
  type KernelQuestion,
} from "./kernel_operations.ts";

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

/** The helper process, started with the first question and kept; it holds the host up only while it is asked. */
class KernelHelper {
  readonly #args: readonly string[];
  readonly #waiting = new Map<number, Waiting>();
  #child: Promise<ChildProcessWithoutNullStreams> | null = null;
  #lastId = 0;

  constructor(args: readonly string[]) {
    this.#args = args;
  }

  async ask(op: KernelOperation, args: KernelQuestion["args"]): Promise<unknown> {
    const child = await (this.#child ??= this.#start());
    const id = ++this.#lastId;
    const question: KernelQuestion = { id, op, args };
    return await new Promise((resolve, reject) => {
      if (this.#waiting.size === 0) hold(child, true);
      this.#waiting.set(id, { resolve, reject });
      child.stdin.write(`${JSON.stringify(question)}\n`);
    });
  }

  async #start(): Promise<ChildProcessWithoutNullStreams> {
    const { KERNEL_FILES_PROGRAM } = await import("../generated/kernel_files_program.ts");
    const program = `data:text/javascript;base64,${btoa(KERNEL_FILES_PROGRAM)}`;
    const child = spawn(process.execPath, [...this.#args, program], { env: {}, cwd: "/", detached: true });
    child.on("error", () => this.#end());
    child.on("exit", () => this.#end());
    child.stdin.on("error", () => {}); // A helper that has ended is reported by its exit.
    child.stderr.resume();
    createInterface({ input: child.stdout }).on("line", (line) => this.#take(JSON.parse(line) as KernelAnswer, child));
    return child;
  }

  #take({ id, ok, error }: KernelAnswer, child: ChildProcessWithoutNullStreams): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (this.#waiting.size === 0) hold(child, false);
    if (error) waiting?.reject(Object.assign(new Error(error.message), { code: error.code }));
    else waiting?.resolve(ok);
  }

  /** Fails the questions that are open; the next one starts another helper. */
  #end(): void {
    this.#child = null;
    const lost = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { reject } of lost) reject(new Error("The helper that reads /proc has ended"));
  }
}

/** Makes a helper keep the host alive, or not. */
function hold(child: ChildProcessWithoutNullStreams, isHeld: boolean): void {
  const parts = [child, child.stdin, child.stdout, child.stderr] as unknown as { ref?(): void; unref?(): void }[];
  for (const part of parts) isHeld ? part.ref?.() : part.unref?.();
}
