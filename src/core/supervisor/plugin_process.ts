/**
 * One process of one plugin, from spawn to end: the dialect it speaks over its caged process, and its health. An
 * instance has one that serves, and, around a reload, one that gets ready and some that finish their calls.
 *
 * @module
 */
import { isRemote, speaksMcp } from "../manifest/speaks_mcp.ts";
import type { CageRequest } from "../cage/cage.ts";
import { missingProgramHint, withMissingProgram } from "../cage/missing_program.ts";
import type { NetDenial, NetEvent } from "../cage/net/gatekeeper.ts";
import type { AskNetwork } from "../cage/net/held_targets.ts";
import { type WithheldGrants, withheldGrants } from "../cage/withheld_grant.ts";
import { asHostError, HostError } from "../errors/host_error.ts";
import type { Manifest } from "../manifest/manifest.ts";
import type { McpTool } from "../mcp/mcp_tool.ts";
import { createConnection } from "../wire/connection.ts";
import { type Connection, HEALTH_METHODS, type IncomingRequest } from "../wire/connection_types.ts";
import type { Exit, Runtime } from "../ports/ports.ts";
import { inTurns, type Turn } from "../wire/read_turns.ts";
import type { WireTap } from "../wire/wire_tap.ts";
import { explainedCalls } from "./explained_calls.ts";
import type { Dialect, DialectPorts, HandshakeOptions, PluginProfile } from "./dialect.ts";
import { type HealthWatch, quietly, watchHealth } from "./health.ts";
import { kagedDialect } from "./kaged_dialect.ts";
import { mcpDialect } from "./mcp_dialect.ts";
import { maskedDialect, maskedError } from "./masked_dialect.ts";
import { NetWatch } from "./net_watch.ts";
import type { PluginSource } from "./plugin_source.ts";
import { type Program, startProgram } from "./program.ts";
import { startFailure } from "./start_failure.ts";
import { endingOf, exitInside } from "../values/ending_of.ts";
import type { SecretMask } from "../values/secret_mask.ts";

/** How a process reports to its instance. */
export interface PluginProcessOptions extends
  Pick<
    DialectPorts,
    | "audit"
    | "subject"
    | "byWireName"
    | "onLog"
    | "onNotification"
    | "onMcpEvent"
    | "mcpEra"
    | "mcpOffers"
    | "onMcpRequest"
  > {
  readonly runtime: Runtime;
  /** The operator's secrets, hidden in logs and errors. */
  readonly secrets: SecretMask;
  readonly onRequest: (manifest: Manifest, request: IncomingRequest) => unknown;
  readonly onTools: (live: PluginProcess, tools: readonly McpTool[]) => void;
  /** Returns the listener to the wire of this process, or null. */
  readonly tap: (manifest: Manifest) => WireTap | null;
  /** Asks a person about a connection that was not granted; without it none is held. */
  readonly askNetwork?: AskNetwork | undefined;
  /** Time-outs in a row, with no call answered in between, that end it. */
  readonly maxTimeouts: number;
  /** Speaks this dialect, for one question; such a process serves nobody, and its start is not audited. */
  readonly probe?: (ports: DialectPorts) => Dialect;
  /** Returns its share of the host's reading. Default: all is read at once. */
  readonly join?: (() => Turn) | undefined;
  /** Throws when the process is no longer wanted. */
  readonly checkWanted: () => void;
}

/** The end of a process, and the error that its open calls rejected with. */
export interface Ending {
  readonly exit: Exit;
  readonly error: HostError;
  /** Whether it heeded the host, had to be killed on the way, or ended unasked. */
  readonly kind: "stopped" | "killed" | "unasked";
  /** Whether the host ended it for a fault: however well it then ends, it did not end by itself. */
  readonly isFault: boolean;
  readonly lastStderr: readonly string[];
}

/**
 * Checks the files of a plugin, builds its cage and starts it; the handshake is still to come. Rejects with `manifest.*`,
 * `capability.*`, `cage.*`, `plugin.tampered` or what `checkWanted` threw.
 */
export async function spawnPlugin(source: PluginSource, options: PluginProcessOptions): Promise<PluginProcess> {
  const request = await source.prepare();
  const plugin = new PluginProcess(request, options);
  await plugin.spawn(request);
  return plugin;
}

/** A plugin's process and the conversation with it. */
export class PluginProcess {
  /** The manifest its cage was built from: it decides what this process may do, whatever the file says later. */
  readonly manifest: Manifest;
  /** Set by the instance while the process serves; null before that, and once it is being stopped. */
  profile: PluginProfile | null = null;
  /** The process in its cage, or the link to a server elsewhere; null until it has been started. */
  caged: Program | null = null;
  /** The conversation with it. After a call that times out, one ping decides whether the plugin hangs. */
  readonly dialect: Dialect;
  /** The network that it was refused. */
  readonly net: NetWatch;
  /** Resolves when the process is gone and its cage is closed. */
  readonly ended: Promise<Ending>;
  readonly #ending = Promise.withResolvers<Ending>();
  readonly #options: PluginProcessOptions;
  readonly #tap: WireTap | null;
  readonly #turn: Turn | undefined;
  readonly #withheld: WithheldGrants | null;
  readonly #health: HealthWatch;
  readonly #timers = new Set<() => void>();
  #connection!: Connection;
  #phase: "starting" | "running" | "ended" = "starting";
  #cause: HostError | null = null;
  #stopping = false;
  #killed = false;
  #wasAsked = false;
  #terminating = false;

  /** Called by {@link spawnPlugin}, which also starts the process. */
  constructor({ manifest, places }: Pick<CageRequest, "manifest" | "places">, options: PluginProcessOptions) {
    const { audit, subject, secrets } = options;
    const withheld = this.#withheld = withheldGrants(manifest, places);
    this.manifest = manifest;
    this.#options = options;
    this.#tap = options.tap(manifest);
    this.#turn = options.join?.();
    this.ended = this.#ending.promise;
    const stderr = () => this.caged?.stderr() ?? [];
    this.net = new NetWatch(manifest.capabilities, {
      stderr,
      hide: (text) => secrets.text(text),
      clock: options.runtime.clock,
      onNet: (event) => this.#auditNet(event),
      withheld,
    });
    const dialect = options.probe ?? (speaksMcp(manifest) ? mcpDialect : kagedDialect);
    this.dialect = maskedDialect(
      dialect({
        ...options,
        manifest,
        clock: options.runtime.clock,
        onRequest: (request) => options.onRequest(manifest, request),
        onTools: (tools) => options.onTools(this, tools),
        connect: (listeners) => this.#connection = this.#connect(listeners),
        endInput: () => this.#endInput(),
        kill: (cause) => this.kill(maskedError(cause, secrets)),
      }),
      secrets,
    );
    this.#health = watchHealth({
      ping: (timeoutMs) => this.dialect.call("ping", {}, null, { timeoutMs }),
      intervalMs: manifest.health_interval_sec * 1000,
      maxTimeouts: options.maxTimeouts,
      answered: () => this.#connection.answered,
      after: (ms, run) => this.#after(ms, run),
      isWatched: () => this.#phase === "running" && !this.#stopping,
      onStuck: (timeouts, { data }) => {
        const { method: last_method, timeout_ms } = data as { method: string; timeout_ms: number };
        audit.emit("plugin.stuck", subject, { timeouts, last_method, timeout_ms });
      },
      onIll: (consecutive_failures, error) =>
        audit.emit("plugin.health_fail", subject, { consecutive_failures, error }),
      onDead: (cause, reason) => {
        this.#cause ??= cause;
        void this.#terminate(reason);
      },
      plugin: manifest.name,
    });
  }

  /** Starts the process; called once by {@link spawnPlugin}. */
  async spawn(request: CageRequest): Promise<void> {
    const { runtime, audit, subject, secrets, onLog, checkWanted, askNetwork, probe } = this.#options;
    const [turn, onNet] = [this.#turn, (event: NetEvent): void => this.#auditNet(event)];
    const onRefused = (refusal: NetDenial): void => this.net.refused(refusal);
    const caged = await startProgram({ ...request, onNet, onRefused, askNetwork }, {
      runtime,
      secrets,
      onLog: (line) => (this.net.line(), onLog(line)),
      onStdout: (chunk) => {
        this.#tap?.plugin(chunk);
        this.#connection.receive(chunk);
      },
      onDrain: () => this.#connection.drained(),
      ...(turn && { pace: (take, flow) => inTurns(turn, take, flow) }),
      onExit: () => (this.#wasAsked = this.#stopping, turn?.free()),
      beforeSpawn: checkWanted,
    }).catch((error) => (turn?.free(), Promise.reject(error)));
    const { pid, cage } = this.caged = caged;
    if (!probe && pid !== null && cage !== null) {
      audit.emit("plugin.spawned", subject, { version: this.manifest.version, pid, cage_id: cage.id });
    }
    void this.#follow(caged);
  }

  /** Shakes hands. When it rejects, the process is being ended: await {@link ended}. */
  async handshake(
    options: Pick<HandshakeOptions, "config" | "projects" | "storageAvailable" | "kindMethods">,
  ): Promise<PluginProfile> {
    const caged = this.caged!;
    try {
      const shaken = this.dialect.handshake({
        ...options,
        beforeConfig: () => caged.cage?.verifyMounts() ?? Promise.resolve(),
        onInitialized: () => {
          this.#phase = "running";
          this.#health.start();
          caged.cage?.settle().catch((error) => this.kill(asHostError(error)));
        },
      });
      return await this.net.duringStart(shaken).catch((error) =>
        Promise.reject(withMissingProgram(error, caged.stderr(), this.#withheld))
      );
    } catch (error) {
      this.kill(startFailure(error, this.manifest.name));
      throw error;
    }
  }

  /** Sends a notification, unless the plugin no longer reads. */
  notify(method: string, params: unknown): void {
    quietly(() => this.dialect.notify(method, params));
  }

  /** Says what became of a project, in the way the plugin takes it. It may refuse, or take a request for a notification. */
  tell({ projects }: PluginProfile, method: string, params: Readonly<Record<string, unknown>>): void {
    if (projects === "notified") this.notify(method, params);
    else if (projects === "asked") this.dialect.ask?.(method, params, 10_000).catch(() => {});
  }

  /** Resolves when every call has its answer, or the process has ended, or `ms` have passed. */
  async drain(ms: number): Promise<void> {
    const passed = new Promise<void>((resolve) => this.#after(ms, resolve));
    await Promise.race([this.dialect.idle?.() ?? this.#connection.idle(), passed, this.ended]);
  }

  /** Asks it to end in its own protocol, then by SIGTERM, then by SIGKILL. Resolves when it has. */
  async stop(): Promise<Ending> {
    if (!this.#stopping && this.#phase !== "ended") {
      this.#stopping = true;
      if (this.#phase === "running") {
        quietly(() => this.dialect.askToEnd());
        this.#after(this.manifest.shutdown_timeout_sec * 1000, () => void this.#terminate("ignored shutdown"));
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
    void this.caged?.kill();
  }

  async #terminate(reason: string): Promise<void> {
    if (this.#phase === "ended") return;
    this.#terminating = true;
    if (await this.caged?.terminate(() => this.#sigkill(reason))) this.#tap?.closed();
  }

  #endInput(): void {
    this.#tap?.closed();
    this.caged?.pipes.endInput();
  }

  async #follow(caged: Program): Promise<void> {
    const { exit: outer, fault, stderr } = await caged.exited;
    const exit = exitInside(outer);
    const isStart = this.#phase === "starting";
    this.#phase = "ended";
    for (const cancel of this.#timers) cancel();
    this.#tap?.end(exit);
    const error = this.#cause ?? fault ??
      new HostError("plugin.unavailable", `[BLOCKED] Plugin "${this.manifest.name}" ended ${endingOf(exit)}`, {
        data: { exit_code: exit.code, signal: exit.signal },
        hint: missingProgramHint(stderr, this.#withheld) ?? this.net.hintOfEnd(stderr, { isStart }) ??
          "Its last lines on stderr are in the audit event plugin.crashed",
      });
    this.#connection.close(error);
    await caged.ended;
    const isFault = this.#cause !== null;
    this.#ending.resolve({ exit, error, kind: this.#endingKind(exit), isFault, lastStderr: stderr });
  }

  /** A process that is asked to end may still crash on the way: heeding means exit code 0, or our SIGTERM. */
  #endingKind(exit: Exit): Ending["kind"] {
    if (!this.#wasAsked) return "unasked";
    if (this.#killed) return "killed";
    return exit.code === 0 || this.#terminating ? "stopped" : "unasked";
  }

  #connect(listeners: Parameters<DialectPorts["connect"]>[0]): Connection {
    const { clock, bytes } = this.#options.runtime;
    const connection = createConnection({
      ...listeners,
      ...{ clock, bytes, turn: this.#turn },
      wire: {
        write: (text) => {
          this.#tap?.host(text);
          this.caged?.pipes.write(text);
        },
        bufferedBytes: () => this.caged?.pipes.bufferedBytes() ?? 0,
        pause: () => this.caged?.pipes.pause(),
        resume: () => this.caged?.pipes.resume(),
      },
      onTimeout: (error) => {
        const { method } = error.data as { method: string };
        // The health watch counts its own.
        if (this.#phase === "running" && !HEALTH_METHODS.has(method)) void this.#health.suspect(error);
      },
    });
    if (!isRemote(this.manifest)) return connection;
    return explainedCalls(connection, (error) => this.caged?.explain?.(error) ?? error);
  }

  #auditNet(event: NetEvent): void {
    const { audit, subject } = this.#options;
    const { kind: _, ...data } = event;
    if ("method" in data) audit.emit("plugin.net_request_refused", subject, data);
    else if ("name" in data) audit.emit("plugin.secret_misused", subject, data);
    else if ("reason" in data) audit.emit("plugin.net_refused", subject, data);
    else audit.emit("plugin.net_opened", subject, data);
  }

  #after(ms: number, run: () => void): void {
    const cancel = this.#options.runtime.clock.after(ms, () => {
      this.#timers.delete(cancel);
      if (this.#phase !== "ended") run();
    });
    this.#timers.add(cancel);
  }
}
