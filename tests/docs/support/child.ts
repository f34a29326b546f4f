/**
 * A command of a guide as a process group of its own, which cannot outlive the test.
 *
 * @module
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";

/** How long a command may take, and how long we wait for what it is to print. */
const LIMIT_MS = 90_000;

/** How a command or program ended. */
export interface Ran {
  readonly code: number | null;
  /** Stdout and stderr as a terminal shows them. */
  readonly output: string;
}

/** A command that runs. */
export interface Child {
  /** Its output so far. */
  output(): string;
  /** Resolves with all the output once it has printed `text` past the first `from` characters; rejects when it ends before. */
  printed(text: string, from?: number): Promise<string>;
  /** Signals it and all it has started. */
  signal(name: "SIGINT" | "SIGKILL"): void;
  readonly ended: Promise<Ran>;
}

/** Starts a command, which is killed when its time is over. */
export function startChild(
  command: string,
  args: readonly string[],
  { cwd, env, limitMs = LIMIT_MS }: {
    readonly cwd: string;
    readonly env: Record<string, string>;
    readonly limitMs?: number;
  },
): Child {
  const child = spawn(command, args, { cwd, env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  const signal = (name: "SIGINT" | "SIGKILL"): void => {
    try {
      process.kill(-child.pid!, name); // Its whole group: bash and what it runs.
    } catch { /* It has ended. */ }
  };
  let output = "";
  const waiting = new Set<() => void>();
  const decoders = [new TextDecoder(), new TextDecoder()];
  [child.stdout, child.stderr].forEach((stream, n) =>
    stream.on("data", (chunk: Uint8Array) => {
      output += decoders[n]!.decode(chunk, { stream: true });
      for (const look of waiting) look();
    })
  );
  const limit = setTimeout(() => {
    output += `\n(stopped: it did not end within ${limitMs / 1000} s)`;
    signal("SIGKILL");
  }, limitMs);
  const ended = once(child, "close").then(([code]) => {
    clearTimeout(limit);
    return { code: code as number | null, output };
  });
  return {
    output: () => output,
    signal,
    ended,
    printed: (text, from = 0) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (output.indexOf(text, from) < 0) return;
          waiting.delete(look);
          resolve(output);
        };
        waiting.add(look);
        look();
        void ended.then(() => reject(new Error(`It has ended and never printed ${text}:\n${output}`)));
      }),
  };
}
