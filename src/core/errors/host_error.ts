/**
 * Every failure the host reports, in one table: the code a program matches on, the number it travels under, the HTTP
 * status, and for a person its cause and its fix.
 *
 * @module
 */
import { ADDONS_ERRORS } from "./addons.ts";
import { AUDIT_ERRORS } from "./audit.ts";
import { CAGE_ERRORS } from "./cage.ts";
import { CHECK_ERRORS } from "./check.ts";
import { HOOK_ERRORS } from "./hook.ts";
import { HOOKSPEC_ERRORS } from "./hookspec.ts";
import { HOST_ERRORS } from "./host.ts";
import { HTTP_ERRORS } from "./http.ts";
import { INSTALL_ERRORS } from "./install.ts";
import { JOBS_ERRORS } from "./jobs.ts";
import { MANIFEST_ERRORS } from "./manifest.ts";
import { MCP_ERRORS } from "./mcp.ts";
import { MCP_ADD_ERRORS } from "./mcp_add.ts";
import { PLUGIN_ERRORS } from "./plugin.ts";
import { PROJECT_ERRORS } from "./project.ts";
import { PROTOCOL_ERRORS } from "./protocol.ts";
import { STORAGE_ERRORS } from "./storage.ts";
import type { HostErrorCode } from "./generated/codes.ts";
import type { ErrorRow } from "./row.ts";

export type { ErrorRow, HostErrorCode };

/** The error table, room by room: a new failure is a new row in `errors/<room>.ts`. */
export const ERRORS: Readonly<Record<HostErrorCode, ErrorRow>> = {
  ...HOST_ERRORS,
  ...PROTOCOL_ERRORS,
  ...PLUGIN_ERRORS,
  ...STORAGE_ERRORS,
  ...CAGE_ERRORS,
  ...MANIFEST_ERRORS,
  ...PROJECT_ERRORS,
  ...CHECK_ERRORS,
  ...HOOKSPEC_ERRORS,
  ...HOOK_ERRORS,
  ...MCP_ERRORS,
  ...MCP_ADD_ERRORS,
  ...INSTALL_ERRORS,
  ...HTTP_ERRORS,
  ...JOBS_ERRORS,
  ...AUDIT_ERRORS,
  ...ADDONS_ERRORS,
} as Readonly<Record<HostErrorCode, ErrorRow>>;

/** Narrows a text that came from elsewhere, such as another process, to a code of the table. */
export function isErrorCode(code: unknown): code is HostErrorCode {
  return typeof code === "string" && Object.hasOwn(ERRORS, code);
}

/** The parts of an error beside its message. */
export interface HostErrorOptions {
  /** Facts for a program, in JSON. */
  readonly data?: unknown;
  /** The next step, for a person. */
  readonly hint?: string;
  /** The original failure, for logs and debuggers. */
  readonly cause?: unknown;
  /** The JSON-RPC number, where the other side chose one that differs from the table's. */
  readonly rpc?: number;
}

/** The one error class callers catch. */
export class HostError extends Error {
  /** The row of the table: `<family>.<reason>`. A `switch` over it narrows. */
  readonly code: HostErrorCode;
  /** JSON-RPC error number: the table's, unless the other side sent one. */
  readonly rpc: number;
  /** HTTP status under which the HTTP API answers with this error. */
  readonly http: number;
  /** The next step, for a person. */
  readonly hint?: string;
  /** Facts for a program, in JSON. */
  readonly data?: unknown;

  static {
    // On the prototype it is in the stack from the start, and a bundler that renames the class changes no trace.
    this.prototype.name = "HostError";
    Object.defineProperty(this, "name", { value: "HostError" });
  }

  /** Makes an error of the table: message for a person, data for a program, hint for the next step. */
  constructor(code: HostErrorCode, message: string, options: HostErrorOptions = {}) {
    const known = ERRORS[code];
    if (known === undefined) throw new TypeError(`No row "${code}" in the error table`);
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
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
