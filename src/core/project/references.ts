/**
 * Values of local.toml that stand elsewhere: `${NAME}` in the environment, `file:/path` in a file, `cmd:…` in what a
 * command prints. Failures name the reference and never what it led to.
 *
 * @module
 */
import { messageOf } from "../errors/host_error.ts";
import type { Runtime } from "../ports/ports.ts";
import { fillVariables, type MissingVariable } from "./variables.ts";

/** A value that is kept in a file, or printed by a command of the shell. */
export type Reference =
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "cmd"; readonly command: string };

/** Returns the value behind a reference; rejects with a text for people that holds no part of the value. */
export type ReadReference = (reference: Reference) => Promise<string>;

/** Sources of values. */
export interface ValueSources {
  /** A variable of the host's environment, or null. */
  readonly env: (name: string) => string | null;
  /** Absent where files and commands cannot be read: such a reference fails then. */
  readonly read?: ReadReference;
}

/** A reference that led to no value. */
export interface FailedReference {
  /** Keys and indexes that lead to the value that holds the reference. */
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** Values with every reference in them followed. */
export interface FilledValues {
  readonly value: unknown;
  readonly missing: readonly MissingVariable[];
  readonly failed: readonly FailedReference[];
}

/** Longest that a command may take: a password store may ask its owner first. */
const COMMAND_MS = 60_000;
/** Most bytes that a file or a command may give. */
const MAX_BYTES = 64 * 1024;
const SHELL = "/bin/sh";

/** Takes a text apart. `literal:` stands before a value that begins like a reference. */
export function referenceIn(text: string): Reference | { readonly kind: "literal"; readonly text: string } | null {
  if (text.startsWith("literal:")) return { kind: "literal", text: text.slice("literal:".length) };
  if (text.startsWith("file:")) return { kind: "file", path: text.slice("file:".length) };
  if (text.startsWith("cmd:")) return { kind: "cmd", command: text.slice("cmd:".length).trim() };
  return null;
}

/** Returns where a value comes from, in words that hold no part of it. */
export function originOf(value: unknown): string {
  const found = typeof value === "string" ? referenceIn(value) : null;
  if (found?.kind === "file") return `file:${found.path}`;
  if (found?.kind === "cmd") return `cmd:${shortCommand(found.command)}`;
  const names = typeof value === "string" && found === null ? value.matchAll(/(?<!\$)\$\{([A-Za-z_]\w*)\}/g) : [];
  const variables = [...names].map(([text]) => text);
  return variables.length > 0 ? variables.join(" ") : "local.toml";
}

/** A command line may hold a value itself, so that only its program is shown. */
function shortCommand(command: string): string {
  const [program = "", ...rest] = command.split(/\s+/);
  return rest.length > 0 ? `${program} …` : program;
}

/** Follows every reference in a value, however deep. Text that a file or a command gave is taken as it is. */
export async function fillReferences(value: unknown, { env, read }: ValueSources): Promise<FilledValues> {
  const missing: MissingVariable[] = [];
  const failed: FailedReference[] = [];
  type Path = readonly (string | number)[];
  const fillText = async (text: string, path: Path): Promise<string> => {
    const found = referenceIn(text);
    if (found === null) {
      const filled = fillVariables(text, env);
      missing.push(...filled.missing.map(({ name }) => ({ name, path })));
      return filled.value as string;
    }
    if (found.kind === "literal") return found.text;
    try {
      if (!read) throw new Error("Files and commands are not read here");
      return await read(found);
    } catch (error) {
      failed.push({ path, message: `${originOf(text)} gives no value: ${messageOf(error)}` });
      return text;
    }
  };
  const fill = async (part: unknown, path: Path): Promise<unknown> => {
    if (typeof part === "string") return await fillText(part, path);
    if (typeof part !== "object" || part === null) return part;
    if (Array.isArray(part)) return await Promise.all(part.map((item, index) => fill(item, [...path, index])));
    const entries = Object.entries(part).map(async ([key, item]) => [key, await fill(item, [...path, key])] as const);
    return Object.fromEntries(await Promise.all(entries));
  };
  return { value: await fill(value, []), missing, failed };
}

/** Returns the reader of files and commands on this machine. */
export function referenceReader(runtime: Pick<Runtime, "files" | "processes" | "clock" | "pid">): ReadReference {
  return async (reference) => {
    const text = reference.kind === "file"
      ? await readFile(reference.path, runtime)
      : await printedBy(reference.command, runtime);
    const value = text.replace(/\r?\n$/, "");
    if (value === "") throw new Error(reference.kind === "file" ? "The file is empty" : "The command printed nothing");
    return value;
  };
}

async function readFile(path: string, { files }: Pick<Runtime, "files">): Promise<string> {
  if (!path.startsWith("/")) throw new Error("The path is not absolute");
  const info = await files.target(path).catch(() => null);
  if (info === null) throw new Error("There is no such file, or it is in a folder that you may not enter");
  if (info.kind !== "file") throw new Error("It is no file");
  if (info.size > MAX_BYTES) throw new Error(`It is larger than ${MAX_BYTES} bytes`);
  return await files.readText(path).catch(() => Promise.reject(new Error("You may not read it")));
}

async function printedBy(
  command: string,
  runtime: Pick<Runtime, "files" | "processes" | "clock" | "pid">,
): Promise<string> {
  if (command === "") throw new Error("It names no command");
  const { processes, clock } = runtime;
  const decoder = new TextDecoder();
  let text = "";
  let ended: string | null = null;
  const end = (why: string): void => {
    ended ??= why;
    processes.signal(-child.pid, "SIGKILL");
  };
  const child = await processes.spawn(
    { file: SHELL, args: ["-c", command], env: await ownEnvironment(runtime), cwd: "/" },
    {
      stdout: (chunk) => {
        text += decoder.decode(chunk, { stream: true });
        if (text.length > MAX_BYTES) end(`The command printed more than ${MAX_BYTES} bytes`);
      },
      stdoutEnd: () => {},
      stderr: () => {}, // It may hold the value, so that it is shown nowhere.
    },
  );
  child.endInput();
  const cancel = clock.after(COMMAND_MS, () => end(`The command took longer than ${COMMAND_MS / 1000} s`), {
    keepAlive: true,
  });
  const { code, signal } = await child.exited;
  await child.closed;
  cancel();
  if (ended !== null) throw new Error(ended);
  if (code !== 0) throw new Error(`The command ended with ${signal ?? `exit code ${code}`}`);
  return text;
}

/** The environment that the host was started with: password stores find their keys and agents by it. */
async function ownEnvironment({ files, pid }: Pick<Runtime, "files" | "pid">): Promise<Record<string, string>> {
  const text = await files.readText(`/proc/${pid}/environ`).catch(() => "");
  const pairs = text.split("\0").filter((pair) => pair.includes("="));
  return Object.fromEntries(pairs.map((pair) => pair.split(/=(.*)/s, 2) as [string, string]));
}
