/**
 * The audit events of one plugin instance: its calls, its starts and ends, its reloads.
 *
 * @module
 */
import type { AuditSubject, CallAudit } from "../audit/audit.ts";
import type { AuditedCall, CallLines } from "../audit/call_lines.ts";
import type { AuditData, AuditType } from "../audit/events.ts";
import type { HostError, HostErrorCode } from "../errors/host_error.ts";
import type { Manifest } from "../manifest/manifest.ts";
import { API_VERSION } from "../values/version.ts";
import type { PluginProfile } from "./dialect.ts";
import type { Ending } from "./plugin_process.ts";

const HOOK_PREFIX = "kaged.hook.";

type Emit = <T extends AuditType>(type: T, data: AuditData[T], requestId?: string) => void;

/** Emits the events of one instance. */
export class InstanceAudit {
  readonly #emit: Emit;
  readonly #lines: CallLines;

  /** Emits to `audit` in the name of `subject`. */
  constructor(audit: CallAudit, subject: AuditSubject) {
    this.#lines = audit.callLines(subject);
    this.#emit = (type, data, requestId) => audit.emit(type, subject, data, requestId);
  }

  /** Whether calls of a method have events here: a hook's are the engine's. */
  hears(method: string): boolean {
    return this.#lines.isHeard && !method.startsWith(HOOK_PREFIX);
  }

  /** The time by which calls are measured. */
  get nowMs(): number {
    return this.#lines.nowMs;
  }

  called(call: AuditedCall): void {
    if (this.#lines.called(call)) return;
    const { method, context: { request_id, operator_id, project_id, agent_path } } = call;
    this.#emit("plugin.method_called", { method, operator_id, project_id, agent_path }, request_id);
  }

  returned(call: AuditedCall, success: boolean): void {
    const duration_ms = Math.round((this.#lines.nowMs - call.startedMs) * 1000) / 1000;
    if (this.#lines.returned(call, duration_ms, success)) return;
    this.#emit("plugin.method_returned", { method: call.method, duration_ms, success }, call.context.request_id);
  }

  /** A process serves from now on. */
  initialized(
    { missing, undeclared, callable, configIgnored }: PluginProfile,
    { capabilities }: Manifest,
    config: Readonly<Record<string, unknown>>,
  ): void {
    if (missing.length > 0 || undeclared.length > 0) {
      const data = { missing: [...missing], undeclared: [...undeclared] };
      this.#emit("plugin.method_unavailable", data);
    }
    if (configIgnored) this.configIgnored(config);
    const data = { methods_count: callable.size, capabilities_count: capabilities.length };
    this.#emit("plugin.initialized", data);
  }

  /** The plugin does not know `config.update`: fine as long as there is no config. */
  configIgnored(config: Readonly<Record<string, unknown>>): void {
    if (Object.keys(config).length === 0) return;
    const error_message = "The plugin was given config but does not answer config.update";
    this.#emit("plugin.config_rejected", { error_code: -32601, error_message });
  }

  /** A process ended. One that was killed has its event already. */
  ended({ exit: { code: exit_code, signal }, error, kind, isFault, lastStderr }: Ending): void {
    const last_stderr = [...lastStderr];
    if (kind === "stopped") return this.#emit("plugin.stopped", { exit_code, signal });
    if (kind === "killed") return;
    REFUSALS[error.code]?.(this.#emit, error, (error.data ?? {}) as Record<string, unknown>);
    if (exit_code === 0 && !isFault) return this.#emit("plugin.exited", { exit_code, last_stderr });
    const data = { exit_code, signal, reason: error.code, last_stderr };
    this.#emit("plugin.crashed", data);
  }

  /** Nobody used it for `idleMs`: its process ends, and the next need brings another. */
  rested(idleMs: number): void {
    this.#emit("plugin.resting", { idle_ms: idleMs });
  }

  /** It rested, and `need` has it start: the method of a call, or the part of an MCP server. */
  woken(need: string): void {
    this.#emit("plugin.woken", { need: need.slice(0, 200) });
  }

  /** Another process has taken over, `tookMs` after it was started. */
  reloaded(before: Manifest, after: Manifest, tookMs: number): void {
    const lacking = (there: Manifest, here: Manifest): string[] =>
      there.capabilities.filter((one) => !here.capabilities.includes(one));
    this.#emit("plugin.reloaded", {
      old_version: before.version,
      new_version: after.version,
      capability_diff: { added: lacking(after, before), removed: lacking(before, after) },
      duration_ms: Math.round(tookMs),
    });
  }

  /** A process that was to take over did not. */
  reloadFailed({ code, message }: HostError): void {
    this.#emit("plugin.reload_failed", { error_code: code, error_message: message });
  }
}

/** Events of a failed handshake, by the code of the failure; other failures have none. */
const REFUSALS: Partial<Record<HostErrorCode, (emit: Emit, error: HostError, facts: Record<string, unknown>) => void>> =
  {
    "initialize.timeout": (emit, _, { timeout_ms }) =>
      emit("plugin.initialize_timeout", { timeout_ms: Number(timeout_ms) }),
    "initialize.name_mismatch": (emit, _, { claimed, expected }) =>
      emit("plugin.name_mismatch", { claimed, expected: String(expected) }),
    "initialize.version_mismatch": (emit, _, { claimed, expected }) =>
      emit("plugin.version_mismatch", { claimed, expected: String(expected) }),
    "initialize.api_mismatch": (emit, _, { claimed }) =>
      emit("plugin.api_mismatch", { plugin_api_version: claimed, host_api_version: API_VERSION }),
    "initialize.capability_overreach": (emit, _, { claimed, allowed }) =>
      emit("plugin.capability_overreach", { claimed: claimed as string[], allowed: allowed as string[] }),
    "initialize.malformed": (emit, { message }) =>
      emit("plugin.protocol_violation", { violation_type: "malformed_initialize", detail: message }),
    "plugin.config_invalid": (emit, { rpc, message }) =>
      emit("plugin.config_rejected", { error_code: rpc, error_message: message }),
  };
