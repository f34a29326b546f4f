/**
 * The swap of a reload. The new process is started beside the old one and shakes hands; until {@link Replacement.commit}
 * nothing has changed for anyone, and when it fails nothing ever does.
 *
 * @module
 */
import type { AuditSubject } from "../audit/audit.ts";
import { HostError } from "../errors/host_error.ts";
import type { PluginProfile } from "./dialect.ts";
import type { Ending, PluginProcess } from "./plugin_process.ts";
import type { Replacement } from "./types.ts";

/** Time that calls of a replaced process may still take: twice the default timeout of a call. */
export const DRAIN_MS = 60_000;

/** The part of an instance in its replacement. */
export interface ReplacementPorts {
  readonly spawn: () => Promise<PluginProcess>;
  readonly handshake: (live: PluginProcess) => Promise<PluginProfile>;
  /** Returns the error of a start that failed with `thrown`. */
  readonly failure: (thrown: unknown) => HostError;
  /** Makes it the one that serves; resolves when the one before is gone. */
  readonly takeOver: (live: PluginProcess) => Promise<void>;
  /** Called when its process ended before it served. */
  readonly onEnded: (ending: Ending) => void;
  /** Called once, when it never will serve. */
  readonly onFailed: (error: HostError) => void;
}

/** Returns the error of a reload that comes while another is on its way. */
export function reloadingError({ name, instance }: AuditSubject): HostError {
  const hint = "Wait until that is done, and ask again";
  return new HostError("plugin.reloading", `Plugin "${name}" is being reloaded`, { data: { instance }, hint });
}

/** A process on its way to take over. */
export class PendingReplacement implements Replacement {
  /** Resolves when it is ready; rejects with why it is not, after its process is gone. */
  readonly ready: Promise<void>;
  /** Resolves when it has taken over, or never will. */
  readonly settled: Promise<void>;
  /** Why it cannot take over, or null. */
  error: HostError | null = null;
  readonly #ports: ReplacementPorts;
  readonly #over = Promise.withResolvers<void>();
  #live: PluginProcess | null = null;
  #isOver = false;

  /** Starts the process at once. */
  constructor(ports: ReplacementPorts) {
    this.#ports = ports;
    this.settled = this.#over.promise;
    this.ready = this.#start();
    this.ready.catch(() => {}); // `replace()` awaits it and reports the failure.
  }

  /** Takes over in this turn. Throws {@link error}; resolves when the process before is gone. */
  commit(): Promise<void> {
    this.check();
    this.#finish();
    return this.#ports.takeOver(this.#live!);
  }

  /** Ends it, unless it has taken over. Resolves when its process is gone. */
  async discard(reason: HostError): Promise<void> {
    if (this.#isOver) return;
    this.error ??= reason;
    await this.#live?.stop();
    await this.ready.catch(() => {}); // A process that came up meanwhile is ended there.
    this.#fail();
  }

  async #start(): Promise<void> {
    const { spawn, handshake } = this.#ports;
    try {
      const live = this.#live = await spawn();
      void live.ended.then((ending) => this.#onEnded(ending));
      this.check();
      live.profile = await handshake(live);
      this.check();
    } catch (thrown) {
      this.error ??= this.#ports.failure(thrown);
      await this.#live?.stop();
      this.#fail();
      throw this.error;
    }
  }

  /** Throws {@link error}, unless that is null. */
  check(): void {
    if (this.error) throw this.error;
  }

  #onEnded(ending: Ending): void {
    if (this.#isOver) return; // It serves: its instance looks after it.
    this.#ports.onEnded(ending);
    const wasReady = this.#live!.profile !== null && this.error === null;
    if (!wasReady) return; // The handshake rejects with the reason.
    this.error = ending.error;
    this.#fail();
  }

  #fail(): void {
    if (this.#isOver) return;
    this.#ports.onFailed(this.error!);
    this.#finish();
  }

  #finish(): void {
    this.#isOver = true;
    this.#over.resolve();
  }
}
