/**
 * Finds out why a caged program ended: its cage could not be built, a limit was exceeded, or it ended by itself.
 *
 * @module
 */
import { HostError, type HostErrorCode } from "../errors/host_error.ts";
import type { Exit, Files } from "../ports/ports.ts";
import { type CageStatus, LAUNCHER_FAILURES, LIMITS_FAILED, SEAL_FAILED } from "./launcher.ts";
import type { CageLimits } from "./limits/cage_limits.ts";
import { wasOutOfMemory } from "./limits/control_group.ts";
import type { Watchdog } from "./limits/watchdog.ts";
import { rootRefused } from "./sealed_nodes.ts";

/** Bubblewrap's exit code for a program that SIGKILL ended. */
const KILLED = 128 + 9;

export interface Ended {
  /** The end of the launcher, or of bubblewrap in its place. */
  readonly exit: Exit;
  readonly status: CageStatus;
  /** The newest lines of stderr, oldest first. */
  readonly stderr: readonly string[];
  /** Whether root runs the host. */
  readonly isRoot: boolean;
}

/** Returns the failure of the cage itself, or null when it stood and the plugin ended. */
export async function diagnose({ exit, status, stderr, isRoot }: Ended, files: Files): Promise<HostError | null> {
  if (status.exitCode !== null || exit.signal !== null) return null;
  const said = stderr.findLast((line) => line.startsWith("bwrap: "));
  if (said !== undefined) return await fromBwrap(said.slice("bwrap: ".length), files);
  const unsealed = stderr.find((line) => /^(unshare|mount): /.test(line));
  if (!isRoot && unsealed !== undefined && !status.launched) return await fromBwrap(unsealed, files);
  if (!status.launched && (exit.code === SEAL_FAILED || unsealed?.startsWith("unshare"))) {
    return rootRefused(unsealed ?? "the device nodes cannot be made read-only");
  }
  if (exit.code === LIMITS_FAILED) {
    const why = "its launcher could not join its control groups, or not limit them";
    const data = { stderr: stderr.slice(-5) };
    return new HostError("cage.limits_failed", `Cannot limit the cage: ${why}`, { data, hint: "Run kaged doctor" });
  }
  const part = LAUNCHER_FAILURES.get(exit.code ?? 0);
  const why = part ?? (stderr.at(-1) || `the launcher ended with exit code ${exit.code}`);
  // Bubblewrap reports each exit of a plugin it started; without a report none was started.
  return new HostError("cage.setup_failed", `Cannot build the cage: ${why}`, {
    data: { exit_code: exit.code, stderr: stderr.slice(-5) },
    hint: "Run kaged doctor",
  });
}

/** Returns the limit that ended the program, as an error, or null. */
export async function limitFailure(
  exit: Exit,
  { limits, groups, watchdog }: {
    readonly limits: CageLimits;
    /** Folders of its control groups. */
    readonly groups: readonly string[];
    readonly watchdog: Watchdog | null;
  },
  files: Files,
): Promise<HostError | null> {
  if (exit.signal !== "SIGKILL" && exit.code !== KILLED) return null;
  const limit = watchdog?.exceeded() ?? (await wasOutOfMemory(groups, files) ? "memory" : null);
  if (limit === null) return null;
  const { memory_mb, pids } = limits;
  const exceeded = (code: HostErrorCode, what: string, data: Partial<CageLimits>): HostError =>
    new HostError(code, `[BLOCKED] The plugin ${what}`, {
      data,
      hint: `Mend the plugin, or raise ${Object.keys(data)} under limits in config.toml`,
    });
  return limit === "memory"
    ? exceeded("plugin.memory_exceeded", `used more than its ${memory_mb} MiB of memory`, { memory_mb })
    : exceeded("plugin.pids_exceeded", `had more than its ${pids} processes and threads`, { pids });
}

/** Words of bubblewrap, the failure they stand for, and the next step. */
const BWRAP_FAILURES: readonly (readonly [RegExp, HostErrorCode, string])[] = [
  [/^execvp /, "cage.command_missing", "Correct command in kaged-plugin.yaml, or grant its program with exec:"],
  [/Can't mount proc/, "cage.nested", "Run the container with an unmasked /proc, or the host outside of it"],
  [/PR_SET_SECCOMP/, "cage.no_seccomp", "Use a kernel with CONFIG_SECCOMP_FILTER"],
];

/** The next step where the kernel would give namespaces, and still none is to be had. */
const AROUND = "No setting of this kernel is off: a container, sandbox or service around the host forbids user " +
  "namespaces. Allow them there (docker: --security-opt seccomp=unconfined; systemd: RestrictNamespaces=no), or run " +
  "the host outside of it";

async function fromBwrap(said: string, files: Files): Promise<HostError> {
  const failure = (code: HostErrorCode, hint: string): HostError =>
    new HostError(code, `Cannot build the cage: ${said}`, { data: { bwrap: said }, hint });

  const path = /^Can't find source path ([^:]+)/.exec(said)?.[1];
  if (path !== undefined) return failure("cage.path_vanished", `Put "${path}" back and start again`);
  const known = BWRAP_FAILURES.find(([pattern]) => pattern.test(said));
  if (known) return failure(known[1], known[2]);
  if (!/uid map|RTM_NEWADDR|new namespace|namespaces exceeded|unshare|uid_map/.test(said)) {
    return failure("cage.setup_failed", "Run kaged doctor");
  }
  if (await setting("kernel/apparmor_restrict_unprivileged_userns", files) === "1") {
    return failure("cage.apparmor", "Add an AppArmor profile for bwrap that allows userns; see kaged doctor");
  }
  const closed = await closedSetting(files);
  return failure("cage.userns_disabled", closed ? `Switch it on: sysctl -w ${closed}` : AROUND);
}

/** The sysctl that keeps user namespaces closed, with a value that opens them. */
async function closedSetting(files: Files): Promise<string | null> {
  if (await setting("kernel/unprivileged_userns_clone", files) === "0") return "kernel.unprivileged_userns_clone=1";
  for (const kind of ["user", "pid", "net", "ipc", "uts", "mnt"]) {
    if (await setting(`user/max_${kind}_namespaces`, files) === "0") return `user.max_${kind}_namespaces=10000`;
  }
  return null;
}

async function setting(name: string, files: Files): Promise<string | null> {
  return await files.readText(`/proc/sys/${name}`).then((text) => text.trim(), () => null);
}
