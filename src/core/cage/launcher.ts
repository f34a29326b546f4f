/**
 * The way from the host into a cage: a shell without environment and without inherited descriptors, which becomes
 * bubblewrap. The same on every runtime.
 *
 * Nothing of the host is in its arguments. Bubblewrap's orders lie in a folder of their own, which is the shell's
 * working directory: `orders` (control groups to join, their limits, bubblewrap and the plugin's command, its arguments),
 * `hosts`, `seccomp` and, for a network made before bubblewrap, `network`. There the shell leaves `status`: its process
 * ids, then bubblewrap's reports. The files are few because making one is dear: ext4 passes over each inode of a file that
 * was removed within the last minute.
 *
 * @module
 */
import type { Command, Files } from "../ports/ports.ts";
import type { CagePlan } from "./cage_plan.ts";
import type { GroupPlan } from "./limits/limit_parts.ts";
import { NETWORK_FILE, NETWORK_SPACES, OWN_NETWORK } from "./net/own_network.ts";
import { NSENTER, SEAL, UNSHARE } from "./sealed_nodes.ts";

/** Descriptor of the text of `/etc/hosts`. */
export const HOSTS_FD = 6;
/** Descriptor bubblewrap reports on. */
export const STATUS_FD = 7;
const ARGS_FD = 8;
/** Descriptor of the filter on system calls. */
export const SECCOMP_FD = 9;

/** Second argument of a launcher that waits for orders, or that keeps sealed nodes; see `ready_launcher.ts`. */
type Part = "wait" | "keep";
/** Written by such a launcher, as long as it waits or keeps: its process ids. */
export const READY_FILE = "ready";

/** Descriptors that each process of a cage may have. */
const MAX_DESCRIPTORS = 4096;

/** A control group of a cage. */
const GROUP = /^\/.*\/kaged_[^/]+$/;

/** Exit code of the shell when device nodes could not be made read-only. */
export const SEAL_FAILED = 124;
/** Exit code of the shell when it could not join the control groups of the cage, or not limit them. */
export const LIMITS_FAILED = 123;
/** How the shell ends when it cannot do its part, and what that part was. */
export const LAUNCHER_FAILURES: ReadonlyMap<number, string> = new Map([
  [121, "it could not see its own descriptors in /proc"],
  [122, "it could not read the files of the cage"],
  [125, "it could not prepare the network of the cage"],
]);

// Version 1 moves a thread that moves itself at once; for a whole process, and in version 2, it first waits for every
// processor, which takes some ten milliseconds.
// An inherited descriptor of a folder is a way out of the cage: all above 2 are closed. `exec -c` leaves bubblewrap an
// empty environment: what it has can be read inside as /proc/1/environ.
// The limit of descriptors bounds the work of the watchdog; where the host's own is lower, that one stays.
// What the shell reads of a file word by word it has not read beyond: bubblewrap finds its arguments where that ended.
// Bubblewrap lists the mounts of this namespace for each of its own, and copies them all: those of /sys, which no cage
// shows and which may be most of them, are left out of the namespace that cages share. Control groups are there, so a
// launcher finds them by way of its host.
// Told to wait, it prints a line when it does, and goes on at the first line on stdin, of which it takes not a byte more: the rest is the plugin's.
const SCRIPT = `${OWN_NETWORK}${SEAL}
umask 077
fds=(/proc/self/fd/*)
[[ -e \${fds[0]} ]] || exit 121
for path in "\${fds[@]}"; do
  fd=\${path##*/}
  if ((fd > 2)); then exec {fd}>&-; fi
done
around=
case $1 in
  seal) seal || exit ${SEAL_FAILED} ;;
  sealed) is_sealed || exit ${SEAL_FAILED}; around=/proc/$PPID/root ;;
esac
if [[ $2 == keep ]]; then /bin/umount -l /sys 2>/dev/null; fi
if [[ $2 != "" ]]; then
  exec ${STATUS_FD}>${READY_FILE} || exit 122
  echo "$$ $PPID" >&${STATUS_FD}
  echo
  read -r _ || exit 0
fi
if [[ -e ${NETWORK_FILE} ]]; then
  read -r network <${NETWORK_FILE} && own_network "$network" || exit 125
fi
exec ${ARGS_FD}<orders || exit 122
read_words() {
  local -n words=$1
  local count word
  words=()
  read -r -d '' -u ${ARGS_FD} count || exit 122
  while ((count-- > 0)); do
    IFS= read -r -d '' -u ${ARGS_FD} word || exit 122
    words+=("$word")
  done
}
read_words groups
read_words settings
read_words command
((\${#command[@]} > 0)) || exit 122
exec ${HOSTS_FD}<hosts ${STATUS_FD}>status ${SECCOMP_FD}<seccomp || exit 122
echo "$$ $PPID" >&${STATUS_FD} || exit 122
for ((at = 0; at < \${#settings[@]}; at += 3)); do
  { echo "\${settings[at + 1]}" >"$around\${settings[at]}"; } 2>/dev/null ||
    [[ \${settings[at + 2]} == optional ]] || exit ${LIMITS_FAILED}
done
for group in "\${groups[@]/#/"$around"}"; do
  if [[ -e $group/tasks ]]; then echo 0 >"$group/tasks"; else echo $$ >"$group/cgroup.procs"; fi || exit ${LIMITS_FAILED}
done
ulimit -c 0
ulimit -n ${MAX_DESCRIPTORS} 2>/dev/null
cd / && exec -c "\${command[@]}"
`;

/** How a launcher differs from that of an ordinary user's cage with a network of bubblewrap's. */
export interface LaunchOptions {
  readonly isRoot: boolean;
  readonly ownNetwork?: boolean;
  /** Process in whose mount namespace device nodes are sealed; null for a launcher of root that seals them for itself. */
  readonly keeper?: number | null;
  readonly part?: Part;
}

/**
 * Returns the command that starts the cage whose files lie in `dir`: for root in a mount namespace where device nodes are
 * sealed, and in a network of its own where bubblewrap is not to make it.
 */
export function launchCommand(
  bash: string,
  dir: string,
  { isRoot, ownNetwork = false, keeper = null, part }: LaunchOptions,
): Command {
  const seal = isRoot ? keeper === null ? "seal" : "sealed" : "";
  // --norc --noprofile: with a socket for stdin bash takes itself for a remote login and reads ~/.bashrc, uncaged.
  const shell = [bash, "--norc", "--noprofile", "-c", SCRIPT, "launcher", seal, ...(part ? [part] : [])] as const;
  // Slave: what the host unmounts later goes here too, instead of staying busy as long as the plugin runs.
  const mounts = seal === "seal" ? ["--mount", "--propagation", "slave"] : [];
  const spaces = [...(ownNetwork ? NETWORK_SPACES : []), ...mounts];
  const unshared = spaces.length > 0 ? [UNSHARE, ...spaces, "--", ...shell] as const : shell;
  const [file, ...args] = seal === "sealed"
    // The folder as it is now: entering a mount namespace leads to its root.
    ? [NSENTER, "--mount", "--target", `${keeper}`, "--wd=.", "--", ...unshared] as const
    : unshared;
  return { file, args, env: {}, cwd: dir };
}

/** Writes the orders of a cage; see {@link readGroups}. Three of their four parts begin with how many words they have. */
export async function writeOrders(
  plan: Pick<CagePlan, "bwrap" | "command" | "args">,
  { groups, dir, files }: { readonly groups: GroupPlan; readonly dir: string; readonly files: Files },
): Promise<void> {
  const { dirs } = groups;
  const settings = groups.settings.flatMap(({ path, value, optional }) => [path, value, optional ? "optional" : ""]);
  const command = [plan.bwrap, "--args", `${ARGS_FD}`, "--", ...plan.command];
  const counted = [dirs, settings, command].flatMap((words) => [`${words.length}`, ...words]);
  const words = [...counted, ...plan.args];
  await files.write(`${dir}/orders`, words.map((word) => `${word}\0`).join(""));
}

/** Writes the other files of the cage. */
export async function writeLaunchFiles(plan: CagePlan, dir: string, files: Files): Promise<void> {
  await Promise.all([
    writeShared(`${dir}/hosts`, plan.hosts, files),
    writeShared(`${dir}/seccomp`, plan.seccomp, files),
    ...Object.entries(plan.files).map(([name, text]) => files.write(`${dir}/${name}`, text)),
  ]);
}

/** Files of cages that may still be there, by content. No cage can see them, so none has changed them. */
const written = new Map<string, string>();
/** Contents that are remembered: those of gated cages differ from each other. */
const MAX_WRITTEN = 16;

/** Writes a file, as another name of an equal one of another cage where there is one. */
async function writeShared(path: string, content: string | Uint8Array, files: Files): Promise<void> {
  const key = typeof content === "string" ? content : content.join();
  const equal = written.get(key);
  if (equal !== undefined && await files.link(equal, path).then(() => true, () => false)) return;
  await files.write(path, content);
  if (written.size >= MAX_WRITTEN) written.clear();
  written.set(key, path);
}

/** Reads which control groups a cage joins, also after its host is gone. */
export async function readGroups(dir: string, files: Files): Promise<string[]> {
  const words = (await files.readText(`${dir}/orders`).catch(() => "")).split("\0");
  // By name too: what stands here is emptied and removed.
  return words.slice(1, 1 + Number(words[0])).filter((group) => GROUP.test(group));
}

/** Returns the process ids of the launcher, which bubblewrap keeps, and of its host; null before it has come that far. */
export async function launcherIds(
  dir: string,
  files: Files,
  name: "status" | typeof READY_FILE = "status",
): Promise<{ readonly launcher: number; readonly host: number } | null> {
  const [, launcher, host] = /^(\d+) (\d+)\n/.exec(await files.readText(`${dir}/${name}`).catch(() => "")) ?? [];
  return launcher === undefined ? null : { launcher: Number(launcher), host: Number(host) };
}

/** Bubblewrap's reports on the process inside. */
export interface CageStatus {
  /** Process id of the launcher, which bubblewrap keeps; 0 before it has come that far. */
  readonly launcher: number;
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
    launcher: Number.parseInt(text ?? "") || 0,
    launched: text !== null,
    childPid: number("child-pid"),
    pidNamespace: number("pid-namespace"),
    exitCode: number("exit-code"),
  };
}
