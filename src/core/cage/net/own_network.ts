/**
 * A network that the launcher makes before bubblewrap does its part, with a user namespace around that of the cage. The
 * relay has to listen where a granted host would: on port 443, say. Inside bubblewrap nobody may listen below 1024;
 * whoever owns a network may let everyone in it.
 *
 * @module
 */
import { messageOf } from "../../errors/host_error.ts";
import type { ProcessSpawner, Runtime } from "../../ports/ports.ts";
import { outputOf } from "../output_of.ts";
import { UNSHARE } from "../sealed_nodes.ts";

/** Among the files of a start: the name of the host's own network namespace, which must not be the one changed. */
export const NETWORK_FILE = "network";

/** Arguments of `unshare` that make the two namespaces. */
export const NETWORK_SPACES: readonly string[] = ["--user", "--map-root-user", "--net"];

/**
 * A function for bash: `own_network <name of the host's namespace>` opens all ports of the network it runs in and brings
 * its loopback up, unless that network is the host's. Debian has Perl always and `ip` often; elsewhere it is the reverse.
 */
export const OWN_NETWORK = `
own_network() {
  local PATH=/usr/sbin:/usr/bin:/sbin:/bin own
  own=$(readlink /proc/self/ns/net) || return
  [[ $own == net:* && $1 == net:* && $own != "$1" ]] || return
  echo 0 >/proc/sys/net/ipv4/ip_unprivileged_port_start || return
  ip link set lo up 2>/dev/null ||
    perl -e 'socket(S, 2, 2, 0) or die; my $up = pack("a16 s x22", "lo", 1); ioctl(S, 0x8914, $up) or die "lo: $!\\n"'
}`;

/** Whether a cage can have such a network here. */
export interface OwnNetwork {
  /** Name of the host's network namespace, or null when a cage can have none but bubblewrap's. */
  readonly hosts: string | null;
  /** Why it can have none, for a person; empty when it can. */
  readonly why: string;
}

const PROBE = `${OWN_NETWORK}
own_network "$1" && exec "$2" --unshare-user --cap-drop ALL --uid 65534 --gid 65534 --ro-bind / / -- "$0" -c 'echo ready'
`;

/** Answers by bubblewrap: a machine does not change its mind while a host runs, and asking costs some processes. */
const known = new WeakMap<ProcessSpawner, Map<string, Promise<OwnNetwork>>>();

/** Makes such a network once, with a cage in it, and returns whether that worked. Never rejects. */
export async function tryOwnNetwork(
  { bash, bwrap }: { readonly bash: string; readonly bwrap: string },
  runtime: Runtime,
): Promise<OwnNetwork> {
  const answers = known.get(runtime.processes) ?? new Map<string, Promise<OwnNetwork>>();
  known.set(runtime.processes, answers);
  const asked = answers.get(bwrap) ?? probe(bash, bwrap, runtime);
  answers.set(bwrap, asked);
  return await asked;
}

async function probe(bash: string, bwrap: string, runtime: Runtime): Promise<OwnNetwork> {
  try {
    const hosts = await runtime.files.readLink("/proc/self/ns/net");
    const shell = [bash, "--norc", "--noprofile", "-c", PROBE, bash, hosts, bwrap];
    const said = (await outputOf(runtime, UNSHARE, [...NETWORK_SPACES, "--", ...shell])).trim();
    return said === "ready" ? { hosts, why: "" } : { hosts: null, why: said.split("\n").at(-1) || "it says nothing" };
  } catch (error) {
    return { hosts: null, why: messageOf(error) };
  }
}
