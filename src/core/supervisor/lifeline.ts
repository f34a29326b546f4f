/**
 * The state of an instance, the failure behind it and the next try: `next_state.ts` with its clock.
 *
 * @module
 */
import type { Audit, AuditSubject } from "../audit/audit.ts";
import { HostError } from "../errors/host_error.ts";
import type { Clock } from "../ports/ports.ts";
import { FRESH, type InstanceEvent, type InstanceState, nextState, RESTART_POLICY } from "./next_state.ts";

/** Ports that a lifeline acts through. */
export interface LifelinePorts {
  readonly host: { readonly runtime: { readonly clock: Clock } };
  readonly audit: Audit;
  readonly subject: AuditSubject;
}

const nothing = (): void => {};

const FINAL_FAMILIES = ["manifest.", "capability.", "cage.", "mcp."];
const FINAL_CODES: ReadonlySet<string> = new Set([
  "initialize.name_mismatch",
  "initialize.version_mismatch",
  "initialize.api_mismatch",
  "initialize.capability_overreach",
  "initialize.malformed",
  "protocol.violation",
  "plugin.config_invalid",
  "plugin.tampered",
  "hook.changed",
]);

/** Whether another start would fail in the same way: a lie, a broken manifest, changed files, a cage that cannot be built. */
function isFinal({ code }: HostError): boolean {
  return FINAL_CODES.has(code) || FINAL_FAMILIES.some((family) => code.startsWith(family));
}

/** The state of one instance. */
export class Lifeline {
  readonly #ports: LifelinePorts;
  /** The state as `nextState` left it; read by others, written here. */
  state: InstanceState = FRESH;
  /** The failure that took it down, or null; likewise. */
  error: HostError | null = null;
  #cancelDelay: () => void = nothing;

  /** Begins with an instance nobody has started. */
  constructor(ports: LifelinePorts) {
    this.#ports = ports;
  }

  /** Whether it should have a process. */
  get isWanted(): boolean {
    return this.state.status === "spawning" || this.state.status === "running";
  }

  /** Throws `plugin.unavailable` unless it {@link isWanted}. */
  checkWanted(): void {
    if (!this.isWanted) throw this.unavailable();
  }

  /** Returns the error of a call that cannot be made now; its cause is the failure that took the plugin down. */
  unavailable(): HostError {
    const { name, instance } = this.#ports.subject;
    const { status } = this.state;
    return new HostError("plugin.unavailable", `[BLOCKED] Plugin "${name}" is ${status}`, {
      data: { instance, status },
      hint: status === "crashed" ? "It is being restarted: try again" : "Enable it again once its cause is mended",
      ...(this.error ? { cause: this.error } : {}),
    });
  }

  /** Applies `event`; it also ends a wait for the next try. */
  apply(event: InstanceEvent): void {
    this.#cancelDelay();
    this.state = nextState(this.state, event, RESTART_POLICY);
    if (this.state.status === "running") this.error = null;
  }

  /** Takes a failure: has `retry` called when the wait before the next try is over, or gives up. */
  fail(error: HostError, retry: () => void): void {
    const { host: { runtime: { clock } }, audit, subject } = this.#ports;
    if (!this.isWanted) return;
    this.error = error;
    if (error.code.startsWith("manifest.")) {
      this.apply({ type: "disabled" });
      return audit.emit("plugin.disabled", subject, { reason: "invalid manifest" });
    }
    this.apply(isFinal(error) ? { type: "refused" } : { type: "failed", atMs: clock.monotonic() });
    if (this.state.status === "failed") {
      const total_failures = Math.max(1, this.state.failures.length);
      audit.emit("plugin.failed", subject, { total_failures, error_code: error.code, error_message: error.message });
      audit.emit("plugin.disabled", subject, { reason: "failed" });
    } else if (this.state.status === "crashed") {
      this.#cancelDelay = clock.after(this.state.delayMs, () => {
        this.apply({ type: "delayElapsed" });
        retry();
      });
    }
  }
}
