/**
 * The way from the host into a cage: a shell without environment and without inherited descriptors, which becomes
 * bubblewrap. The same on every runtime.
 *
 * Nothing of the host is in its arguments. Bubblewrap's orders lie in a folder of their own, which is the shell's
 * working directory: `command` (bubblewrap and the plugin's command), `args`, `hosts`, `seccomp`, `groups` (control
 * groups to join), under root `nodes` (mounts to make first) and, for a network made before bubblewrap, `network`. There
 * the shell leaves `launcher` (process ids) and `status`.
 *
 * @module
 */
import type { Command, Files } from "../ports/ports.ts";
import type { CagePlan } from "./cage_plan.ts";
import { NETWORK_FILE, NETWORK_SPACES, OWN_NETWORK } from "./net/own_network.ts";
import { MOUNT, NODE_FILE, NODE_TABLE, NODES, UNSHARE } from "./sealed_nodes.ts";

/** Descriptor of the text of `/etc/hosts`. */
export const HOSTS_FD = 6;
/** Descriptor bubblewrap reports on. */
export const STATUS_FD = 7;
const ARGS_FD = 8;
/** Descriptor of the filter on system calls. */
export const SECCOMP_FD = 9;

/** Descriptors that each process of a cage may have. */
const MAX_DESCRIPTORS = 4096;

/** A control group of a cage. */
const GROUP = /^\/.*\/kaged_[^/]+$/;

/** Exit code of the shell when device nodes could not be made read-only. */
export const SEAL_FAILED = 124;
/** How the shell ends when it cannot do its part, and what that part was. */
export const LAUNCHER_FAILURES: ReadonlyMap<number, string> = new Map([
  [121, "it could not see its own descriptors in /proc"],
  [122, "it could not read the files of the cage"],
  [123, "it could not join the control groups that limit it"],
  [125, "it could not prepare the network of the cage"],
]);

// Version 1 moves a thread that moves itself at once; for a whole process, and in version 2, it first waits for every
// processor, which takes some ten milliseconds.
// An inherited descriptor of a folder is a way out of the cage: all above 2 are closed. `exec -c` leaves bubblewrap an
// empty environment: what it has can be read inside as /proc/1/environ.
// The limit of descriptors bounds the work of the watchdog; where the host's own is lower, that one stays.
// Not every mount program makes a bind mount read-only when asked to, and none says so: the mounts are counted.
const SCRIPT = `${OWN_NETWORK}
umask 077
fds=(/proc/self/fd/*)
[[ -e \${fds[0]} ]] || exit 121
for path in "\${fds[@]}"; do
  fd=\${path##*/}
  if ((fd > 2)); then exec {fd}>&-; fi
done
mapfile -d '' -t command <command && ((\${#command[@]} > 0)) || exit 122
if [[ -e ${NODE_TABLE} ]]; then
  : ${NODES.map((name) => `>${NODE_FILE}${name}`).join(" ")} || exit ${SEAL_FAILED}
  ${MOUNT} -a -T ${NODE_TABLE} || exit ${SEAL_FAILED}
  sealed=0
  while read -r _ _ _ _ at options _; do
    if [[ $at == */"\${PWD##*/}/${NODE_FILE}"* && $options == ro,* ]]; then ((++sealed)); fi
  done </proc/self/mountinfo
  ((sealed == ${NODES.length})) || exit ${SEAL_FAILED}
fi
if [[ -e ${NETWORK_FILE} ]]; then
  read -r network <${NETWORK_FILE} && own_network "$network" || exit 125
fi
exec ${HOSTS_FD}<hosts ${STATUS_FD}>status ${ARGS_FD}<args ${SECCOMP_FD}<seccomp || exit 122
echo "$$ $PPID" >launcher || exit 122
mapfile -d '' -t groups <groups || exit 122
for group in "\${groups[@]}"; do
  if [[ -e $group/tasks ]]; then echo 0 >"$group/tasks" || exit 123; else echo $$ >"$group/cgroup.procs" || exit 123; fi
done
ulimit -c 0
ulimit -n ${MAX_DESCRIPTORS} 2>/dev/null
cd / && exec -c "\${command[@]}"
`;

/**
 * Returns the command that starts the cage whose files lie in `dir`: for root in a mount namespace of its own, and in a
 * network of its own where bubblewrap is not to make it.
 */
export function launchCommand(
  bash: string,
  dir: string,
  { isRoot, ownNetwork }: { readonly isRoot: boolean; readonly ownNetwork: boolean },
): Command {
  // --norc --noprofile: with a socket for stdin bash takes itself for a remote login and reads ~/.bashrc, uncaged.
  const shell = [bash, "--norc", "--noprofile", "-c", SCRIPT] as const;
  // Slave: what the host unmounts later goes here too, instead of staying busy as long as the plugin runs.
  const spaces = [...(ownNetwork ? NETWORK_SPACES : []), ...(isRoot ? ["--mount", "--propagation", "slave"] : [])];
  const [file, ...args] = spaces.length > 0 ? [UNSHARE, ...spaces, "--", ...shell] as const : shell;
  return { file, args, env: {}, cwd: dir };
}

/** Writes the files of the cage. */
export async function writeLaunchFiles(plan: CagePlan, dir: string, files: Files): Promise<void> {
  const command = [plan.bwrap, "--args", `${ARGS_FD}`, "--", ...plan.command];
  await Promise.all([
    files.write(`${dir}/command`, terminated(command)),
    files.write(`${dir}/args`, terminated(plan.args)),
    files.write(`${dir}/hosts`, plan.hosts),
    files.write(`${dir}/seccomp`, plan.seccomp),
    ...Object.entries(plan.files).map(([name, text]) => files.write(`${dir}/${name}`, text)),
  ]);
}

const terminated = (words: readonly string[]): string => words.map((word) => `${word}\0`).join("");

/** Writes which control groups the cage joins: their folders. */
export async function writeGroupList(groups: readonly string[], dir: string, files: Files): Promise<void> {
  await files.write(`${dir}/groups`, terminated(groups));
}

/** Reads which control groups a cage joins, also after its host is gone. */
export async function readGroups(dir: string, files: Files): Promise<string[]> {
  const text = await files.readText(`${dir}/groups`).catch(() => "");
  // By name too: what stands here is emptied and removed.
  return text.split("\0").filter((group) => GROUP.test(group));
}

/** Returns the process id of the launcher, which bubblewrap keeps; 0 before it has come that far. */
export async function launcherPid(dir: string, files: Files): Promise<number> {
  return Number.parseInt(await files.readText(`${dir}/launcher`).catch(() => "")) || 0;
}

/** Bubblewrap's reports on the process inside. */
export interface CageStatus {
  /** Whether the launcher got as far as starting bubblewrap. */
  readonly launched: boolean;
  /** Process id outside the cage of the first process inside, or null when there is none yet. */
  readonly childPid: number | null;
  /** Number of the cage's own process namespace: it sets that process apart from a later one with the same id. */
  readonly pidNamespace: number | null;
  /** Exit code of the plugin, or null when it has not ended or never began. */
  readonly exitCode: number | null;
}

/** Reads bubblewrap's reports so far. */
export async function readStatus(dir: string, files: Files): Promise<CageStatus> {
  const text = await files.readText(`${dir}/status`).catch(() => null);
  const number = (name: string): number | null => {
    const found = new RegExp(`"${name}": *([0-9]+)`).exec(text ?? "")?.[1];
    return found === undefined ? null : Number(found);
  };
  return {
    launched: text !== null,
    childPid: number("child-pid"),
    pidNamespace: number("pid-namespace"),
    exitCode: number("exit-code"),
  };
}
