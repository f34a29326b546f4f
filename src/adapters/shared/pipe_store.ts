/**
 * Pipes for the standard streams of processes. Node and Bun give a process sockets, and a socket cannot be opened by name:
 * `cat /dev/stdin` fails with them. Neither runtime can make a pipe, but a shell can, and whoever may look into /proc
 * opens the shell's pipes there. One shell makes those of several starts, and ends before the first of them.
 *
 * @module
 */
import { spawn } from "node:child_process";
import { closeSync, constants, openSync } from "node:fs";

/** The pipes of a process's stdin, stdout and stderr: the descriptor of the reading end of each, which does not block. */
export type PipeSet = readonly [stdin: number, stdout: number, stderr: number];

const PIPES = 3;
/** Sets of one shell, unless more starts wait: one that no start took yet costs the host a descriptor for each pipe. */
const SETS = 4;
const MAX_SETS = 12;
const SHELLS = ["/bin/bash", "/usr/bin/bash"];
const { O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;

// A text for a command is a pipe since bash 5.1. An older bash writes a file, so there a command's output has to do.
const script = (count: number): string => `
for ((i = 0; i < ${count}; i++)); do
  exec {fd}<<<'' || break
  [[ -p /dev/fd/$fd ]] || exec {fd}< <(:)
  read -r _ <&$fd
  echo -n "$fd "
done
echo
read -r _
`;

/** Hands out pipes: three for each start, or null where none can be made. */
export type TakePipes = () => Promise<PipeSet | null>;

/**
 * Returns a store of pipes. It rejects where the system has no descriptor left, and returns null where there is no shell
 * or where this process may not look into it.
 */
export function pipeStore(): TakePipes {
  const sets: PipeSet[] = [];
  let waiting = 0;
  let making: Promise<boolean> | null = null;
  const fill = async (): Promise<boolean> => {
    await null; // Starts of the same tick are counted first.
    const fds = await makePipes(PIPES * Math.min(MAX_SETS, Math.max(SETS, waiting)));
    for (let at = 0; at < fds.length; at += PIPES) sets.push([fds[at]!, fds[at + 1]!, fds[at + 2]!]);
    return fds.length > 0;
  };
  return async () => {
    waiting++;
    try {
      for (;;) {
        const set = sets.pop();
        if (set) return set;
        making ??= fill().finally(() => making = null);
        if (!await making) return null;
      }
    } finally {
      waiting--;
    }
  };
}

/** Returns the reading ends of new pipes; none where they cannot be made. */
async function makePipes(count: number): Promise<number[]> {
  for (const shell of SHELLS) {
    const opened = await pipesOf(shell, count);
    if (opened !== null) return opened;
  }
  return [];
}

async function pipesOf(shell: string, count: number): Promise<number[] | null> {
  const args = ["--norc", "--noprofile", "-c", script(count)];
  const child = spawn(shell, args, { env: {}, cwd: "/", stdio: ["pipe", "pipe", "ignore"], detached: true });
  const line = await new Promise<string | null>((resolve, reject) => {
    let text = "";
    child.once("error", (error: { code?: string }) => isExhausted(error) ? reject(error) : resolve(null));
    child.once("exit", () => resolve(null));
    child.stdin?.on("error", ignore);
    child.stdout?.on("data", (chunk) => (text += chunk).endsWith("\n") && resolve(text));
  });
  if (line === null) return null;
  try {
    return openAll(line.trim().split(" ").map((fd) => `/proc/${child.pid}/fd/${fd}`));
  } finally {
    child.stdin.end();
  }
}

function openAll(paths: readonly string[]): number[] {
  const fds: number[] = [];
  try {
    for (const path of paths) fds.push(openSync(path, O_RDONLY | O_NONBLOCK));
    return fds;
  } catch (error) {
    // To start a process on a set takes as many descriptors again, and some of those stay.
    const kept = isExhausted(error) ? Math.floor(fds.length / PIPES / 3) * PIPES : 0;
    fds.splice(kept).forEach((fd) => closeSync(fd));
    if (kept === 0 && isExhausted(error)) throw error;
    return fds;
  }
}

const isExhausted = (error: unknown): boolean => ["EMFILE", "ENFILE"].includes((error as { code?: string }).code ?? "");

function ignore(): void {}

/** The ends of one set: those that the process gets, which block, and those that the host keeps, which do not. */
export interface SplitPipes {
  readonly child: readonly [stdin: number, stdout: number, stderr: number];
  readonly host: readonly [stdin: number, stdout: number, stderr: number];
}

/** Splits a set into its ends. Throws the system's error, with the set closed, where no descriptor is left. */
export function splitPipes([stdin, stdout, stderr]: PipeSet): SplitPipes {
  const opened: number[] = [];
  const again = (fd: number, flags: number): number => {
    const other = openSync(`/proc/self/fd/${fd}`, flags);
    opened.push(other);
    return other;
  };
  try {
    // The writing end comes first: to open a pipe that nobody writes to would wait for a writer.
    const input = again(stdin, O_WRONLY | O_NONBLOCK);
    const child = [again(stdin, O_RDONLY), again(stdout, O_WRONLY), again(stderr, O_WRONLY)] as const;
    closeSync(stdin);
    return { child, host: [input, stdout, stderr] };
  } catch (error) {
    for (const fd of [...opened, stdin, stdout, stderr]) closeSync(fd);
    throw error;
  }
}
