/**
 * Which failures are final, and which of them have an audit event of their own.
 *
 * @module
 */
import type { Audit, AuditSubject } from "../audit/audit.ts";
import type { HostError } from "../errors/host_error.ts";
import { API_VERSION } from "../values/version.ts";
import { HANDSHAKE_TIMEOUT_MS } from "./handshake.ts";
import type { Ending } from "./plugin_process.ts";

const FINAL_ROOMS = ["manifest.", "capability.", "cage.", "mcp."];
const FINAL_CODES = new Set([
  "initialize.name_mismatch",
  "initialize.version_mismatch",
  "initialize.api_mismatch",
  "initialize.capability_overreach",
  "initialize.malformed",
  "protocol.violation",
  "plugin.config_invalid",
  "plugin.tampered",
]);

/** Whether another start would fail in the same way: a lie, a broken manifest, changed files, a cage that cannot be built. */
export function isFinal({ code }: HostError): boolean {
  return FINAL_CODES.has(code) || FINAL_ROOMS.some((room) => code.startsWith(room));
}

/** Emits the events of a process that ended. That it was killed was told when it was. */
export function auditEnding({ exit, error, kind, lastStderr }: Ending, audit: Audit, subject: AuditSubject): void {
  const { code: exit_code, signal } = exit;
  const last_stderr = [...lastStderr];
  if (kind === "stopped") return audit.emit("plugin.stopped", subject, { exit_code, signal });
  if (kind === "killed") return;
  auditRefusal(error, audit, subject);
  if (exit_code === 0) return audit.emit("plugin.exited", subject, { exit_code, last_stderr });
  audit.emit("plugin.crashed", subject, { exit_code, signal, reason: error.code, last_stderr });
}

/** Emits the event of a failed handshake, where that failure has one. */
function auditRefusal(error: HostError, audit: Audit, subject: AuditSubject): void {
  const { claimed, expected, allowed } = (error.data ?? {}) as Record<string, unknown>;
  switch (error.code) {
    case "initialize.timeout":
      return audit.emit("plugin.initialize_timeout", subject, { timeout_ms: HANDSHAKE_TIMEOUT_MS });
    case "initialize.name_mismatch":
      return audit.emit("plugin.name_mismatch", subject, { claimed, expected: String(expected) });
    case "initialize.version_mismatch":
      return audit.emit("plugin.version_mismatch", subject, { claimed, expected: String(expected) });
    case "initialize.api_mismatch":
      return audit.emit("plugin.api_mismatch", subject, { plugin_api_version: claimed, host_api_version: API_VERSION });
    case "initialize.capability_overreach":
      return audit.emit("plugin.capability_overreach", subject, {
        claimed: claimed as string[],
        allowed: allowed as string[],
      });
    case "initialize.malformed":
      return audit.emit("plugin.protocol_violation", subject, {
        violation_type: "malformed_initialize",
        detail: error.message,
      });
    case "plugin.config_invalid":
      return audit.emit("plugin.config_rejected", subject, { error_code: error.rpc, error_message: error.message });
  }
}
