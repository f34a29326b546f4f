/**
 * The audit events of one plugin instance: its calls, its starts and ends, its reloads.
 *
 * @module
 */
import type { Audit, AuditSubject } from "../audit/audit.ts";
import type { HostError } from "../errors/host_error.ts";
import type { Manifest } from "../manifest/manifest.ts";
import type { Clock } from "../ports/ports.ts";
import { API_VERSION } from "../values/version.ts";
import type { PluginProfile } from "./dialect.ts";
import type { Ending } from "./plugin_process.ts";
import type { PluginCallContext } from "./types.ts";

const HOOK_PREFIX = "kaged.hook.";

/** Emits the events of one instance. */
export class InstanceAudit {
  readonly #audit: Audit;
  readonly #subject: AuditSubject;
  readonly #clock: Clock;

  /** Emits to `audit` in the name of `subject`. */
  constructor(audit: Audit, subject: AuditSubject, clock: Clock) {
    this.#audit = audit;
    this.#subject = subject;
    this.#clock = clock;
  }

  /** Makes a call, with an event at its start and one at its end. Hooks have events of their own: the engine's. */
  call(method: string, context: PluginCallContext, call: () => Promise<unknown>): Promise<unknown> {
    if (!this.#audit.active || method.startsWith(HOOK_PREFIX)) return call();
    const { request_id, operator_id, project_id, agent_path } = context;
    const startedMs = this.#clock.monotonic();
    const returned = (success: boolean) => {
      const duration_ms = Math.round((this.#clock.monotonic() - startedMs) * 1000) / 1000;
      this.#audit.emit("plugin.method_returned", this.#subject, { method, duration_ms, success }, request_id);
    };
    const data = { method, operator_id, project_id, agent_path };
    this.#audit.emit("plugin.method_called", this.#subject, data, request_id);
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
      this.#audit.emit("plugin.method_unavailable", this.#subject, data);
    }
    if (configIgnored) this.configIgnored(config);
    const data = { methods_count: callable.size, capabilities_count: capabilities.length };
    this.#audit.emit("plugin.initialized", this.#subject, data);
  }

  /** The plugin does not know `config.update`: fine as long as there is no config. */
  configIgnored(config: Readonly<Record<string, unknown>>): void {
    if (Object.keys(config).length === 0) return;
    const error_message = "The plugin was given config but does not answer config.update";
    this.#audit.emit("plugin.config_rejected", this.#subject, { error_code: -32601, error_message });
  }

  /** A process ended. One that was killed has its event already. */
  ended({ exit: { code: exit_code, signal }, error, kind, lastStderr }: Ending): void {
    const last_stderr = [...lastStderr];
    if (kind === "stopped") return this.#audit.emit("plugin.stopped", this.#subject, { exit_code, signal });
    if (kind === "killed") return;
    this.#refused(error);
    if (exit_code === 0) return this.#audit.emit("plugin.exited", this.#subject, { exit_code, last_stderr });
    const data = { exit_code, signal, reason: error.code, last_stderr };
    this.#audit.emit("plugin.crashed", this.#subject, data);
  }

  /** Another process has taken over, `tookMs` after it was started. */
  reloaded(before: Manifest, after: Manifest, tookMs: number): void {
    const lacking = (there: Manifest, here: Manifest): string[] =>
      there.capabilities.filter((one) => !here.capabilities.includes(one));
    this.#audit.emit("plugin.reloaded", this.#subject, {
      old_version: before.version,
      new_version: after.version,
      capability_diff: { added: lacking(after, before), removed: lacking(before, after) },
      duration_ms: Math.round(tookMs),
    });
  }

  /** A process that was to take over did not. */
  reloadFailed({ code, message }: HostError): void {
    this.#audit.emit("plugin.reload_failed", this.#subject, { error_code: code, error_message: message });
  }

  /** A failed handshake, where that failure has an event. */
  #refused({ code, message, rpc, data }: HostError): void {
    const { claimed, expected, allowed, timeout_ms } = (data ?? {}) as Record<string, unknown>;
    const [audit, subject] = [this.#audit, this.#subject];
    switch (code) {
      case "initialize.timeout":
        return audit.emit("plugin.initialize_timeout", subject, { timeout_ms: Number(timeout_ms) });
      case "initialize.name_mismatch":
        return audit.emit("plugin.name_mismatch", subject, { claimed, expected: String(expected) });
      case "initialize.version_mismatch":
        return audit.emit("plugin.version_mismatch", subject, { claimed, expected: String(expected) });
      case "initialize.api_mismatch": {
        const versions = { plugin_api_version: claimed, host_api_version: API_VERSION };
        return audit.emit("plugin.api_mismatch", subject, versions);
      }
      case "initialize.capability_overreach": {
        const overreach = { claimed: claimed as string[], allowed: allowed as string[] };
        return audit.emit("plugin.capability_overreach", subject, overreach);
      }
      case "initialize.malformed": {
        const violation = { violation_type: "malformed_initialize", detail: message };
        return audit.emit("plugin.protocol_violation", subject, violation);
      }
      case "plugin.config_invalid":
        return audit.emit("plugin.config_rejected", subject, { error_code: rpc, error_message: message });
    }
  }
}
