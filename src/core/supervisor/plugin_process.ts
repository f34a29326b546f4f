/**
 * One process of one plugin, from spawn to end: its cage, its connection, its health.
 *
 * @module
 */
import type { Cage } from "../cage/cage.ts";
import { killCage } from "../cage/kill_cage.ts";
import { asHostError, HostError, messageOf } from "../errors/host_error.ts";
import { createConnection } from "../wire/connection.ts";
import type { CallOptions, Connection } from "../wire/connection_types.ts";
import type { ChildProcess, Exit, Runtime } from "../ports/ports.ts";
import type { Dialect, DialectPorts, HandshakeOptions, PluginProfile } from "./dialect.ts";
import { type HealthWatch, watchHealth } from "./health.ts";
import { kagedDialect } from "./kaged_dialect.ts";
import { mcpDialect } from "./mcp_dialect.ts";
import { stderrTail } from "./stderr_tail.ts";
import type { PluginCage, PluginCallContext } from "./types.ts";
import type { WireTap } from "../wire/wire_tap.ts";

const TERM_GRACE_MS = 2_000;
/** How long pipes may outlive their process. */
const PIPE_GRACE_MS = 1_000;

/** What a process is made of. */
export interface PluginProcessOptions
  extends Pick<DialectPorts, "manifest" | "audit" | "subject" | "onLog" | "onNotification" | "onRequest" | "onTools"> {
  /** The runtime it stands on. */
  readonly runtime: Runtime;
  /** Its cage, used up by this one start. */
  readonly cage: Cage;
  /** Listens to its wire. */
  readonly tap?: WireTap | null;
}

/** How a process ended. */
export interface Ending {
  /** Exit code or signal. */
  readonly exit: Exit;
  /** Why. */
  readonly error: HostError;
  /** Whether it heeded the host, had to be killed on the way, or ended unasked. */
  readonly kind: "stopped" | "killed" | "unasked";
  /** Its last lines of stderr. */
  readonly lastStderr: readonly string[];
}

/** Starts the process of one plugin. Rejects with `cage.spawn_failed`; the cage is closed then. */
export async function spawnPlugin(options: PluginProcessOptions): Promise<PluginProcess> {
  const plugin = new PluginProcess(options);
  await plugin.spawn();
  return plugin;
}

/** A plugin's process. */
export class PluginProcess {
  /** Resolves when the process is gone and its cage is closed. */
  readonly ended: Promise<Ending>;
  readonly #options: PluginProcessOptions;
  readonly #dialect: Dialect;
  readonly #stderr: ReturnType<typeof stderrTail>;
  readonly #health: HealthWatch;
  readonly #timers = new Set<() => void>();
  #end!: (ending: Ending) => void;
  #connection!: Connection;
  #child: ChildProcess | null = null;
  #phase: "starting" | "running" | "ended" = "starting";
  #cause: HostError | null = null;
  #stopping = false;
  #killed = false;
  #wasAsked = false;
  #terminating = false;

  /** Use {@link spawnPlugin}. */
  constructor(options: PluginProcessOptions) {
    this.#options = options;
    this.ended = new Promise((resolve) => this.#end = resolve);
    this.#stderr = stderrTail(options.onLog);
    const dialect = options.manifest.runtime === "mcp_stdio" ? mcpDialect : kagedDialect;
    this.#dialect = dialect({
      ...options,
      clock: options.runtime.clock,
      connect: (listeners) => this.#connection = this.#connect(listeners),
      endInput: () => this.#endInput(),
      kill: (cause) => this.kill(cause),
    });
    this.#health = watchHealth({
      ping: (timeoutMs) => this.#dialect.call("ping", {}, null, { timeoutMs }),
      intervalMs: options.manifest.health_interval_sec * 1000,
      after: (ms, run) => this.#after(ms, run),
      isWatched: () => this.#phase === "running" && !this.#stopping,
      onIll: (failures, error) => {
        options.audit.emit("plugin.health_fail", options.subject, { consecutive_failures: failures, error });
      },
      onDead: (cause, reason) => this.#becomeIll(cause, reason),
      plugin: options.manifest.name,
    });
  }

  /** Process id of the launcher. */
  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  /** What is known of its cage. */
  get cage(): PluginCage {
    const { id, limits } = this.#options.cage;
    return { id, limits };
  }

  /** Starts the process; called once by {@link spawnPlugin}. */
  async spawn(): Promise<void> {
    const { runtime, cage, audit, subject, manifest, tap } = this.#options;
    try {
      this.#child = await runtime.processes.spawn(cage.command, {
        stdout: (chunk) => {
          tap?.plugin(chunk);
          this.#connection.receive(chunk);
        },
        stdoutEnd() {}, // bwrap holds stdout as long as the cage stands: its end says no more than the exit.
        stderr: (chunk) => this.#stderr.receive(chunk),
        drain: () => this.#connection.drained(),
      });
    } catch (error) {
      await cage.close();
      throw new HostError("cage.spawn_failed", `Cannot start "${cage.command.file}": ${messageOf(error)}`, {
        cause: error,
        hint: "Run kaged doctor",
      });
    }
    audit.emit("plugin.spawned", subject, { version: manifest.version, pid: this.pid, cage_id: cage.id });
    cage.watch();
    void this.#child.exited.then((exit) => this.#onExit(exit));
  }

  /** Shakes hands. When it rejects, the process has been told to end: await {@link ended}. */
  async handshake(
    options: Pick<HandshakeOptions, "config" | "projects" | "storageAvailable">,
  ): Promise<PluginProfile> {
    try {
      return await this.#dialect.handshake({
        ...options,
        beforeConfig: () => this.#options.cage.verifyMounts(),
        onInitialized: () => {
          this.#phase = "running";
          this.#health.start();
          this.#options.cage.settle().catch((error) => this.kill(asHostError(error)));
        },
      });
    } catch (error) {
      this.kill(asHostError(error));
      throw error;
    }
  }

  /** Calls a method, whatever its name. A call that times out asks whether the plugin is still alive. */
  call(
    method: string,
    params: Readonly<Record<string, unknown>>,
    context: PluginCallContext,
    options?: CallOptions,
  ): Promise<unknown> {
    return this.#dialect.call(method, params, context, options);
  }

  /** Hands it a new config. Returns false when the plugin takes none; rejects when it refuses. */
  async updateConfig(config: Readonly<Record<string, unknown>>): Promise<boolean> {
    return await this.#dialect.updateConfig(config);
  }

  /** Sends a notification, unless the plugin no longer reads. */
  notify(method: string, params: unknown): void {
    this.#quietly(() => this.#dialect.notify(method, params));
  }

  /** Resolves when every call has its answer, or the process has ended, or `ms` have passed. */
  async drain(ms: number): Promise<void> {
    const passed = new Promise<void>((resolve) => this.#after(ms, resolve));
    await Promise.race([this.#connection.idle(), passed, this.ended]);
  }

  /** Asks it to end in its own protocol, then by SIGTERM, then by SIGKILL. Resolves when it has. */
  async stop(): Promise<Ending> {
    const { manifest } = this.#options;
    if (!this.#stopping && this.#phase !== "ended") {
      this.#stopping = true;
      if (this.#phase === "running") {
        this.#quietly(() => this.#dialect.askToEnd());
        this.#after(manifest.shutdown_timeout_sec * 1000, () => void this.#terminate("ignored shutdown"));
      } else {
        void this.#terminate("stopped during the handshake");
      }
    }
    return await this.ended;
  }

  /** Ends it at once because of `cause`. */
  kill(cause: HostError): void {
    if (this.#phase === "ended") return;
    this.#cause ??= cause;
    this.#connection.close(this.#cause);
    this.#sigkill(this.#cause.code);
  }

  #sigkill(reason: string): void {
    if (this.#killed) return;
    this.#killed = true;
    this.#options.audit.emit("plugin.killed", this.#options.subject, { reason });
    if (this.#child) void killCage(this.#child, this.#options.runtime);
  }

  /** SIGTERM to the plugin's own process group, SIGKILL when that does not end it. */
  async #terminate(reason: string): Promise<void> {
    if (this.#phase === "ended") return;
    this.#terminating = true;
    this.#after(TERM_GRACE_MS, () => this.#sigkill(reason));
    // The group inside, not bubblewrap: that one would take the plugin with it before its handler has run. No such
    // group yet means no plugin yet.
    const pid = await this.#options.cage.childPid();
    if (pid === null || !this.#options.runtime.processes.signal(-pid, "SIGTERM")) return this.#sigkill(reason);
    this.#endInput();
  }

  #endInput(): void {
    this.#options.tap?.closed();
    this.#child?.endInput();
  }

  #onExit(exit: Exit): void {
    const child = this.#child!;
    this.#wasAsked = this.#stopping;
    const cancelGrace = this.#options.runtime.clock.after(PIPE_GRACE_MS, () => child.release());
    void child.closed.then(async () => {
      cancelGrace();
      await this.#finish(exit);
    });
  }

  async #finish(exit: Exit): Promise<void> {
    const { cage, manifest } = this.#options;
    this.#phase = "ended";
    for (const cancel of this.#timers) cancel();
    this.#stderr.end();
    this.#options.tap?.end(exit);
    const lastStderr = this.#stderr.lines();
    const how = exit.signal ? `by ${exit.signal}` : `with exit code ${exit.code}`;
    const error = this.#cause ?? await cage.diagnose(exit, lastStderr).catch(asHostError) ??
      new HostError("plugin.unavailable", `[BLOCKED] Plugin "${manifest.name}" ended ${how}`, {
        data: { exit_code: exit.code, signal: exit.signal },
        hint: "Its last lines on stderr are in the audit event plugin.crashed",
      });
    this.#connection.close(error);
    await cage.close();
    this.#end({ exit, error, kind: this.#endingKind(exit), lastStderr });
  }

  /** A process that is asked to end may still crash on the way: heeding means exit code 0, or our SIGTERM. */
  #endingKind(exit: Exit): Ending["kind"] {
    if (!this.#wasAsked) return "unasked";
    if (this.#killed) return "killed";
    return exit.code === 0 || this.#terminating ? "stopped" : "unasked";
  }

  #connect(listeners: Parameters<DialectPorts["connect"]>[0]): Connection {
    const { tap, runtime: { clock, bytes } } = this.#options;
    return createConnection({
      ...listeners,
      clock,
      bytes,
      wire: {
        write: (text) => {
          tap?.host(text);
          this.#child?.write(text);
        },
        bufferedBytes: () => this.#child?.bufferedBytes() ?? 0,
        pause: () => this.#child?.pause(),
        resume: () => this.#child?.resume(),
      },
      onTimeout: (error) => {
        const isPing = (error.data as { method?: string }).method === "ping"; // That one is counted by the watch.
        if (this.#phase === "running" && !isPing) void this.#health.suspect(error);
      },
    });
  }

  #quietly(tell: () => void): void {
    try {
      tell();
    } catch {
      // It does not read: its ping will fail, and the health check ends it.
    }
  }

  #becomeIll(cause: HostError, reason: string): void {
    this.#cause ??= cause;
    void this.#terminate(reason);
  }

  #after(ms: number, run: () => void): void {
    const cancel = this.#options.runtime.clock.after(ms, () => {
      this.#timers.delete(cancel);
      if (this.#phase !== "ended") run();
    });
    this.#timers.add(cancel);
  }
}
