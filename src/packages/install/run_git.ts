/**
 * Runs git on an address nobody trusts: no config but ours, no hooks, no prompts, no other protocol, within a time.
 *
 * @module
 */
import { HostError } from "../../core/errors/host_error.ts";
import type { Runtime, Signal } from "../../core/ports/ports.ts";

export interface GitRun {
  readonly cwd: string;
  /** Whether plain http is allowed, instead of https. */
  readonly allowHttp: boolean;
  readonly timeoutMs: number;
  /** Bytes of its output to keep. Default: {@link MAX_OUTPUT}. */
  readonly maxOutput?: number;
  readonly signal?: AbortSignal;
  /** Called every 250 ms while git runs; an error that it returns ends the run. */
  watch?(): Promise<HostError | null>;
}

export interface GitResult {
  /** Exit code; null when a signal ended git. */
  readonly code: number | null;
  /** The first bytes of its output, as many as were asked for. */
  readonly stdout: string;
  /** Whether it printed more than that. */
  readonly isCut: boolean;
  /** The first 16 KiB of its errors. */
  readonly stderr: string;
}

/** Bytes of git's output that are kept unless a run asks for more. */
export const MAX_OUTPUT: number = 4 * 1024 * 1024;
const GIT = ["/usr/bin/git", "/usr/local/bin/git"];
/** Variables for a company's proxy and certificates: git is given these and no others of the host's. */
const PASSED = ["https_proxy", "HTTPS_PROXY", "http_proxy", "no_proxy", "NO_PROXY", "SSL_CERT_FILE", "GIT_SSL_CAINFO"];
const WATCH_MS = 250;
const GRACE_MS = 2_000;

/**
 * Runs git with arguments and settings that leave it no way to run anything of the repository's.
 *
 * @throws {HostError} `install.git_missing`, `install.source_unreachable` after `timeoutMs`, or the error of `watch`.
 */
export async function runGit(args: readonly string[], run: GitRun, runtime: Runtime): Promise<GitResult> {
  const file = await findGit(runtime);
  const out = collector(run.maxOutput ?? MAX_OUTPUT);
  const err = collector(16 * 1024);
  const child = await runtime.processes.spawn(
    { file, args: [...settings(run.allowHttp), ...args], env: environment(run.cwd, runtime), cwd: run.cwd },
    { stdout: out.take, stdoutEnd: () => {}, stderr: err.take },
  );
  child.endInput();
  /** Git talks to servers through helpers, which would outlive it; they are in its process group. */
  const signalAll = (signal: Signal): void => void runtime.processes.signal(-child.pid, signal);
  let ended: HostError | null = null;
  let cancelKill = (): void => {};
  const end = (error: HostError): void => {
    if (ended) return;
    ended = error;
    signalAll("SIGTERM"); // Git then removes its own files.
    cancelKill = runtime.clock.after(GRACE_MS, () => signalAll("SIGKILL"));
  };
  const abort = (): void =>
    end(new HostError("host.interrupted", "The fetch was cancelled", { cause: run.signal?.reason }));
  if (run.signal?.aborted) abort();
  run.signal?.addEventListener("abort", abort, { once: true });
  const cancelTimeout = runtime.clock.after(run.timeoutMs, () => end(tooSlow(run.timeoutMs)));
  const cancelWatch = watching(run, runtime, end);
  try {
    const { code } = await child.exited;
    if (!ended) await child.closed;
    child.release();
    if (ended) signalAll("SIGKILL");
    if (ended) throw ended;
    return { code, stdout: out.text(), isCut: out.isCut(), stderr: err.text() };
  } finally {
    for (const cancel of [cancelTimeout, cancelWatch, cancelKill]) cancel();
    run.signal?.removeEventListener("abort", abort);
  }
}

function settings(allowHttp: boolean): string[] {
  const values = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.autocrlf=false",
    "core.protectHFS=true",
    "core.protectNTFS=true",
    "init.templateDir=",
    "submodule.recurse=false",
    "fetch.fsckObjects=true",
    "credential.helper=",
    "protocol.allow=never",
    `protocol.${allowHttp ? "http" : "https"}.allow=always`,
    // The operator agreed to this address and to no other.
    "http.followRedirects=false",
    "advice.detachedHead=false",
  ];
  return values.flatMap((value) => ["-c", value]);
}

function environment(home: string, { env }: Runtime): Record<string, string> {
  const passed = PASSED.flatMap((name) => env(name) === null ? [] : [[name, env(name)!]]);
  return {
    ...Object.fromEntries(passed),
    PATH: "/usr/local/bin:/usr/bin:/bin",
    HOME: home,
    LANG: "C.UTF-8",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_ATTR_NOSYSTEM: "1",
    GIT_TERMINAL_PROMPT: "0",
    GIT_ASKPASS: "/bin/false",
    GIT_PROTOCOL_FROM_USER: "0",
  };
}

async function findGit({ files }: Runtime): Promise<string> {
  for (const path of GIT) if ((await files.target(path))?.kind === "file") return path;
  throw new HostError("install.git_missing", `Cannot fetch: no program at ${GIT.join(" or ")}`, {
    hint: "Install the package git, or install the plugin from a folder",
  });
}

function watching(run: GitRun, { clock }: Runtime, end: (error: HostError) => void): () => void {
  const { watch } = run;
  if (!watch) return () => {};
  let cancel = (): void => {};
  let isOver = false;
  const look = (): void => {
    cancel = clock.after(WATCH_MS, () =>
      void watch().then((error) => {
        if (isOver) return;
        if (error) end(error);
        else look();
      }, () => isOver || look()));
  };
  look();
  return () => (isOver = true, cancel());
}

function tooSlow(timeoutMs: number): HostError {
  return new HostError("install.source_unreachable", `The fetch took longer than ${timeoutMs / 1000} s`, {
    data: { timeout_ms: timeoutMs },
    hint: "Try again, or fetch it yourself and install the folder",
  });
}

function collector(maxBytes: number): { take(chunk: Uint8Array): void; isCut(): boolean; text(): string } {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  return {
    take(chunk) {
      if (bytes < maxBytes) chunks.push(chunk.subarray(0, maxBytes - bytes));
      bytes += chunk.length;
    },
    isCut: () => bytes > maxBytes,
    text() {
      const decoder = new TextDecoder();
      return chunks.map((chunk) => decoder.decode(chunk, { stream: true })).join("") + decoder.decode();
    },
  };
}
