/**
 * Fetches packages with the operator's own npm (or bun), with its registry and its credentials. No script of a package
 * runs, and no git repository is fetched: its settings could have npm start programs.
 *
 * @module
 */
import { HostError } from "../../core/errors/host_error.ts";
import type { Runtime, Signal } from "../../core/ports/ports.ts";

/** Variables that npm and bun read; `.npmrc` may name the tokens. */
const PASSED = [
  ...["PATH", "HOME", "USER", "LANG", "TMPDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"],
  ...["http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"],
  ...["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "NPM_TOKEN", "NODE_AUTH_TOKEN", "NPM_AUTH_TOKEN"],
  ...["registry", "userconfig", "globalconfig", "cache", "prefix", "cafile", "strict_ssl", "proxy", "https_proxy"]
    .flatMap((name) => [`npm_config_${name}`, `NPM_CONFIG_${name.toUpperCase()}`]),
  ...["BUN_CONFIG_REGISTRY", "BUN_INSTALL_CACHE_DIR"],
];
const NPM_ARGS = [
  ...["install", "--ignore-scripts", "--omit=dev", "--allow-git=none", "--no-audit", "--no-fund"],
  ...["--no-package-lock", "--no-save", "--no-update-notifier", "--loglevel=error", "--color=false"],
];
const BUN_ARGS = ["--ignore-scripts", "--production", "--no-save", "--no-progress", "--no-summary"];
const TIMEOUT_MS = 10 * 60_000;
const GRACE_MS = 2_000;
const SAID_BYTES = 16 * 1024;

/**
 * Installs packages into `dir/node_modules`; without any, those that `dir/package.json` names.
 *
 * @throws {HostError} `mcp_add.npm_missing`, `mcp_add.fetch_failed` with what npm says, or `host.interrupted`.
 */
export async function npmInstall(
  packages: readonly string[],
  { dir, runtime, signal }: { readonly dir: string; readonly runtime: Runtime; readonly signal?: AbortSignal },
): Promise<void> {
  const ports = { dir, runtime, ...(signal && { signal }) };
  const found = await programIn("npm", runtime);
  const version = found === null ? null : versionIn((await run(found, ["--version"], ports)).said);
  const npm = version !== null && refusesGit(version) ? found : null;
  const bun = npm === null
    ? runtime.name === "bun" && !runtime.isCompiled ? runtime.executable : await programIn("bun", runtime)
    : null;
  const file = npm ?? bun;
  if (file === null) throw version === null ? npmMissing() : npmOld(version);
  const args = npm ? [...NPM_ARGS, ...packages] : [packages.length > 0 ? "add" : "install", ...BUN_ARGS, ...packages];
  const { code, said } = await run(file, args, ports);
  if (code === 0) return;
  throw new HostError(
    "mcp_add.fetch_failed",
    `Could not fetch ${packages.join(", ") || "its packages"}: ${summary(said)}`,
    {
      data: { packages, said: said.slice(-2000) },
      hint: "Check the name and the version, and that npm reaches its registry: npm view <package>",
    },
  );
}

/** Returns the version that npm says it has; warnings may stand around it. */
function versionIn(said: string): string {
  return /^\d+\.\d+\.\S{1,50}$/m.exec(said)?.[0] ?? "of an unknown version";
}

/** Whether a version of npm knows `--allow-git`: the older ones pass over it, and start what a repository's settings name. */
function refusesGit(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > 11 || (major === 11 && minor >= 10);
}

function npmMissing(): HostError {
  return new HostError("mcp_add.npm_missing", "Cannot fetch: neither npm nor bun is in PATH", {
    hint: "Install npm, or fetch the server yourself and name its folder",
  });
}

function npmOld(version: string): HostError {
  return new HostError("mcp_add.npm_old", `Cannot fetch with npm ${version}: it lets git repositories start programs`, {
    data: { version },
    hint: "Install npm 11.10 or newer (npm install -g npm), or bun",
  });
}

async function run(
  file: string,
  args: readonly string[],
  { dir, runtime, signal }: { readonly dir: string; readonly runtime: Runtime; readonly signal?: AbortSignal },
): Promise<{ code: number | null; said: string }> {
  const decoder = new TextDecoder();
  let said = "";
  const take = (chunk: Uint8Array): void =>
    void (said = (said + decoder.decode(chunk, { stream: true })).slice(-SAID_BYTES));
  const env = Object.fromEntries(
    PASSED.flatMap((name) => runtime.env(name) === null ? [] : [[name, runtime.env(name)!]]),
  );
  const child = await runtime.processes.spawn({ file, args, env, cwd: dir }, {
    stdout: take,
    stdoutEnd: () => {},
    stderr: take,
  });
  child.endInput();
  const signalAll = (name: Signal): void => void runtime.processes.signal(-child.pid, name);
  let ended: HostError | null = null;
  let cancelKill = (): void => {};
  const end = (error: HostError): void => {
    ended ??= error;
    signalAll("SIGTERM");
    cancelKill = runtime.clock.after(GRACE_MS, () => signalAll("SIGKILL"), { keepAlive: true });
  };
  const abort = (): void =>
    end(new HostError("host.interrupted", "The fetch was cancelled", { cause: signal?.reason }));
  if (signal?.aborted) abort();
  signal?.addEventListener("abort", abort, { once: true });
  const cancelTimeout = runtime.clock.after(
    TIMEOUT_MS,
    () => end(new HostError("mcp_add.fetch_failed", `npm took longer than ${TIMEOUT_MS / 60_000} minutes`)),
    { keepAlive: true },
  );
  try {
    const { code } = await child.exited;
    if (!ended) await child.closed;
    child.release();
    if (ended) throw ended;
    return { code, said };
  } finally {
    for (const cancel of [cancelTimeout, cancelKill]) cancel();
    signal?.removeEventListener("abort", abort);
  }
}

/** Finds a program in the operator's own PATH: npm is often not where the system keeps its programs. */
async function programIn(name: string, { env, files }: Runtime): Promise<string | null> {
  for (const dir of (env("PATH") ?? "").split(":").filter((one) => one.startsWith("/"))) {
    if ((await files.target(`${dir}/${name}`).catch(() => null))?.kind === "file") return `${dir}/${name}`;
  }
  return null;
}

/** Returns the lines of npm that say why, without its prefix and without where its log is. */
function summary(said: string): string {
  const lines = said.split("\n").map((line) => line.replace(/^npm (?:error|ERR!) ?/, "").trim());
  const telling = lines.filter((line) => line !== "" && !/^npm |A complete log|^code |debug-\d/.test(line));
  return telling.slice(0, 3).join("; ") || "npm gives no reason";
}
