/**
 * Device nodes under a host that root runs. Outside, the user of the cage is then root itself, to whom the nodes of the
 * host belong: the cage could change their mode for everyone. A read-only mount closes that and still lets a node be
 * written to. Bubblewrap cannot make one, because with it comes a flag that closes the node altogether; so the launcher
 * makes the mounts first, in a mount namespace of its own, and bubblewrap binds those.
 *
 * @module
 */
import { HostError } from "../errors/host_error.ts";
import type { Files } from "../ports/ports.ts";

/** The nodes that bubblewrap shows in `/dev`. */
export const NODES: readonly string[] = ["null", "zero", "full", "random", "urandom", "tty"];
/** The launcher's table of mounts among the files of a start. */
export const NODE_TABLE = "nodes";
/** Prefix of the files that the nodes are mounted on, among the files of a start. */
export const NODE_FILE = "node.";
/** Where every distribution keeps them. */
export const UNSHARE = "/usr/bin/unshare";
/** See {@link UNSHARE}; older distributions have no other place for it. */
export const MOUNT = "/bin/mount";

/** The next step for a host that root runs. */
export const RUN_AS_USER = "Run the host as an ordinary user: sudo -u <user> kaged …, or User= in its systemd unit";

/**
 * Mounts each node read-only on a file of the start, in the layout of `/etc/fstab`; the folder of the start is where
 * `mount` runs. Flags that a container may have locked have to be kept; these cost a node nothing.
 */
export const NODE_LINES: string = NODES.map((name) =>
  `/dev/${name} ${NODE_FILE}${name} none bind,ro,nosuid,noexec 0 0\n`
)
  .join("");

/** Returns the arguments that put the read-only nodes in the place of bubblewrap's own. */
export function nodeArgs(runDir: string): string[] {
  return NODES.flatMap((name) => ["--dev-bind", `${runDir}/${NODE_FILE}${name}`, `/dev/${name}`]);
}

/** Rejects with `cage.root_refused` where the programs that seal the nodes are missing. */
export async function requireSealing(files: Files): Promise<void> {
  for (const path of [UNSHARE, MOUNT]) {
    if ((await files.target(path))?.kind !== "file") throw rootRefused(`there is no ${path}`);
  }
}

/** Returns the failure of a host that root runs on a machine where the nodes cannot be sealed. */
export function rootRefused(why: string): HostError {
  return new HostError("cage.root_refused", `Cannot cage plugins of a host that root runs: ${why}`, {
    data: { why },
    hint: RUN_AS_USER,
  });
}
