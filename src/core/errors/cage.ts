/**
 * Failures of the cage.
 *
 * @module
 */
import { type ErrorRow, row } from "./row.ts";

/** The rows. */
export const CAGE_ERRORS: Readonly<Record<string, ErrorRow>> = {
  "cage.unsupported": row(-32603, 502, "This system cannot cage a plugin", "Use Linux with bubblewrap"),
  "cage.bwrap_missing": row(-32603, 502, "bubblewrap is not installed", "Install the package bubblewrap"),
  "cage.bwrap_untrusted": row(
    -32603,
    502,
    "The bwrap file could be changed by others",
    "Use the distribution's package",
  ),
  "cage.bwrap_old": row(-32603, 502, "This bubblewrap lacks a flag the cage needs", "Install bubblewrap 0.5 or newer"),
  "cage.bash_missing": row(-32603, 502, "The launcher needs bash", "Install the package bash"),
  "cage.apparmor": row(
    -32603,
    502,
    "AppArmor keeps bwrap from making namespaces",
    "Add a profile with userns for bwrap",
  ),
  "cage.userns_disabled": row(-32603, 502, "User namespaces are switched off", "Switch on the sysctl that is named"),
  "cage.nested": row(-32603, 502, "A container hides parts of /proc", "Run the container with an unmasked /proc"),
  "cage.no_permission": row(-32603, 502, "The runtime keeps the host from looking into /proc", "Start Deno with -A"),
  "cage.no_seccomp": row(-32603, 502, "The kernel takes no seccomp filter", "Use a kernel with CONFIG_SECCOMP_FILTER"),
  "cage.path_vanished": row(-32603, 502, "A path went away while the plugin started", "Put it back and start again"),
  "cage.walls_missing": row(
    -32603,
    502,
    "The program that started the plugin did not cage it",
    "Use the distribution's bubblewrap",
  ),
  "cage.path_swapped": row(-32001, 403, "A granted path changed while the plugin started", "Start it again"),
  "cage.command_missing": row(
    -32602,
    422,
    "The plugin's command is not in the cage",
    "Correct command or add the grant",
  ),
  "cage.command_shim": row(
    -32602,
    422,
    "A program is a version manager's stand-in",
    "Name the program itself under runtimes in config.toml",
  ),
  "cage.setup_failed": row(-32603, 502, "bubblewrap could not build the cage", "Run kaged doctor"),
  "cage.limits_failed": row(-32603, 502, "The cage could not be held to its limits", "Run kaged doctor"),
  "cage.limit_invalid": row(-32602, 400, "A limit is no number the kernel takes", "Correct limits in config.toml"),
  "cage.spawn_failed": row(-32603, 502, "The launcher could not be started", "Run kaged doctor"),
};
