/**
 * The audit events of one plugin instance: its calls, its starts and ends, its reloads.
 *
 * @module
 */
import type { Audit, AuditSubject } from "../audit/audit.ts";
import type { AuditData, AuditType } from "../audit/events.ts";
import type { HostError, HostErrorCode } from "../errors/host_error.ts";
import type { Manifest } from "../manifest/manifest.ts";
import type { Clock } from "../ports/ports.ts";
import { API_VERSION } from "../values/version.ts";
import type { PluginProfile } from "./dialect.ts";
import type { Ending } from "./plugin_process.ts";
import type { PluginCallContext } from "./types.ts";

const HOOK_PREFIX = "kaged.hook.";

type Emit = <T extends AuditType>(type: T, data: AuditData[T], requestId?: string) => void;

/** Emits the events of one instance. */
export class InstanceAudit {
  readonly #audit: Audit;
  readonly #clock: Clock;
  readonly #emit: Emit;

  /** Emits to `audit` in the name of `subject`. */
  constructor(audit: Audit, subject: AuditSubject, clock: Clock) {
    this.#audit = audit;
    this.#clock = clock;
    this.#emit = (type, data, requestId) => audit.emit(type, subject, data, requestId);
  }

  /** Makes a call, with an event at its start and one at its end. Hooks have events of their own: the engine's. */
  call(method: string, context: PluginCallContext, call: () => Promise<unknown>): Promise<unknown> {
    if (!this.#audit.active || method.startsWith(HOOK_PREFIX)) return call();
    const { request_id, operator_id, project_id, agent_path } = context;
    const startedMs = this.#clock.monotonic();
    const returned = (success: boolean) => {
      const duration_ms = Math.round((this.#clock.monotonic() - startedMs) * 1000) / 1000;
      this.#emit("plugin.method_returned", { method, duration_ms, success }, request_id);
    };
    const data = { method, operator_id, project_id, agent_path };
    this.#emit("plugin.method_called", data, request_id);
    return call().then((result) => {
      returned(true);
      return result;
    }, (error) => {
      returned(false);
      throw error;
    });
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
