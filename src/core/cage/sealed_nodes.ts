/**
 * Device nodes under a host that root runs. Outside, the user of the cage is then root itself, to whom the nodes of the
 * host belong: the cage could change their mode for everyone. A read-only mount closes that and still lets a node be
 * written to. Bubblewrap cannot make one, because with it comes a flag that closes the node altogether; so a launcher makes
 * the mounts first, in a mount namespace of its own, and bubblewrap binds those. The cages of a home share that namespace:
 * one launcher keeps it, and those of the cages enter it.
 *
 * @module
 */
import { HostError } from "../errors/host_error.ts";
import type { Files } from "../ports/ports.ts";
import { askedOnce } from "./asked_once.ts";

/** The nodes that bubblewrap shows in `/dev`. */
export const NODES: readonly string[] = ["null", "zero", "full", "random", "urandom", "tty"];
/** Where every distribution keeps them. */
export const UNSHARE = "/usr/bin/unshare";
/** See {@link UNSHARE}. */
export const NSENTER = "/usr/bin/nsenter";
/** See {@link UNSHARE}; older distributions have no other place for it. */
export const MOUNT = "/bin/mount";

/** The next step for a host that root runs. */
export const RUN_AS_USER = "Run the host as an ordinary user: sudo -u <user> kaged …, or User= in its systemd unit";

/** Flags that a container may have locked have to be kept; these cost a node nothing. */
const OPTIONS = "bind,ro,nosuid,noexec";

/**
 * Two functions for bash. `seal` mounts each node read-only over itself. `is_sealed` checks that they all are, because
 * not every mount program makes a bind mount read-only when asked to, and none reports it; of two mounts at one place the
 * later counts. `seal` mounts all nodes from one table with one program; `mount` then skips a node that already has a
 * mount on it, as in some containers, so each node is mounted by itself where the check fails.
 */
export const SEAL: string = `
is_sealed() {
  local mounts line name
  local -A options=()
  mapfile -t mounts </proc/self/mountinfo
  set -f
  for line in "\${mounts[@]}"; do
    [[ $line == *" /dev/"* ]] || continue
    set -- $line
    options[$5]=$6
  done
  set +f
  for name in ${NODES.join(" ")}; do [[ \${options[/dev/$name]} == ro,* ]] || return; done
}
seal() {
  local name
  for name in ${NODES.join(" ")}; do echo "/dev/$name /dev/$name none ${OPTIONS} 0 0"; done >nodes &&
    ${MOUNT} -a -T nodes || return
  is_sealed && return
  for name in ${NODES.join(" ")}; do ${MOUNT} -o ${OPTIONS} "/dev/$name" "/dev/$name" || return; done
  is_sealed
}`;

/** Rejects with `cage.root_refused` where the programs that seal the nodes are missing. */
export const requireSealing: (files: Files) => Promise<void> = askedOnce(async (files) => {
  for (const path of [UNSHARE, NSENTER, MOUNT]) {
    if ((await files.target(path))?.kind !== "file") throw rootRefused(`there is no ${path}`);
  }
});

/** Returns the failure of a host that root runs on a machine where the nodes cannot be sealed. */
export function rootRefused(why: string): HostError {
  return new HostError("cage.root_refused", `Cannot cage plugins of a host that root runs: ${why}`, {
    data: { why },
    hint: RUN_AS_USER,
  });
}
