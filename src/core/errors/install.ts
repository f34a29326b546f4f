/**
 * Failures of installing, upgrading and uninstalling.
 *
 * @module
 */
import { type ErrorRow, row, rows } from "./row.ts";

export const INSTALL_ERRORS: Readonly<Record<string, ErrorRow>> = {
  "install.source_invalid": row(-32602, 400, "The source is no path and no address", "Name a folder or https://…"),
  "install.source_missing": row(-32602, 404, "No folder is at the path", "Name the folder that holds the plugin"),
  ...rows("install", -32602, 403, {
    source_outside: [
      "A project's source leads out of the project",
      "Move the plugin into the project, or install it by hand",
    ],
    http_refused: [
      "Plain http is for this machine only, and only when asked for",
      "Use https, or allow http for a loopback address",
    ],
    consent_missing: ["A capability was not granted by name", "Grant each, or none"],
    declined: ["The operator said no", "Nothing, if it was meant"],
  }),
  "install.source_unspecified": row(-32602, 409, "The project names no source", "Install the plugin from a folder"),
  "install.source_unreachable": row(-32603, 502, "The address could not be fetched", "Try again, or use a folder"),
  "install.git_missing": row(-32603, 500, "There is no git to fetch with", "Install git, or install from a folder"),
  "install.release_missing": row(-32602, 404, "No tag of the repository fits", "Ask for a release that has a tag"),
  "install.archive_invalid": row(-32602, 422, "An archive cannot be unpacked safely", "Install the unpacked folder"),
  "install.unreadable": row(-32603, 500, "A file of the plugin cannot be read", "Check its permissions"),
  "install.too_large": row(-32602, 413, "The plugin is larger than it may be", "Remove what it does not need"),
  "install.link_outside": row(-32602, 422, "A link in the plugin leads out of it", "Ask the author to remove it"),
  "install.special_file": row(-32602, 422, "The plugin holds a pipe, a device or a socket", "Remove it"),
  "install.changed": row(-32603, 409, "The plugin changed after it was shown", "Look at it again, then decide"),
  "install.name_taken": row(-32602, 409, "Another plugin has that name", "Uninstall that one first"),
  "install.capability_unknown": row(
    -32602,
    422,
    "The plugin does not ask for a capability",
    "Withhold one that it asks for",
  ),
  "install.withhold_granted": row(-32602, 422, "A capability is granted and withheld at once", "Answer once for each"),
  "install.version_unfit": row(-32602, 422, "The version is not the one asked for", "Take another source or range"),
  "install.no_space": row(-32603, 507, "The disk is full", "Make room and try again: nothing was changed"),
  "install.unfinished": row(-32603, 500, "A change was begun and could not be finished", "Run any command again"),
  "install.upgrade_failed": row(
    -32603,
    409,
    "The new version of a plugin could not start",
    "Mend it, or stay with the old one",
  ),
  "install.busy": row(-32603, 409, "Another command is changing the operator's folder", "Try again when it is done"),
  "install.sessions_active": row(-32603, 409, "Sessions use the plugin", "Stop sessions first, or use --force"),
  "consent.unknown": row(-32602, 404, "No such request waits for consent", "Look at the list of requests"),
};
