/**
 * Failures of the cage.
 *
 * @module
 */
import { type ErrorRow, row, rows } from "./row.ts";

export const CAGE_ERRORS: Readonly<Record<string, ErrorRow>> = {
  ...rows("cage", -32603, 502, {
    unsupported: ["This system cannot cage a plugin", "Use Linux with bubblewrap"],
    bwrap_missing: ["bubblewrap is not installed", "Install the package bubblewrap"],
    bwrap_untrusted: [
      "The bwrap file is not root's alone, or cannot be run",
      "Do what its hint says, or use the package",
    ],
    bwrap_old: ["This bubblewrap lacks a flag the cage needs", "Install bubblewrap 0.5 or newer"],
    bash_missing: ["The launcher needs bash", "Install the package bash"],
    apparmor: ["AppArmor keeps bwrap from making namespaces", "Add a profile with userns for bwrap"],
    userns_disabled: ["User namespaces are switched off", "Switch on the sysctl that is named"],
    nested: ["A container hides parts of /proc", "Run the container with an unmasked /proc"],
    no_permission: ["Deno was started without a permission that the host needs", "Add the flags that are named"],
    no_seccomp: ["The kernel takes no seccomp filter", "Use a kernel with CONFIG_SECCOMP_FILTER"],
    roots_unreadable: [
      "A file of trusted certificates cannot be read",
      "Correct SSL_CERT_FILE and NODE_EXTRA_CA_CERTS",
    ],
    path_vanished: ["A path went away while the plugin started", "Put it back and start again"],
    walls_missing: ["The program that started the plugin did not cage it", "Use the distribution's bubblewrap"],
    root_refused: ["Root's device nodes could not be kept from a plugin", "Run the host as an ordinary user"],
    setup_failed: ["bubblewrap could not build the cage", "Run kaged doctor"],
    limits_failed: ["The cage could not be held to its limits", "Run kaged doctor"],
    spawn_failed: ["The launcher could not be started", "Run kaged doctor"],
  }),
  "cage.path_swapped": row(-32001, 403, "A granted path changed while the plugin started", "Start it again"),
  ...rows("cage", -32602, 422, {
    command_missing: ["The plugin's command is not in the cage", "Correct command or add the grant"],
    js_missing: [
      "A compiled program found no JavaScript runtime for its plugins",
      "Set the option js, or install a runtime",
    ],
    js_unusable: [
      "The program named by js runs no JavaScript files, or is too old",
      "Name a Node, Bun or Deno that is new enough",
    ],
    command_shim: [
      "A program is a version manager's stand-in",
      "Name the program itself under runtimes in config.toml",
    ],
  }),
  "cage.limit_invalid": row(-32602, 400, "A limit is no number the kernel takes", "Correct limits in config.toml"),
};
