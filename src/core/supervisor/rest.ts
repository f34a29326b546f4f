/**
 * Rest of an instance that starts on demand: a call that finds no process waits for one, and a process that nobody has
 * used for a while ends.
 *
 * @module
 */
import type { HostError } from "../errors/host_error.ts";
import type { AskNetwork } from "../cage/net/held_targets.ts";
import type { Clock } from "../ports/ports.ts";
import { unlessAborted } from "../values/unless_aborted.ts";
import { cancelledError } from "../wire/calls.ts";
import type { CallEnd } from "../wire/connection_types.ts";
import type { InstanceAudit } from "./instance_audit.ts";
import type { Lifeline } from "./lifeline.ts";
import type { PluginProcess, PluginProcessOptions } from "./plugin_process.ts";

/** Looks at a process within the time after which it may end. */
const LOOKS = 4;

export interface RestPorts {
  readonly clock: Pick<Clock, "after">;
  readonly life: Lifeline;
  readonly audit: Pick<InstanceAudit, "rested" | "woken">;
  /** Milliseconds without activity after which the process ends; null for an instance that must have one. */
  idleStopMs(): number | null;
  /** Whether the process must not end now, whatever its own connection says. */
  isHeld(): boolean;
  /** Brings a process up, or joins the attempt that is under way. */
  bringUp(): Promise<void>;
  /** Ends the process; joins an end that is under way. */
  end(): Promise<void>;
  /** The end that is under way, or null. */
  ending(): Promise<void> | null;
}

export class InstanceRest {
  readonly #ports: RestPorts;
  #unwatch: (() => void) | null = null;
  /** Log lines so far: a plugin that works behind its calls may say nothing else. */
  #lines = 0;
  /** Connections that wait for a person's answer. */
  #asked = 0;

  constructor(ports: RestPorts) {
    this.#ports = ports;
  }

  /** Whether a call may wait for a process now. */
  get isWakeable(): boolean {
    const { status } = this.#ports.life.state;
    return status === "resting" || (status === "spawning" && this.#ports.idleStopMs() !== null);
  }

  /** Makes a call once there is a process; `end` hears of a start that fails. Throws `plugin.unavailable` where none will come. */
  through(
    method: string,
    signal: AbortSignal | undefined,
    call: () => Promise<unknown>,
    end?: CallEnd,
  ): Promise<unknown> {
    if (!this.isWakeable) throw this.#ports.life.unavailable();
    const cancelled = (by: AbortSignal): HostError => cancelledError(method, by);
    const failed = (error: unknown): unknown => {
      if (end) return end.failed(error);
      throw error;
    };
    return unlessAborted(this.wake(method), signal, cancelled).then(() => {
      try {
        return call();
      } catch (error) {
        return failed(error); // It was stopped meanwhile, or has no such method.
      }
    }, failed);
  }

  /** Resolves once there is a process, however many wait for it. Rejects as its start does. */
  async wake(need: string): Promise<void> {
    const { life, audit, ending, bringUp } = this.#ports;
    while (ending() !== null) await ending();
    if (life.state.status === "resting") {
      life.apply({ type: "woken" });
      audit.woken(need);
    }
    if (life.state.status === "running") return;
    life.checkWanted();
    await bringUp();
  }

  /** Has a process end once it has been idle for long enough. */
  watch(live: PluginProcess): void {
    this.unwatch();
    const idleMs = this.#ports.idleStopMs();
    if (idleMs !== null) this.#look(live, idleMs, -1, 0);
  }

  unwatch(): void {
    this.#unwatch?.();
    this.#unwatch = null;
  }

  /** Returns the options of a process of this instance, which count its signs of life. */
  counting(options: PluginProcessOptions): PluginProcessOptions {
    const { askNetwork, onLog } = options;
    return {
      ...options,
      onLog: (line) => {
        this.#lines++;
        onLog(line);
      },
      askNetwork: askNetwork && ((...given: Parameters<AskNetwork>) => {
        const asked = askNetwork(...given);
        if (asked === null) return null;
        this.#asked++;
        return asked.finally(() => this.#asked--);
      }),
    };
  }

  /** Calls only count; a timer for each process looks at the count, so that a call costs nothing more. */
  #look(live: PluginProcess, idleMs: number, before: number, quiet: number): void {
    this.#unwatch = this.#ports.clock.after(idleMs / LOOKS, () => {
      const now = this.#activityOf(live);
      const still = now !== null && now === before ? quiet + 1 : 0;
      if (still < LOOKS) return this.#look(live, idleMs, now ?? -1, still);
      this.#unwatch = null;
      this.#rest(idleMs);
    });
  }

  #activityOf({ dialect, caged }: PluginProcess): number | null {
    const isHeld = this.#asked > 0 || (caged?.cage?.connections() ?? 0) > 0 || this.#ports.isHeld();
    const count = isHeld ? null : dialect.activity?.() ?? null;
    return count === null ? null : count + this.#lines;
  }

  /** In one turn, so that no call can come in between: the state changes and the process is called no more. */
  #rest(idleMs: number): void {
    const { life, audit, end } = this.#ports;
    if (life.state.status !== "running") return;
    life.apply({ type: "rested" });
    audit.rested(idleMs);
    void end();
  }
}
