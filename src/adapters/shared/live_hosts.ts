/**
 * The hosts that run under one home, for a command that wants to talk to them.
 *
 * @module
 */
import { readdir, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { requestOverSocket } from "./request_over_socket.ts";

/** A host that answered in time. */
export interface LiveHost {
  readonly pid: number;
  readonly path: string;
  /** Sends it a request; see {@link requestOverSocket}. */
  request(request: Request): Promise<Response>;
}

/** A host that takes longer hangs, and a command cannot wait for it. */
const PATIENCE_MS = 5000;

/** Settings of the search. */
export interface LiveHostsOptions {
  /** Time that one host may take to answer. Default 5 000. */
  readonly patienceMs?: number;
  /** Sockets that are skipped. */
  readonly except?: Pick<ReadonlySet<string>, "has">;
}

/**
 * Returns the hosts that run under `home`. Sockets nobody listens at are removed where that can be done; a host that does not answer in time
 * is left out.
 */
export async function liveHosts(home: string, options: LiveHostsOptions = {}): Promise<LiveHost[]> {
  const { patienceMs = PATIENCE_MS, except } = options;
  const run = join(home, "run");
  const names = (await readdir(run).catch(() => [])).filter((name) => SOCKET_NAME.test(name)).sort();
  const paths = names.map((name) => join(run, name)).filter((path) => !except?.has(path));
  const hosts = await Promise.all(paths.map((path) => liveHost(path, patienceMs)));
  return hosts.filter((host) => host !== null);
}

const SOCKET_NAME = /^[0-9]+(-[0-9]+)?\.sock$/;

async function liveHost(path: string, patienceMs: number): Promise<LiveHost | null> {
  const request = (asked: Request): Promise<Response> => requestOverSocket(path, asked);
  try {
    const signal = AbortSignal.timeout(patienceMs);
    await (await request(new Request("http://kaged/healthz", { signal }))).body?.cancel();
    return { pid: parseInt(basename(path), 10), path, request };
  } catch (error) {
    // A home that cannot be written keeps its stale sockets: nobody answers there, which is all that matters here.
    if ((error as { code?: string }).code === "ECONNREFUSED") await rm(path, { force: true }).catch(() => {});
    return null;
  }
}
