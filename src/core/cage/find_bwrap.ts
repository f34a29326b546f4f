/**
 * Finds a bubblewrap that nobody but the system's administrator can change.
 *
 * @module
 */
import { HostError, messageOf } from "../errors/host_error.ts";
import type { FileInfo, Files, Runtime } from "../ports/ports.ts";
import type { CageRequest } from "./cage.ts";
import type { Bwrap } from "./cage_plan.ts";
import { outputOf } from "./output_of.ts";

const PATHS = ["/usr/bin/bwrap", "/usr/local/bin/bwrap"];

/** Flags no cage can do without. `--disable-userns` and `--size` are used when they are there. */
const REQUIRED_FLAGS = [
  ...["--args", "--bind", "--cap-drop", "--chdir", "--clearenv", "--dev", "--dev-bind", "--die-with-parent"],
  ...["--dir", "--gid"],
  ...["--hostname", "--json-status-fd", "--new-session", "--perms", "--proc", "--remount-ro", "--ro-bind"],
  ...["--ro-bind-data", "--ro-bind-try", "--seccomp", "--setenv", "--symlink", "--tmpfs", "--uid"],
  ...["--unshare-cgroup-try", "--unshare-ipc", "--unshare-net", "--unshare-pid", "--unshare-user", "--unshare-uts"],
];

/** Flags by file: asking costs a process, and a file that did not change gives the same answer. */
const known = new Map<string, Promise<ReadonlySet<string>>>();

/**
 * Returns the bubblewrap to use: the one of the `bwrap` setting, else the system's.
 *
 * @throws {HostError} `cage.bwrap_missing`, `cage.bwrap_untrusted` or `cage.bwrap_old`.
 */
export async function findBwrap(runtime: Runtime, settings: CageRequest["runtimes"] = {}): Promise<Bwrap> {
  const candidates = settings.bwrap === undefined ? PATHS : [settings.bwrap];
  for (const candidate of candidates) {
    const info = await runtime.files.target(candidate);
    if (!info) continue;
    const path = await runtime.files.realPath(candidate);
    await refuseUntrusted(path, info, runtime.files);
    return { path, flags: await flagsOf(path, info, runtime) };
  }
  throw new HostError("cage.bwrap_missing", `Cannot cage plugins: no bubblewrap at ${candidates.join(" or ")}`, {
    data: { searched: candidates },
    hint: "Install the package bubblewrap, for example: apt-get install bubblewrap",
  });
}

/** Shown as the owner of a file whose owner the host's user namespace does not map. */
const UNMAPPED_UID = 65_534;
const ALL_USERS = /^\s*0\s+0\s+4294967295\s*$/;

async function refuseUntrusted(path: string, { kind, mode, uid }: FileInfo, files: Files): Promise<void> {
  const isUnmapped = uid === UNMAPPED_UID &&
    !ALL_USERS.test(await files.readText("/proc/self/uid_map").catch(() => ""));
  const faults: readonly (readonly [boolean, string, string])[] = [
    [kind !== "file", "is no file", "Use the distribution's package bubblewrap"],
    [
      isUnmapped,
      "belongs to a user that the host's user namespace does not map: whether that is root cannot be seen",
      "Run the host outside that namespace (unshare, a rootless container), or map more than one user into it",
    ],
    [uid !== 0, "does not belong to root", `Use the distribution's package, or run as root: chown root "${path}"`],
    [
      (mode & 0o6000) !== 0,
      "runs with more rights than its caller (setuid)",
      `Where user namespaces are on it needs none. Run as root: chmod ug-s "${path}"`,
    ],
    [(mode & 0o022) !== 0, "can be changed by others than root", `Run as root: chmod go-w "${path}"`],
    [(mode & 0o111) === 0, "may not be executed", `Run as root: chmod a+x "${path}"`],
  ];
  const [, reason, hint = ""] = faults.find(([isSo]) => isSo) ?? [];
  if (reason === undefined) return;
  throw new HostError("cage.bwrap_untrusted", `Cannot cage plugins: "${path}" ${reason}`, {
    data: { path, mode: mode.toString(8), uid },
    hint,
  });
}

async function flagsOf(path: string, info: FileInfo, runtime: Runtime): Promise<ReadonlySet<string>> {
  const key = [path, info.dev, info.ino, info.size, info.modifiedMs].join("\n");
  const asked = known.get(key) ?? askFlags(path, runtime);
  known.set(key, asked);
  try {
    return await asked;
  } catch (error) {
    known.delete(key);
    throw error;
  }
}

async function askFlags(path: string, runtime: Runtime): Promise<ReadonlySet<string>> {
  const help = await outputOf(runtime, path, ["--help"]).catch((cause) => {
    throw new HostError("cage.setup_failed", `Cannot run "${path}": ${messageOf(cause)}`, {
      cause,
      hint: `Let the host's user execute it, on a file system that is not mounted noexec: chmod a+x "${path}"`,
    });
  });
  const flags = new Set(help.match(/--[a-z][a-z0-9-]+/g) ?? []);
  const absent = REQUIRED_FLAGS.filter((flag) => !flags.has(flag));
  if (absent.length === 0) return flags;
  throw new HostError("cage.bwrap_old", `Cannot cage plugins: "${path}" does not know ${absent.join(", ")}`, {
    data: { path, absent },
    hint: "Install bubblewrap 0.5 or newer; 0.12 or a patched build is advised",
  });
}
