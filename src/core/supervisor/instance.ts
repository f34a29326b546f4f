/**
 * One plugin instance: its lifeline around one process at a time. Around a reload there are more: the one that gets
 * ready to take over, and those that finish their calls.
 *
 * @module
 */
import { speaksMcp } from "../manifest/speaks_mcp.ts";
import type { AuditSubject } from "../audit/audit.ts";
import { HostError } from "../errors/host_error.ts";
import type { Manifest } from "../manifest/manifest.ts";
import type { McpTool } from "../mcp/mcp_tool.ts";
import type { McpPeer } from "../mcp/peer.ts";
import type { CallEnd, CallOptions, IncomingRequest } from "../wire/connection_types.ts";
import type { PluginProfile } from "./dialect.ts";
import { InstanceCall } from "./instance_call.ts";
import { instanceInfo, liveInfo } from "./instance_info.ts";
import { noServer } from "./instance_mcp.ts";
import { type InstanceOptions, processOptions } from "./instance_options.ts";
import { InstanceParts } from "./instance_parts.ts";
import type { Config } from "./instance_secrets.ts";
import { Lifeline } from "./lifeline.ts";
import { type Ending, type PluginProcess, spawnPlugin } from "./plugin_process.ts";
import { PluginFolder, type PluginSource, projectsOf } from "./plugin_source.ts";
import { DRAIN_MS, PendingReplacement, reloadingError } from "./replacement.ts";
import { startFailure } from "./start_failure.ts";
import { unknownMethod } from "./unknown_method.ts";
import type { PluginCallContext, PluginInfo, PluginSpec, Replacement } from "./types.ts";

/** A registered plugin with its processes. */
export class PluginInstance {
  /** Named in its audit events. */
  readonly subject: AuditSubject;
  /** Whether it starts with the others. */
  isEnabled: boolean;
  readonly #options: InstanceOptions;
  readonly #life: Lifeline;
  #made: InstanceParts | null = null;
  /** Later starts run this one. */
  #source: PluginSource;
  /** The process that serves, or is coming up to. */
  #current: PluginProcess | null = null;
  /** The process that is to take over, while a reload is on its way. */
  #next: PendingReplacement | null = null;
  #manifest: Manifest;
  /** With the operator's secrets: its processes get {@link InstanceSecrets.outward} of it. */
  #config: Config;
  /** Tools of an MCP server, kept while it is down: it is expected back. Null before they were pinned or listed. */
  #tools: readonly McpTool[] | null;
  #attempt: Promise<void> | null = null;
  #ending: Promise<void> | null = null;
  #asking: PluginInfo | null = null;
  #stops = 0;

  /** Takes a plugin on; nothing is started. */
  constructor(options: InstanceOptions) {
    const { source, source: { spec }, manifest, subject } = options;
    this.#options = options;
    this.subject = subject;
    this.#life = new Lifeline(options);
    this.#source = source;
    this.#manifest = manifest;
    this.#tools = spec.pinnedTools ?? null;
    this.isEnabled = spec.enabled ?? true;
    this.#config = spec.config ?? {};
  }

  get #parts(): InstanceParts {
    return this.#made ??= new InstanceParts(this.#options, {
      life: this.#life,
      idleStopMs: () => this.#idleStopMs,
      isHeld: () => this.#next !== null || (this.#options.host.isHeld?.(this.subject.instance) ?? false),
      bringUp: () => this.#try(),
      end: () => this.#endOnce(),
      ending: () => this.#ending,
    });
  }

  /** Returns its state for operators; with the manifest of one of its processes, where that is meant. */
  info(manifest: Manifest = this.#manifest): PluginInfo {
    const [{ spec }, life, live, tools] = [this.#source, this.#life, this.#current, this.#tools];
    return instanceInfo(this.subject, { manifest, spec, life, live, tools });
  }

  /** Starts it, forgetting earlier failures. Rejects with why the first try failed; further tries go on behind. */
  async start(): Promise<void> {
    await this.gone();
    if (this.#life.state.status === "running") return;
    this.isEnabled = true;
    this.#life.apply({ type: "enabled" });
    await this.#try();
  }

  /** Lets it rest where it may, else starts it; forgets earlier failures. True when it rests. */
  async ready(): Promise<boolean> {
    await this.gone();
    return this.restIfIdle() || await this.start().then(() => false);
  }

  /** One process at a time: resolves when the former is gone. Rejects when it was stopped again meanwhile. */
  async gone(): Promise<void> {
    const stops = this.#stops;
    while (this.#ending) await this.#ending;
    if (stops !== this.#stops) throw this.#life.unavailable();
  }

  /** Lets it rest, unless it has a process, is still losing one, or must have one. */
  restIfIdle(): boolean {
    if (this.#life.isWanted || this.#ending !== null || this.#idleStopMs === null) return false;
    this.#life.apply({ type: "rested" });
    return this.isEnabled = true;
  }

  isAtRest(): boolean {
    return this.#life.state.status === "resting" && this.#ending === null;
  }

  /** Starts it where it rests, for `need`. Rejects as the start does. */
  async wake(need: string): Promise<void> {
    if (!this.#current?.profile && this.#parts.rest.isWakeable) await this.#parts.rest.wake(need);
  }

  /** Stops it and keeps it down. */
  async stop(event: "stopped" | "disabled"): Promise<void> {
    this.#stops++;
    this.#life.apply({ type: event });
    if (event === "disabled") this.isEnabled = false;
    if (this.#made) await this.#endOnce(); // Without parts it was never started.
  }

  #endOnce(): Promise<void> {
    return this.#ending ??= this.#end().finally(() => this.#ending = null);
  }

  /** Ends its processes, or the attempt to bring one up. */
  async #end(): Promise<void> {
    const { rest, mcp, leaving } = this.#parts;
    rest.unwatch();
    const current = this.#current;
    const attempt = this.#attempt;
    await Promise.all([
      mcp.stop(),
      this.#next?.discard(this.#life.unavailable()),
      current && this.#dismiss(current),
      ...Array.from(leaving, ([live, gone]) => live.stop().then(() => gone)),
    ]);
    if (attempt) await attempt.catch(() => {}); // Its failure was reported to whoever started it.
    this.#current = null;
  }

  /** Hands it a new config. When it refuses, or cannot be asked, the old one stays. */
  async updateConfig(config: Config): Promise<void> {
    await this.#next?.settled; // A process that takes over meanwhile is the one to ask.
    if (this.#idleStopMs !== null) await this.#attempt?.catch(() => {}); // A call that woke it must not cost it the config.
    const { secrets, audit } = this.#parts;
    secrets.learn(this.#manifest, config);
    const live = this.#current;
    if (live?.profile && !secrets.isHiddenChange(live.manifest, this.#config, config)) {
      const outward = secrets.outward(live.manifest, config);
      if (!await live.dialect.updateConfig(outward)) audit.configIgnored(outward);
    }
    this.#config = config;
  }

  /** Calls a method the plugin may be asked for. */
  call(
    method: string,
    params: Readonly<Record<string, unknown>>,
    context: PluginCallContext,
    options: CallOptions,
    end?: CallEnd,
  ): Promise<unknown> {
    const live = this.#current;
    if (!live?.profile) {
      return this.#parts.rest.through(
        method,
        options.signal,
        () => this.call(method, params, context, options, end),
        end,
      );
    }
    const isKnown = live.profile.callable.has(method) || method === "ping" || this.#options.byWireName;
    if (!isKnown) throw unknownMethod(this.subject.name, method, live.profile);
    const call = new InstanceCall(method, params, context, this.#parts.audit, live.net, end);
    return live.dialect.call(method, params, context, options, call);
  }

  /** Returns the parts of an MCP server beyond its tools. Throws `plugin.unavailable` or `mcp.not_offered`. */
  mcp(): McpPeer {
    const live = this.#current;
    if (!live?.profile) throw this.#life.unavailable();
    return live.dialect.peer ?? noServer(this.subject.name);
  }

  /**
   * Starts another process beside the one that runs, from the files and with the config of `spec`. Rejects with why it
   * could not; the one that runs goes on then. Rejects with `plugin.reloading` while another one is on its way.
   */
  async replace(spec: PluginSpec = { ...this.#source.spec, config: this.#config }): Promise<Replacement> {
    if (this.#next) throw reloadingError(this.subject);
    if (!this.#current?.profile) throw this.#life.unavailable();
    const source = new PluginFolder(this.subject.name, spec, this.#options);
    const startedMs = this.#options.host.runtime.clock.monotonic();
    const current = (): Config => this.#next === next ? spec.config ?? {} : this.#config;
    const next: PendingReplacement = this.#next = new PendingReplacement({
      spawn: () => this.#spawn(this.#parts.secrets.inSource(source, current), () => next.check()),
      handshake: (live) => this.#handshake(live, current()),
      failure: (thrown) => startFailure(thrown, this.subject.name),
      takeOver: (live) => this.#takeOver(live, source, startedMs),
      onEnded: (ending) => this.#parts.audit.ended(ending),
      onFailed: (error) => {
        this.#next = null;
        // A later start runs what lies there now, with the hash that goes with it, and the config that was good.
        this.#source = new PluginFolder(this.subject.name, { ...spec, config: this.#config }, this.#options);
        this.#parts.audit.reloadFailed(error);
      },
    });
    await next.ready;
    return next;
  }

  /** From here on every call goes to `next`. Resolves when the process before is gone. */
  async #takeOver(next: PluginProcess, source: PluginSource, startedMs: number): Promise<void> {
    const old = this.#current;
    const before = this.#manifest;
    this.#next = null;
    this.#source = source;
    this.#config = source.spec.config ?? {};
    this.#current = next;
    this.#manifest = next.manifest;
    this.#life.apply({ type: "replaced" });
    void next.ended.then((ending) => this.#onEnded(next, ending));
    this.#onReady(next);
    this.#parts.audit.reloaded(before, next.manifest, this.#options.host.runtime.clock.monotonic() - startedMs);
    if (!old) return; // It crashed meanwhile.
    const { leaving } = this.#parts;
    const gone = old.drain(DRAIN_MS).then(() => this.#dismiss(old)).finally(() => leaving.delete(old));
    leaving.set(old, gone);
    await gone;
  }

  #try(): Promise<void> {
    return this.#attempt ??= this.#bringUp().finally(() => this.#attempt = null);
  }

  /** One start: cage, process, handshake. */
  async #bringUp(): Promise<void> {
    if (this.#next) {
      await this.#next.settled;
      if (this.#current) return; // That one has taken over.
    }
    let live: PluginProcess | null = null;
    try {
      const source = this.#parts.secrets.inSource(this.#source, () => this.#config);
      const started = live = await this.#spawn(source, () => this.#life.checkWanted());
      this.#current = started;
      this.#manifest = started.manifest;
      void started.ended.then((ending) => this.#onEnded(started, ending));
      if (!this.#life.isWanted) this.#parts.audit.ended(await started.stop());
      const profile = await this.#handshake(started, this.#config);
      this.#life.checkWanted();
      started.profile = profile;
      this.#life.apply({ type: "ready" });
      this.#onReady(started);
    } catch (thrown) {
      const error = startFailure(thrown, this.subject.name);
      const isMisjudged = live !== null && await this.#parts.mcp.isContradicted(error);
      if (isMisjudged) this.#current = null; // That end is no failure of the plugin's.
      if (live) await live.ended; // And with it #onEnded, which keeps the state.
      else this.#parts.fail(error);
      if (isMisjudged && this.#life.isWanted) return await this.#bringUp();
      throw error;
    }
  }

  async #spawn(source: PluginSource, checkWanted: () => void): Promise<PluginProcess> {
    const plain = processOptions(this.#options, {
      checkWanted,
      tap: (manifest) => this.#options.host.tap?.(this.info(manifest)) ?? null,
      onRequest: (manifest, request) => this.#onRequest(manifest, request),
      onTools: (live, tools) => this.#onTools(live, tools),
    });
    const options = this.#idleStopMs === null ? plain : this.#parts.rest.counting(plain);
    const mcpEra = await this.#parts.mcp.eraOf(source, options);
    return await spawnPlugin(source, { ...options, ...(mcpEra && { mcpEra }) });
  }

  async #handshake(live: PluginProcess, whole: Config): Promise<PluginProfile> {
    const { storageAvailable = false, kindMethods } = this.#options.host;
    const config = this.#parts.secrets.outward(live.manifest, whole);
    const profile = await live.handshake({ config, projects: projectsOf(this.#source), storageAvailable, kindMethods });
    await this.#parts.mcp.confirm();
    return profile;
  }

  /** A process serves from now on: it is audited, and gets to know its projects. */
  #onReady(live: PluginProcess): void {
    const profile = live.profile!;
    if (profile.mcp) this.#keepTools(profile.mcp.tools);
    const { secrets, audit, rest } = this.#parts;
    const config = secrets.outward(live.manifest, this.#config);
    audit.initialized(profile, live.manifest, config);
    for (const project of projectsOf(this.#source)) live.tell(profile, "projects.activated", { project, config });
    rest.watch(live);
  }

  /** Ends a process that serves, or did. From here on it is not called. */
  async #dismiss(live: PluginProcess): Promise<void> {
    const { profile } = live;
    live.profile = null;
    if (profile) {
      for (const project of projectsOf(this.#source)) live.tell(profile, "projects.deactivated", { project });
    }
    this.#parts.audit.ended(await live.stop());
  }

  /** A running MCP server has other tools now. */
  #onTools(live: PluginProcess, tools: readonly McpTool[]): void {
    const { profile } = live;
    if (!profile?.mcp) return;
    const callable = new Set(tools.map(({ name }) => `${this.subject.name}.${name}`));
    live.profile = { ...profile, callable, mcp: { ...profile.mcp, tools } };
    if (this.#current === live) this.#keepTools(tools);
  }

  #keepTools(tools: readonly McpTool[]): void {
    this.#tools = tools;
    this.#options.host.onTools?.(this.info());
  }

  /** Null for one that must have a process: it starts with the others, or nobody knows its tools yet. */
  get #idleStopMs(): number | null {
    const { onDemand } = this.#source.spec;
    return onDemand && (!speaksMcp(this.#manifest) || this.#tools !== null) ? onDemand.idleStopMs : null;
  }

  #onEnded(live: PluginProcess, ending: Ending): void {
    // A process that another has replaced, or that was stopped, is audited where it was dismissed.
    if (this.#current !== live || !this.#life.isWanted) return;
    this.#current = null;
    this.#parts.ended(ending);
  }

  #onRequest(manifest: Manifest, request: IncomingRequest): unknown {
    const { onRequest } = this.#options.host;
    if (this.#asking?.manifest !== manifest) this.#asking = liveInfo(() => this.info(manifest));
    if (onRequest) return onRequest(this.#asking, request, this.#options.audit);
    throw new HostError("protocol.method_unknown", `The host has no method "${request.method}"`);
  }
}
