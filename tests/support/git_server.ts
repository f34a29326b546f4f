/**
 * Real repositories behind a real `git http-backend` on this machine.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, rm, stat } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";

/** A server of repositories, for one test. */
export interface GitServer extends AsyncDisposable {
  /** Folder of the repositories. */
  readonly dir: string;
  /** Where it listens, without a slash at its end. */
  readonly url: string;
  /** Every request so far: method and path. */
  readonly requests: string[];
  /** Handles a request instead of the server; returns true when it did. */
  instead: ((request: IncomingMessage, response: ServerResponse) => boolean) | null;
  /** Commits the files of a folder to a repository, tags it, and returns its address. */
  publish(repository: string, files: string, tag?: string): Promise<string>;
}

const GIT_ENV = {
  PATH: "/usr/bin:/bin",
  HOME: "/nonexistent",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_AUTHOR_NAME: "Ada",
  GIT_AUTHOR_EMAIL: "ada@example.org",
  GIT_COMMITTER_NAME: "Ada",
  GIT_COMMITTER_EMAIL: "ada@example.org",
};

/** Runs git for a test; what it prints is in its error. */
export function git(cwd: string, ...args: string[]): string {
  return execFileSync("/usr/bin/git", args, { cwd, env: GIT_ENV, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

/** Starts a server over the repositories in `dir`. */
export async function gitServer(dir: string): Promise<GitServer> {
  await mkdir(dir, { recursive: true });
  const requests: string[] = [];
  const http = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    if (!server.instead?.(request, response)) serve(dir, request, response);
  });
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  const server: GitServer = {
    dir,
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    requests,
    instead: null,
    async publish(repository, files, tag) {
      const work = join(dir, `${repository}.work`);
      const bare = join(dir, `${repository}.git`);
      await mkdir(work, { recursive: true });
      if (await stat(join(work, ".git")).catch(() => null) === null) git(work, "init", "-q");
      for (const name of git(work, "ls-files").split("\n").filter(Boolean)) await rm(join(work, name), { force: true });
      await cp(files, work, { recursive: true });
      git(work, "add", "-A");
      git(work, "commit", "-q", "--allow-empty", "-m", "Change");
      if (tag !== undefined) git(work, "tag", tag);
      await rm(bare, { recursive: true, force: true });
      git(dir, "clone", "-q", "--bare", work, bare);
      return `${server.url}/${repository}.git`;
    },
    async [Symbol.asyncDispose]() {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
  return server;
}

/** One request to `git http-backend`, by the rules of CGI. */
function serve(dir: string, request: IncomingMessage, response: ServerResponse): void {
  const { pathname, search } = new URL(request.url ?? "/", "http://localhost");
  const header = (name: string): string => String(request.headers[name] ?? "");
  const backend = spawn("/usr/bin/git", ["http-backend"], {
    env: {
      ...GIT_ENV,
      GIT_PROJECT_ROOT: dir,
      GIT_HTTP_EXPORT_ALL: "1",
      PATH_INFO: decodeURIComponent(pathname),
      QUERY_STRING: search.slice(1),
      REQUEST_METHOD: request.method ?? "GET",
      CONTENT_TYPE: header("content-type"),
      CONTENT_LENGTH: header("content-length"),
      HTTP_CONTENT_ENCODING: header("content-encoding"),
      GIT_PROTOCOL: header("git-protocol"),
    },
    stdio: ["pipe", "pipe", "ignore"],
  });
  backend.stdin.on("error", () => {});
  request.pipe(backend.stdin);
  const chunks: Uint8Array[] = [];
  backend.stdout.on("data", (chunk: Uint8Array) => chunks.push(chunk));
  backend.on("close", () => {
    const output = Buffer.concat(chunks);
    const end = output.indexOf("\r\n\r\n");
    let status = 200;
    for (const line of output.subarray(0, end).toString().split("\r\n")) {
      const [name = "", value = ""] = line.split(/:\s*(.*)/s);
      if (name.toLowerCase() === "status") status = parseInt(value);
      else response.setHeader(name, value);
    }
    response.writeHead(status);
    response.end(output.subarray(end + 4));
  });
}
