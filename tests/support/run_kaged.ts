/**
 * Runs the `kaged` command on the runtime of the test: inside the test's own process, or as a process of its own where
 * signals, streams and the way it ends are what the test is about.
 *
 * @module
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { detectRuntime } from "../../src/adapters/default.ts";
import { main } from "../../src/cli/main.ts";
import { createPrinter, hiding, paint, type Terminal } from "../../src/cli/terminal.ts";
import { compiledCode } from "./compiled_code.ts";

/** How a run of the command ended. */
export interface KagedRun {
  /** Exit code, or null when a signal ended it. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** How a run differs from the usual one. */
export interface KagedOptions {
  /** Standard input. */
  readonly input?: string;
  /** Variables on top of PATH. */
  readonly env?: Readonly<Record<string, string>>;
  /** Folder it starts in. */
  readonly cwd?: string;
  /** Hears what is printed, on either stream, as a terminal would show it; not of a process of its own. */
  readonly onPrint?: (text: string) => void;
  /** Runs it as a process of its own. */
  readonly isProcess?: boolean;
  /** Runs it as a process of its own, and gets that as soon as it runs. */
  readonly onStart?: (child: ChildProcess) => void;
}

const BIN: string = fileURLToPath(new URL("../../src/cli/bin.ts", import.meta.url));
const CONFIG: string = fileURLToPath(new URL("../../deno.json", import.meta.url));

const BARE = { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: "/nonexistent" };

/** Signals a running command. Deno reports a process that its own `kill` reached as ended by it, whatever it did. */
export function signalKaged(child: ChildProcess, signal: "SIGINT" | "SIGTERM"): void {
  process.kill(child.pid!, signal);
}

/** The program and arguments that run `kaged` with `args` on this runtime. */
export function kagedCommand(args: readonly string[]): { command: string; args: string[] } {
  return { command: process.execPath, args: [...prefix(), ...args] };
}

/** The program and arguments that run a TypeScript file on this runtime. */
export function scriptCommand(file: string): { command: string; args: string[] } {
  return { command: process.execPath, args: prefix(file) };
}

/** Arguments before those of the program itself, for this runtime. */
function prefix(file: string = BIN): string[] {
  if (process.versions["deno"]) return ["run", "-A", "--quiet", "--no-lock", "--no-check", "--config", CONFIG, file];
  if (process.versions["bun"]) return ["--config=/dev/null", "--no-env-file", "--no-install", file];
  return ["--disable-warning=ExperimentalWarning", file];
}

/** Runs `kaged` with `args` and waits for its end. HOME is a folder that does not exist. */
export async function runKaged(args: readonly string[], options: KagedOptions = {}): Promise<KagedRun> {
  const { input = "", env = {}, cwd, isProcess = false, onStart } = options;
  if (!isProcess && !onStart) return await runHere(args, options);
  const child = spawn(process.execPath, [...prefix(), ...args], {
    env: { ...BARE, ...compiledCode, ...env },
    stdio: ["pipe", "pipe", "pipe"],
    ...(cwd === undefined ? {} : { cwd }),
  });
  const [stdout, stderr] = [collect(child.stdout), collect(child.stderr)];
  child.stdin.on("error", () => {}); // It may end without reading.
  child.stdin.end(input);
  onStart?.(child);
  const [code] = await once(child, "close") as [number | null];
  return { code, stdout: stdout(), stderr: stderr() };
}

async function runHere(args: readonly string[], options: KagedOptions): Promise<KagedRun> {
  const { input = "", env = {}, cwd, onPrint } = options;
  let [stdout, stderr] = ["", ""];
  const print = (text: string): string => (onPrint?.(text), text);
  const own: Readonly<Record<string, string>> = { ...BARE, ...env };
  const runtime = { ...await detectRuntime(), env: (name: string) => own[name] ?? null };
  const { hide, hidden } = hiding();
  const terminal: Terminal = {
    out: createPrinter((text) => stdout += print(text), paint(false), hidden),
    err: createPrinter((text) => stderr += print(text), paint(false), hidden),
    hide,
    cwd: cwd ?? process.cwd(),
    isInteractive: false,
    readInput: () => Promise.resolve(input),
    runtime: () => Promise.resolve(runtime),
  };
  const code = await main(args, terminal);
  return { code, stdout, stderr };
}

function collect(stream: NodeJS.ReadableStream): () => string {
  const chunks: Uint8Array[] = [];
  stream.on("data", (chunk) => chunks.push(chunk));
  return () => new TextDecoder().decode(joined(chunks));
}

function joined(chunks: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(chunks.reduce((size, chunk) => size + chunk.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}
