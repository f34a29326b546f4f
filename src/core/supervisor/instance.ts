/**
 * One plugin instance: the state machine of `next_state.ts` around one process at a time.
 *
 * @module
 */
import type { Audit, AuditSubject } from "../audit/audit.ts";
import type { OpenCage } from "../cage/cage.ts";
import type { NetEvent } from "../cage/net/gatekeeper.ts";
import { asHostError, HostError } from "../errors.ts";
import type { Manifest } from "../manifest/manifest.ts";
import type { McpTool } from "../mcp/mcp_tool.ts";
import type { CallOptions, IncomingRequest } from "../protocol/connection_types.ts";
import { verifyTree } from "../store/verify_tree.ts";
import { auditNet } from "./audit_net.ts";
import { cageRequest } from "./cage_request.ts";
import type { PluginProfile } from "./dialect.ts";
import { auditEnding, isFinal } from "./failure.ts";
import { unavailable, unknownMethod } from "./instance_errors.ts";
import { FRESH, type InstanceEvent, type InstanceState, nextState, RESTART_POLICY } from "./next_state.ts";
import { type Ending, type PluginProcess, spawnPlugin } from "./plugin_process.ts";
import type { PluginCallContext, PluginInfo, PluginNotification, PluginSpec, SupervisorOptions } from "./types.ts";

const HOOK_PREFIX = "kaged.hook.";

/** What an instance is made of. */
export interface InstanceOptions {
  /** How the supervisor is set up. */
  readonly host: SupervisorOptions;
  /** What to run. */
  readonly spec: PluginSpec;
  /** Its manifest, as it was when the plugin was registered. */
  readonly manifest: Manifest;
  /** Reads the manifest again, when the file has changed. */
  readonly freshManifest: () => Promise<Manifest>;
  /** Builds cages. */
  readonly openCage: OpenCage;
  /** Where audit events go. */
  readonly audit: Audit;
  /** Whom they are about. */
  readonly subject: AuditSubject;
  /** Hears notifications. */
  readonly onNotification: (notification: PluginNotification) => void;
}

/** A registered plugin. */
export class PluginInstance {
  /** Its process, or null. */
  live: PluginProcess | null = null;
  /** What the running process told of itself, or null. */
  profile: PluginProfile | null = null;
  /** Whom its audit events are about. */
  readonly subject: AuditSubject;
  readonly #options: InstanceOptions;
  #manifest: Manifest;
  #state: InstanceState = FRESH;
  #error: HostError | null = null;
  #enabled: boolean;
  #config: Readonly<Record<string, unknown>>;
  /** Tools of an MCP server, kept while it is down: it is expected back. */
  #mcpTools: readonly McpTool[] = [];
  #attempt: Promise<void> | null = null;
  #ending: Promise<void> | null = null;
  #stops = 0;
  #cancelDelay: () => void = () => {};

  /** Takes a plugin on; nothing is started. */
  constructor(options: InstanceOptions) {
    this.#options = options;
    this.subject = options.subject;
    this.#manifest = options.manifest;
    this.#enabled = options.spec.enabled ?? true;
    this.#config = options.spec.config ?? {};
  }

  /** Whether it starts with the others. */
  get isEnabled(): boolean {
    return this.#enabled;
  }

  /** What is known of it. */
  info(): PluginInfo {
    const { spec, subject } = this.#options;
    const mcp = this.profile?.mcp;
    return {
      instance: subject.instance,
      plugin: subject.name,
      version: this.#manifest.version,
      dir: spec.dir,
      manifest: this.#manifest,
      status: this.#state.status,
      pid: this.live?.pid ?? null,
      cage: this.live?.cage ?? null,
      restarts: this.#state.restarts,
      methods: this.profile?.methods ?? [],
      features: this.profile?.features ?? [],
      tools: this.#manifest.runtime === "mcp_stdio" ? this.#mcpTools : this.#manifest.tools,
      mcp: mcp ? { protocol: mcp.protocol, name: mcp.name, version: mcp.version } : null,
      error: this.#error,
    };
  }

  /** Starts it, forgetting earlier failures. Rejects with why the first try failed; further tries go on behind. */
  async start(): Promise<void> {
    // One process at a time: the former is gone before the next one comes.
    const stops = this.#stops;
    while (this.#ending) await this.#ending;
    if (stops !== this.#stops) throw this.#unavailable(); // Stopped again meanwhile.
    if (this.#state.status === "running") return;
    this.#cancelDelay();
    this.#enabled = true;
    this.#apply({ type: "enabled" });
    await this.#try();
  }

  /** Stops it and keeps it down. */
  async stop(event: "stopped" | "disabled"): Promise<void> {
    this.#stops++;
    this.#cancelDelay();
    this.#apply({ type: event });
    if (event === "disabled") this.#enabled = false;
    this.#ending ??= this.#end().finally(() => this.#ending = null);
    await this.#ending;
  }

  /** Ends its process, or the attempt to bring one up. */
  async #end(): Promise<void> {
    const live = this.live;
    const attempt = this.#attempt;
    const tellsProjects = this.profile?.features.includes("projects") ?? false;
    this.profile = null;
    if (live) {
      if (tellsProjects) { for (const project of this.#projects) live.notify("projects.deactivated", { project }); }
      auditEnding(await live.stop(), this.#options.audit, this.subject);
    }
    if (attempt) await attempt.catch(() => {}); // Its failure was reported to whoever started it.
    this.live = null;
  }

  /** Hands it a new config. When it refuses, or cannot be asked, the old one stays. */
  async updateConfig(config: Readonly<Record<string, unknown>>): Promise<void> {
    if (this.live && this.profile && !await this.live.updateConfig(config)) this.#tellConfigIgnored(config);
    this.#config = config;
  }

  /** Calls a method the plugin may be asked for. */
  call(
    method: string,
    params: Readonly<Record<string, unknown>>,
    context: PluginCallContext,
    options: CallOptions,
  ): Promise<unknown> {
    const { live, profile, subject } = this;
    if (!live || !profile) throw this.#unavailable();
    if (!profile.callable.has(method) && method !== "ping") throw unknownMethod(subject.name, method, profile);
    const { audit, host } = this.#options;
    // Hooks have audit events of their own, made by who fires them.
    if (!audit.active || method.startsWith(HOOK_PREFIX)) return live.call(method, params, context, options);

    const { clock } = host.runtime;
    const { request_id, operator_id, project_id, agent_path } = context;
    const startedMs = clock.monotonic();
    const returned = (success: boolean) => {
      const duration_ms = Math.round((clock.monotonic() - startedMs) * 1000) / 1000;
      audit.emit("plugin.method_returned", subject, { method, duration_ms, success }, request_id);
    };
    audit.emit("plugin.method_called", subject, { method, operator_id, project_id, agent_path }, request_id);
    return live.call(method, params, context, options).then((result) => {
      returned(true);
      return result;
    }, (error) => {
      returned(false);
      throw error;
    });
  }

  #unavailable(): HostError {
    return unavailable(this.subject, this.#state.status, this.#error);
  }

  #try(): Promise<void> {
    this.#attempt ??= this.#bringUp().finally(() => this.#attempt = null);
    return this.#attempt;
  }

  /** One start: cage, process, handshake. */
  async #bringUp(): Promise<void> {
    let live: PluginProcess | null = null;
    try {
      live = await this.#spawn();
      const profile = await live.handshake({
        config: this.#config,
        projects: this.#projects,
        storageAvailable: this.#options.host.storageAvailable ?? false,
      });
      if (!this.#isWanted()) throw this.#unavailable();
      this.#onReady(profile);
    } catch (thrown) {
      const error = asHostError(thrown);
      if (live) await live.ended; // And with it #onEnded, which keeps the state.
      else this.#fail(error);
      throw error;
    }
  }

  async #spawn(): Promise<PluginProcess> {
    const { host, spec, audit, subject, openCage, freshManifest } = this.#options;
    if (spec.hash !== undefined) await verifyTree(subject.name, spec.dir, spec.hash, host.runtime.files);
    this.#manifest = await freshManifest();
    const onNet = (event: NetEvent): void => auditNet(event, audit, subject);
    const cage = await openCage({ ...cageRequest(this.#manifest, spec, host), onNet }, host.runtime);
    if (!this.#isWanted()) { // Stopped meanwhile.
      await cage.close();
      throw this.#unavailable();
    }
    const live: PluginProcess = this.live = await spawnPlugin({
      runtime: host.runtime,
      cage,
      manifest: this.#manifest,
      audit,
      subject,
      onLog: (line) => host.onLog?.({ plugin: subject.name, instance: subject.instance, line }),
      onNotification: (method, params) => this.#options.onNotification({ instance: subject.instance, method, params }),
      onRequest: (request) => this.#onRequest(request),
      onTools: (tools) => this.#onTools(live, tools),
      tap: host.tap?.(this.info()) ?? null,
    });
    void live.ended.then((ending) => this.#onEnded(live, ending));
    if (!this.#isWanted()) auditEnding(await live.stop(), audit, subject);
    return live;
  }

  #onReady(profile: PluginProfile): void {
    const { audit, subject } = this.#options;
    const { missing, undeclared, callable, features, configIgnored } = profile;
    this.profile = profile;
    this.#error = null;
    this.#apply({ type: "ready" });
    if (profile.mcp) this.#keepTools(profile.mcp.tools);
    if (missing.length > 0 || undeclared.length > 0) {
      audit.emit("plugin.method_unavailable", subject, { missing: [...missing], undeclared: [...undeclared] });
    }
    if (configIgnored) this.#tellConfigIgnored(this.#config);
    const capabilities_count = this.#manifest.capabilities.length;
    audit.emit("plugin.initialized", subject, { methods_count: callable.size, capabilities_count });
    if (!features.includes("projects")) return;
    for (const project of this.#projects) this.live?.notify("projects.activated", { project, config: this.#config });
  }

  /** A running MCP server has other tools now. */
  #onTools(live: PluginProcess, tools: readonly McpTool[]): void {
    if (this.live !== live || !this.profile?.mcp) return;
    const callable = new Set(tools.map(({ name }) => `${this.subject.name}.${name}`));
    this.profile = { ...this.profile, callable, mcp: { ...this.profile.mcp, tools } };
    this.#keepTools(tools);
  }

  #keepTools(tools: readonly McpTool[]): void {
    this.#mcpTools = tools;
    this.#options.host.onTools?.(this.info());
  }

  /** A plugin that takes no config is fine as long as there is none. */
  #tellConfigIgnored(config: Readonly<Record<string, unknown>>): void {
    if (Object.keys(config).length === 0) return;
    const error_message = "The plugin was given config but does not answer config.update";
    this.#options.audit.emit("plugin.config_rejected", this.subject, { error_code: -32601, error_message });
  }

  get #projects(): readonly string[] {
    return this.#options.spec.projects ?? [];
  }

  #onEnded(live: PluginProcess, ending: Ending): void {
    if (this.live !== live || !this.#isWanted()) return; // stop() tells of it.
    this.live = null;
    this.profile = null;
    auditEnding(ending, this.#options.audit, this.subject);
    this.#fail(ending.error);
  }

  #isWanted(): boolean {
    return this.#state.status === "spawning" || this.#state.status === "running";
  }

  #fail(error: HostError): void {
    const { clock } = this.#options.host.runtime;
    const { audit, subject } = this.#options;
    if (!this.#isWanted()) return;
    this.#error = error;
    if (error.code.startsWith("manifest.")) {
      this.#apply({ type: "disabled" });
      return audit.emit("plugin.disabled", subject, { reason: "invalid manifest" });
    }
    this.#apply(isFinal(error) ? { type: "refused" } : { type: "failed", atMs: clock.monotonic() });
    if (this.#state.status === "failed") {
      const total_failures = Math.max(1, this.#state.failures.length);
      audit.emit("plugin.failed", subject, { total_failures, error_code: error.code, error_message: error.message });
      audit.emit("plugin.disabled", subject, { reason: "failed" });
    } else if (this.#state.status === "crashed") {
      this.#cancelDelay = clock.after(this.#state.delayMs, () => {
        this.#apply({ type: "delayElapsed" });
        this.#try().catch(() => {}); // Told by #fail.
      });
    }
  }

  #onRequest(request: IncomingRequest): unknown {
    const { onRequest } = this.#options.host;
    if (!onRequest) throw new HostError("protocol.method_unknown", `The host has no method "${request.method}"`);
    return onRequest(this.info(), request, this.#options.audit);
  }

  #apply(event: InstanceEvent): void {
    this.#state = nextState(this.#state, event, RESTART_POLICY);
  }
}
