/**
 * A network that the launcher makes before bubblewrap does its part, with a user namespace around that of the cage. The
 * relay has to listen where a granted host would: on port 443, say, or at 10.0.0.7. Inside bubblewrap nobody may listen
 * below 1024; whoever owns a network may let everyone in it, and may make every address of it local.
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
 * A function for bash: `own_network <name of the host's namespace>` opens all ports of the network it runs in, brings its
 * loopback up and leads every address there, unless that network is the host's. IPv6 may be missing. Debian has Perl
 * always and `ip` often; elsewhere it is the reverse. Perl needs one process: it sets the flag IFF_UP of `lo`, and sends
 * a message RTM_NEWROUTE for each family (rtnetlink(7)) with table, scope and type of a local route.
 */
export const OWN_NETWORK = `
own_network() {
  local PATH=/usr/sbin:/usr/bin:/sbin:/bin own
  own=$(readlink /proc/self/ns/net) || return
  [[ $own == net:* && $1 == net:* && $own != "$1" ]] || return
  echo 0 >/proc/sys/net/ipv4/ip_unprivileged_port_start || return
  perl -e '
    socket(S, 2, 2, 0) or die; my $up = pack("a16 s x22", "lo", 1); ioctl(S, 0x8914, $up) or die "lo: $!";
    socket(N, 16, 3, 0) or die;
    for my $family (2, 10) {
      my $route = pack("C8 L S S L", $family, 0, 0, 0, 255, 3, $family == 2 ? 254 : 0, 2, 0, 8, 4, 1);
      send(N, pack("L S S L L", 16 + length $route, 24, 0x405, 1, 0) . $route, 0) or die "route: $!";
      defined recv(N, my $answer, 4096, 0) or die "route: $!";
      my $error = unpack("x16 l", $answer);
      die "route: $error" if $family == 2 && $error != 0;
    }' 2>/dev/null && return
  ip link set lo up && ip route add local default dev lo && { ip -6 route add local default dev lo 2>/dev/null || :; }
}`;

/** Whether a cage can have such a network here. */
export interface OwnNetwork {
  /** Name of the host's network namespace, or null when a cage can have none but bubblewrap's. */
  readonly hosts: string | null;
  /** Why it can have none, for a person; empty when it can. */
  readonly why: string;
}

// --norc for the shell inside too: with a socket for stdin bash would read the operator's ~/.bashrc, whose words, or
// complaints about it, are not the answer.
const CAGE = "--unshare-user --cap-drop ALL --uid 65534 --gid 65534 --ro-bind / /";
const PROBE = `${OWN_NETWORK}
own_network "$1" && exec "$2" ${CAGE} -- "$0" --norc --noprofile -c 'echo ready'
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
