/**
 * One plugin instance: its lifeline around one process at a time. Around a reload there are more:
 * the one that gets ready to take over, and the one that finishes its calls.
 *
 * @module
 */
import type { AuditSubject } from "../audit/audit.ts";
import { asHostError } from "../errors/host_error.ts";
import type { Manifest } from "../manifest/manifest.ts";
import type { McpTool } from "../mcp/mcp_tool.ts";
import type { CallOptions, IncomingRequest } from "../wire/connection_types.ts";
import { auditedCall, isTold } from "./audited_call.ts";
import { dismiss, tellConfigIgnored, type Telling, welcome } from "./comings_and_goings.ts";
import type { PluginProfile } from "./dialect.ts";
import { auditEnding } from "./failure.ts";
import { type Generation, type GenerationSource, spawnGeneration, unknownRequest } from "./generation.ts";
import { reloading, unknownMethod } from "./instance_errors.ts";
import { instanceInfo } from "./instance_info.ts";
import type { InstanceOptions } from "./instance_options.ts";
import { Lifeline } from "./lifeline.ts";
import { manifestReader } from "./manifest_reader.ts";
import type { Ending, PluginProcess } from "./plugin_process.ts";
import { auditReload, auditReloadFailed } from "./reload_audit.ts";
import { PendingReplacement } from "./replacement.ts";
import { Retirement } from "./retirement.ts";
import type { PluginCallContext, PluginInfo, PluginSpec, Replacement } from "./types.ts";

/** A registered plugin. */
export class PluginInstance {
  /** Whom its audit events are about. */
  readonly subject: AuditSubject;
  readonly #options: InstanceOptions;
  readonly #life: Lifeline;
  /** What later starts run. */
  #source: GenerationSource;
  /** The process that serves, or is coming up to. */
  #current: Generation | null = null;
  /** The one that is to take over. */
  #next: PendingReplacement | null = null;
  /** Those it took over from. */
  readonly #retirement = new Retirement();
  #manifest: Manifest;
  #enabled: boolean;
  #config: Readonly<Record<string, unknown>>;
  /** Tools of an MCP server, kept while it is down: it is expected back. */
  #mcpTools: readonly McpTool[] = [];
  #attempt: Promise<void> | null = null;
  #ending: Promise<void> | null = null;
  #stops = 0;

  /** Takes a plugin on; nothing is started. */
  constructor(options: InstanceOptions) {
    const { spec, manifest, freshManifest, audit, subject, host } = options;
    this.#options = options;
    this.subject = subject;
    const retry = (): void => void this.#try().catch(() => {}); // Told by the lifeline.
    this.#life = new Lifeline({ clock: host.runtime.clock, audit, subject, retry });
    this.#source = { spec, readManifest: freshManifest };
    this.#manifest = manifest;
    this.#enabled = spec.enabled ?? true;
    this.#config = spec.config ?? {};
  }

  /** Whether it starts with the others. */
  get isEnabled(): boolean {
    return this.#enabled;
  }

  /** What is known of it; with the manifest of one of its processes, where that is meant. */
  info(manifest: Manifest = this.#manifest): PluginInfo {
    return instanceInfo({
      subject: this.subject,
      dir: this.#source.spec.dir,
      manifest,
      state: this.#life.state,
      current: this.#current,
      mcpTools: this.#mcpTools,
      error: this.#life.error,
    });
  }

  /** Starts it, forgetting earlier failures. Rejects with why the first try failed; further tries go on behind. */
  async start(): Promise<void> {
    // One process at a time: the former is gone before the next one comes.
    const stops = this.#stops;
    while (this.#ending) await this.#ending;
    if (stops !== this.#stops) throw this.#life.unavailable(); // Stopped again meanwhile.
    if (this.#life.state.status === "running") return;
    this.#enabled = true;
    this.#life.apply({ type: "enabled" });
    await this.#try();
  }

  /** Stops it and keeps it down. */
  async stop(event: "stopped" | "disabled"): Promise<void> {
    this.#stops++;
    this.#life.apply({ type: event });
    if (event === "disabled") this.#enabled = false;
    this.#ending ??= this.#end().finally(() => this.#ending = null);
    await this.#ending;
  }

  /** Ends its processes, or the attempt to bring one up. */
  async #end(): Promise<void> {
    const current = this.#current;
    const attempt = this.#attempt;
    await Promise.all([
      this.#next?.discard(this.#life.unavailable()),
      current && dismiss(current, this.#telling),
      this.#retirement.stop(),
    ]);
    if (attempt) await attempt.catch(() => {}); // Its failure was reported to whoever started it.
    this.#current = null;
  }

  /** Hands it a new config. When it refuses, or cannot be asked, the old one stays. */
  async updateConfig(config: Readonly<Record<string, unknown>>): Promise<void> {
    await this.#next?.settled; // Whoever serves then is asked.
    const { live, profile } = this.#current ?? {};
    if (live && profile && !await live.updateConfig(config)) tellConfigIgnored(config, this.#telling);
    this.#config = config;
  }

  /** Calls a method the plugin may be asked for. */
  call(
    method: string,
    params: Readonly<Record<string, unknown>>,
    context: PluginCallContext,
    options: CallOptions,
  ): Promise<unknown> {
    const { subject } = this;
    const { live, profile } = this.#current ?? {};
    if (!live || !profile) throw this.#life.unavailable();
    if (!profile.callable.has(method) && method !== "ping") throw unknownMethod(subject.name, method, profile);
    const { audit, host: { runtime: { clock } } } = this.#options;
    if (!isTold(method, audit)) return live.call(method, params, context, options);
    const call = () => live.call(method, params, context, options);
    return auditedCall(call, { method, context }, { audit, subject, clock });
  }

  /**
   * Starts another process beside the one that runs, from the files and with the config of `spec`. Rejects with why it
   * could not; the one that runs goes on then. Rejects with `plugin.reloading` while another one is on its way.
   */
  async replace(spec: PluginSpec = { ...this.#source.spec, config: this.#config }): Promise<Replacement> {
    if (this.#next) throw reloading(this.subject);
    if (!this.#current?.profile) throw this.#life.unavailable();
    const source = this.#sourceOf(spec);
    const startedMs = this.#options.host.runtime.clock.monotonic();
    const next = this.#next = new PendingReplacement({
      spawn: () => this.#spawn(source, () => next.check()),
      handshake: (live) => this.#handshake(live, spec.config ?? {}),
      takeOver: (generation) => this.#takeOver(generation, source, startedMs),
      onEnded: (ending) => this.#tellEnding(ending),
      onFailed: (error) => {
        this.#next = null;
        // A later start runs what lies there now, with the hash that goes with it, and the config that was good.
        this.#source = { ...source, spec: { ...spec, config: this.#config } };
        auditReloadFailed(error, this.#options.audit, this.subject);
      },
    });
    await next.ready;
    return next;
  }

  #sourceOf(spec: PluginSpec): GenerationSource {
    if (spec.dir === this.#source.spec.dir) return { ...this.#source, spec };
    return { spec, readManifest: manifestReader(spec.dir, this.#options.host.runtime.files, this.subject.name) };
  }

  /** From here on every call goes to `next`. Resolves when the process before is gone. */
  async #takeOver(next: Generation, source: GenerationSource, startedMs: number): Promise<void> {
    const old = this.#current;
    const before = this.#manifest;
    this.#next = null;
    this.#source = source;
    this.#config = source.spec.config ?? {};
    this.#current = next;
    this.#manifest = next.manifest;
    this.#life.apply({ type: "replaced" });
    void next.live.ended.then((ending) => this.#onEnded(next, ending));
    this.#onReady(next);
    const { audit, host: { runtime: { clock } } } = this.#options;
    auditReload({ before, after: next.manifest, tookMs: clock.monotonic() - startedMs }, audit, this.subject);
    if (old) await this.#retirement.retire(old, () => dismiss(old, this.#telling)); // Unless it crashed meanwhile.
  }

  #try(): Promise<void> {
    this.#attempt ??= this.#bringUp().finally(() => this.#attempt = null);
    return this.#attempt;
  }

  /** One start: cage, process, handshake. */
  async #bringUp(): Promise<void> {
    if (this.#next) {
      await this.#next.settled;
      if (this.#current) return; // That one has taken over.
    }
    let live: PluginProcess | null = null;
    try {
      const generation = await this.#spawn(this.#source, () => this.#life.checkWanted());
      ({ live } = generation);
      this.#current = generation;
      this.#manifest = generation.manifest;
      void live.ended.then((ending) => this.#onEnded(generation, ending));
      if (!this.#life.isWanted) this.#tellEnding(await live.stop());
      const profile = await this.#handshake(live, this.#config);
      this.#life.checkWanted();
      generation.profile = profile;
      this.#life.apply({ type: "ready" });
      this.#onReady(generation);
    } catch (thrown) {
      const error = asHostError(thrown);
      if (live) await live.ended; // And with it #onEnded, which keeps the state.
      else this.#life.fail(error);
      throw error;
    }
  }

  #spawn(source: GenerationSource, checkWanted: () => void): Promise<Generation> {
    const { host, audit, openCage, onNotification } = this.#options;
    const { subject } = this;
    return spawnGeneration(source, {
      host,
      audit,
      subject,
      openCage,
      checkWanted,
      tap: (manifest) => host.tap?.(this.info(manifest)) ?? null,
      onNotification: (method, params) => onNotification({ instance: subject.instance, method, params }),
      onRequest: (manifest, request) => this.#onRequest(manifest, request),
      onTools: (generation, tools) => this.#onTools(generation, tools),
    });
  }

  #handshake(live: PluginProcess, config: Readonly<Record<string, unknown>>): Promise<PluginProfile> {
    const storageAvailable = this.#options.host.storageAvailable ?? false;
    return live.handshake({ config, projects: this.#projects, storageAvailable });
  }

  /** It serves from now on. */
  #onReady(generation: Generation): void {
    const { mcp } = generation.profile!;
    if (mcp) this.#keepTools(mcp.tools);
    welcome(generation, this.#config, this.#telling);
  }

  /** A running MCP server has other tools now. */
  #onTools(generation: Generation, tools: readonly McpTool[]): void {
    const { profile } = generation;
    if (!profile?.mcp) return;
    const callable = new Set(tools.map(({ name }) => `${this.subject.name}.${name}`));
    generation.profile = { ...profile, callable, mcp: { ...profile.mcp, tools } };
    if (this.#current === generation) this.#keepTools(tools);
  }

  #keepTools(tools: readonly McpTool[]): void {
    this.#mcpTools = tools;
    this.#options.host.onTools?.(this.info());
  }

  #tellEnding(ending: Ending): void {
    auditEnding(ending, this.#options.audit, this.subject);
  }

  get #telling(): Telling {
    const { audit, subject } = this.#options;
    return { audit, subject, projects: this.#projects };
  }

  get #projects(): readonly string[] {
    return this.#source.spec.projects ?? [];
  }

  #onEnded(generation: Generation, ending: Ending): void {
    if (this.#current !== generation || !this.#life.isWanted) return; // Whoever ended it tells of it.
    this.#current = null;
    this.#tellEnding(ending);
    this.#life.fail(ending.error);
  }

  #onRequest(manifest: Manifest, request: IncomingRequest): unknown {
    const { onRequest } = this.#options.host;
    if (!onRequest) throw unknownRequest(request);
    return onRequest(this.info(manifest), request, this.#options.audit);
  }
}
