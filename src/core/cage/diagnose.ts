/**
 * Tells a cage that could not be built from a plugin that ended, and says what to do about it.
 *
 * @module
 */
import { HostError, type HostErrorCode } from "../errors/host_error.ts";
import type { Exit, Files } from "../ports/ports.ts";
import { type CageStatus, LAUNCHER_FAILURES } from "./launcher.ts";

/** What is known of a start that ended. */
export interface Ended {
  /** How the launcher, or bubblewrap in its place, ended. */
  readonly exit: Exit;
  /** What bubblewrap said. */
  readonly status: CageStatus;
  /** Last lines on stderr. */
  readonly stderr: readonly string[];
}

/** Returns the failure of the cage itself, or null when it stood and the plugin ended. */
export async function diagnose({ exit, status, stderr }: Ended, files: Files): Promise<HostError | null> {
  if (status.exitCode !== null || exit.signal !== null) return null;
  const said = stderr.findLast((line) => line.startsWith("bwrap: "));
  if (said !== undefined) return await fromBwrap(said.slice("bwrap: ".length), files);
  const part = LAUNCHER_FAILURES.get(exit.code ?? 0);
  const why = part ?? (stderr.at(-1) || `the launcher ended with exit code ${exit.code}`);
  // Bubblewrap reports each exit of a plugin it started; without a report none was started.
  return new HostError("cage.setup_failed", `Cannot build the cage: ${why}`, {
    data: { exit_code: exit.code, stderr: stderr.slice(-5) },
    hint: "Run kaged doctor",
  });
}

async function fromBwrap(said: string, files: Files): Promise<HostError> {
  const failure = (code: HostErrorCode, hint: string): HostError =>
    new HostError(code, `Cannot build the cage: ${said}`, { data: { bwrap: said }, hint });

  const path = /^Can't find source path ([^:]+)/.exec(said)?.[1];
  if (path !== undefined) return failure("cage.path_vanished", `Put "${path}" back and start again`);
  if (said.startsWith("execvp ")) {
    return failure("cage.command_missing", "Correct command in kaged-plugin.yaml, or grant its program with exec:");
  }
  if (/Can't mount proc/.test(said)) {
    return failure("cage.nested", "Run the container with an unmasked /proc, or the host outside of it");
  }
  if (/PR_SET_SECCOMP/.test(said)) return failure("cage.no_seccomp", "Use a kernel with CONFIG_SECCOMP_FILTER");
  if (!/uid map|RTM_NEWADDR|new namespace|namespaces exceeded|unshare|uid_map/.test(said)) {
    return failure("cage.setup_failed", "Run kaged doctor");
  }
  if (await setting("kernel/apparmor_restrict_unprivileged_userns", files) === "1") {
    return failure("cage.apparmor", "Add an AppArmor profile for bwrap that allows userns; see kaged doctor");
  }
  const closed = await closedSetting(files);
  const hint = closed ? `Switch it on: sysctl -w ${closed}` : "Allow user namespaces for the user that runs the host";
  return failure("cage.userns_disabled", hint);
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
