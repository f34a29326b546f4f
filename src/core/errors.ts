/**
 * Every failure the host reports, in one table: the code a program matches on, the number it travels under, the HTTP
 * status, and what a person should know about its cause and its fix.
 *
 * @module
 */

/** What one failure means, on the wire, over HTTP and to a person. */
export interface ErrorRow {
  /** JSON-RPC error number. */
  readonly rpc: number;
  /** HTTP status. */
  readonly http: number;
  /** Why it happens. */
  readonly cause: string;
  /** What to do about it. */
  readonly fix: string;
}

const row = (rpc: number, http: number, cause: string, fix: string): ErrorRow => ({ rpc, http, cause, fix });

/** The error table: a new failure is a new row. */
export const ERRORS: Readonly<Record<string, ErrorRow>> = {
  "host.internal": row(-32603, 500, "The host broke one of its own rules", "Report it with the message and the steps"),
  "host.misuse": row(-32602, 400, "A command or a call was given arguments it does not take", "Read the usage"),
  "host.file_unreadable": row(-32603, 500, "A file could not be read or written", "Check the path and its permissions"),

  "protocol.parse": row(-32700, 400, "A line is not JSON", "Write one JSON object per line on stdout; log to stderr"),
  "protocol.invalid": row(-32600, 400, "A line is JSON but no JSON-RPC 2.0 message", "Send one request or response"),
  "protocol.batch": row(-32600, 400, "A line holds a JSON array", "Send each message on a line of its own"),
  "protocol.method_unknown": row(-32601, 404, "The method does not exist", "Call a method the other side declares"),
  "protocol.params_invalid": row(
    -32602,
    400,
    "The method does not take these params",
    "Send what the method documents",
  ),
  "protocol.internal": row(-32603, 502, "The other side failed in an unspecified way", "Read the plugin's log"),
  "protocol.oversize_message": row(-32603, 502, "A line is longer than 4 MiB", "Split the message or send less"),
  "protocol.busy": row(-32005, 409, "The other side has stopped reading", "Try again once it has caught up"),
  "protocol.closed": row(-32603, 502, "The connection ended before the answer came", "Try again once the plugin runs"),
  "protocol.timeout": row(
    -32603,
    502,
    "No answer came in time",
    "Raise the timeout, or report progress from the plugin",
  ),
  "protocol.cancelled": row(-32603, 499, "The caller cancelled the call", "Nothing, unless it was not meant"),
  "protocol.unserializable": row(-32602, 400, "A value cannot be written as JSON", "Send plain JSON values"),
  "protocol.violation": row(-32600, 502, "A plugin broke the order of the protocol", "Stay silent until initialize"),

  "plugin.error": row(-32000, 422, "The plugin reported an error of its own", "Read the message and its data"),
  "plugin.capability_denied": row(
    -32001,
    403,
    "The plugin was not granted this",
    "Declare the capability and ask again",
  ),
  "plugin.not_initialized": row(-32002, 409, "The handshake is not complete", "Wait for initialized"),
  "plugin.storage_denied": row(-32003, 403, "Storage outside the plugin's own tables", "Use the plugin's own tables"),
  "plugin.config_invalid": row(-32004, 422, "The plugin refused its configuration", "Correct the configuration"),
  "plugin.not_applicable": row(-32006, 409, "The method does not apply here", "Call it from where it applies"),
  "plugin.unavailable": row(-32603, 502, "The plugin is not running", "See kaged plugin check, then enable it again"),
  "plugin.unknown": row(-32602, 404, "No plugin of that name is registered", "Look at the list of plugins"),
  "plugin.duplicate": row(-32602, 409, "Two plugins have one instance id", "Give each plugin a name of its own"),
  "plugin.context_partial": row(-32603, 500, "A call context is half set", "Set project, agent and session together"),

  "initialize.timeout": row(-32603, 502, "The plugin did not answer initialize in 10 s", "Answer it first"),
  "initialize.malformed": row(
    -32600,
    502,
    "The answer to initialize is not what the contract says",
    "See the wire guide",
  ),
  "initialize.refused": row(-32603, 502, "The plugin answered initialize with an error", "Read its message"),
  "initialize.name_mismatch": row(-32600, 502, "Manifest and process disagree on the name", "Use one name"),
  "initialize.version_mismatch": row(-32600, 502, "Manifest and process disagree on the version", "Use one version"),
  "initialize.api_mismatch": row(-32600, 502, "The plugin speaks another API version", "Build it for this API version"),
  "initialize.capability_overreach": row(-32001, 403, "The plugin claims more than its manifest", "Declare it"),

  "manifest.missing": row(-32602, 400, "The folder holds no kaged-plugin.yaml", "Run kaged plugin new"),
  "manifest.invalid": row(-32602, 400, "The manifest breaks the rules listed", "Correct each listed place"),

  "capability.invalid": row(-32602, 400, "A capability does not follow the grammar", "See the capabilities guide"),
  "capability.path_missing": row(-32602, 400, "A granted path does not exist", "Create it or drop the grant"),
  "capability.path_forbidden": row(-32001, 403, "A granted path may never be granted", "Grant a narrower path"),
  "capability.symlink_escape": row(-32001, 403, "A granted path leads elsewhere", "Grant the resolved path"),
  "capability.special_file": row(-32001, 403, "A granted path is no file or folder", "Grant a file or a folder"),

  "cage.unsupported": row(-32603, 502, "This system cannot cage a plugin", "Use Linux with bubblewrap"),
  "cage.bwrap_missing": row(-32603, 502, "bubblewrap is not installed", "Install the package bubblewrap"),
  "cage.bwrap_untrusted": row(
    -32603,
    502,
    "The bwrap file could be changed by others",
    "Use the distribution's package",
  ),
  "cage.bwrap_old": row(-32603, 502, "This bubblewrap lacks a flag the cage needs", "Install bubblewrap 0.5 or newer"),
  "cage.apparmor": row(
    -32603,
    502,
    "AppArmor keeps bwrap from making namespaces",
    "Add a profile with userns for bwrap",
  ),
  "cage.userns_disabled": row(-32603, 502, "User namespaces are switched off", "Switch on the sysctl that is named"),
  "cage.nested": row(-32603, 502, "A container hides parts of /proc", "Run the container with an unmasked /proc"),
  "cage.no_seccomp": row(-32603, 502, "The kernel takes no seccomp filter", "Use a kernel with CONFIG_SECCOMP_FILTER"),
  "cage.path_vanished": row(-32603, 502, "A path went away while the plugin started", "Put it back and start again"),
  "cage.path_swapped": row(-32001, 403, "A granted path changed while the plugin started", "Start it again"),
  "cage.command_missing": row(
    -32602,
    422,
    "The plugin's command is not in the cage",
    "Correct command or add the grant",
  ),
  "cage.setup_failed": row(-32603, 502, "bubblewrap could not build the cage", "Run kaged doctor"),
  "cage.spawn_failed": row(-32603, 502, "The launcher could not be started", "Run kaged doctor"),
};

/** What an error carries beside its message. */
export interface HostErrorOptions {
  /** Facts for a program, in JSON. */
  readonly data?: unknown;
  /** The next step, for a person. */
  readonly hint?: string;
  /** The original failure. */
  readonly cause?: unknown;
  /** The JSON-RPC number, where the other side chose one that differs from the table's. */
  readonly rpc?: number;
}

/** The one error class callers catch. */
export class HostError extends Error {
  /** Which failure this is: `<room>.<reason>`. */
  readonly code: string;
  /** JSON-RPC error number. */
  readonly rpc: number;
  /** HTTP status. */
  readonly http: number;
  /** The next step, for a person. */
  readonly hint?: string;
  /** Facts for a program, in JSON. */
  readonly data?: unknown;

  /** Makes an error of the table: message for a person, data for a program, hint for the next step. */
  constructor(code: string, message: string, options: HostErrorOptions = {}) {
    const known = ERRORS[code];
    if (!known) throw new TypeError(`No row "${code}" in the error table`);
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "HostError";
    this.code = code;
    this.rpc = options.rpc ?? known.rpc;
    this.http = known.http;
    if (options.hint !== undefined) this.hint = options.hint;
    if (options.data !== undefined) this.data = options.data;
  }
}

/** Returns the message of anything that was thrown. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** Returns `thrown` itself when it is a {@link HostError}, else a `host.internal` that keeps it as cause. */
export function asHostError(thrown: unknown): HostError {
  return thrown instanceof HostError ? thrown : new HostError("host.internal", messageOf(thrown), { cause: thrown });
}
