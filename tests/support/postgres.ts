/**
 * A real Postgres for one test file: a cluster in a temporary folder, reached through a socket in it.
 *
 * @module
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { chown, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";

/** A running server. */
export interface Postgres {
  /** Address of its database, without a password: only the socket leads to it. */
  readonly url: string;
  /** Ends it and removes its folder. */
  stop(): Promise<void>;
}

/** Arguments of `requireOrSkip` for Postgres. */
export const POSTGRES_NEEDED: readonly [string, string] = ["Postgres", "install it with: sh scripts/setup.sh extras"];

/** Folder of Debian's server programs, or null. */
export function findPostgres(): string | null {
  const root = "/usr/lib/postgresql";
  const versions = existsSync(root) ? readdirSync(root).sort((a, b) => Number(b) - Number(a)) : [];
  return versions.map((version) => `${root}/${version}/bin`).find((bin) => existsSync(`${bin}/initdb`)) ?? null;
}

/** Starts a server with an empty database. */
export async function startPostgres(): Promise<Postgres> {
  const bin = findPostgres()!;
  const dir = await mkdtemp(join(tmpdir(), "kaged-pg-"));
  const user = process.getuid?.() === 0 ? userOf("postgres") : null; // The server refuses to run as root.
  if (user) await chown(dir, user.uid, user.gid);
  const as = (program: string, args: string[]): [string, string[]] => {
    if (!user) return [`${bin}/${program}`, args];
    return ["setpriv", [`--reuid=${user.uid}`, `--regid=${user.gid}`, "--clear-groups", `${bin}/${program}`, ...args]];
  };
  const made = spawnSync(
    ...as("initdb", ["-D", `${dir}/data`, "-U", "tester", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync"]),
    { cwd: dir, encoding: "utf8" },
  );
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr}`);
  const settings = { listen_addresses: "", unix_socket_directories: dir, fsync: "off", max_connections: "200" };
  const flags = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const server = spawn(...as("postgres", ["-D", `${dir}/data`, ...flags]), {
    cwd: dir,
    stdio: ["ignore", "ignore", "pipe"],
  });
  await untilReady(server);
  return {
    url: `postgres://tester@localhost/postgres?host=${encodeURIComponent(dir)}`,
    async stop() {
      const ended = once(server, "close");
      process.kill(server.pid!, "SIGINT"); // Its fast way to stop: connections are cut.
      await ended;
      await rm(dir, { recursive: true, force: true });
    },
  };
}

function untilReady(server: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let log = "";
    server.stderr!.on("data", (chunk) => {
      log = (log + String(chunk)).slice(-10_000);
      if (log.includes("ready to accept connections")) resolve();
    });
    server.once("close", (code) => reject(new Error(`postgres ended with ${code}: ${log}`)));
  });
}

function userOf(name: string): { uid: number; gid: number } {
  const id = (flag: string): number => Number(spawnSync("id", [flag, name], { encoding: "utf8" }).stdout);
  return { uid: id("-u"), gid: id("-g") };
}
