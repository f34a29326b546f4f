/**
 * The part of an instance that only MCP servers have: how they want to be greeted.
 *
 * @module
 */
import type { Audit, AuditSubject } from "../audit/audit.ts";
import { HostError } from "../errors/host_error.ts";
import { isRemote, speaksMcp } from "../manifest/speaks_mcp.ts";
import type { McpEra } from "../mcp/messages.ts";
import { EraStore } from "./era_store.ts";
import { type PluginProcess, type PluginProcessOptions, spawnPlugin } from "./plugin_process.ts";
import type { PluginSource } from "./plugin_source.ts";
import { type EraVerdict, probeDialect } from "./probe_era.ts";
import type { SupervisorOptions } from "./types.ts";

/** Failures of a greeting that say: this server speaks otherwise. */
const CONTRADICTIONS: ReadonlySet<string> = new Set([
  "initialize.refused",
  "mcp.version_unsupported",
  "mcp.malformed",
]);

/** An instance's verdict, and where it comes from. */
interface KnownEra {
  readonly era: McpEra;
  /** Hash of the files that it was found for; null when these have none. */
  readonly hash: string | null;
  /** Whether it was found in an earlier start, of this instance or another. */
  readonly isKept: boolean;
}

/** Throws `mcp.not_offered` for a plugin that is no MCP server. */
export function noServer(plugin: string): never {
  throw new HostError("mcp.not_offered", `Plugin "${plugin}" is no MCP server`, { data: { plugin } });
}

/** Knows the era of one instance. */
export class InstanceMcp {
  readonly #host: SupervisorOptions;
  readonly #audit: Audit;
  readonly #subject: AuditSubject;
  readonly #store: EraStore;
  #known: KnownEra | null = null;
  #probe: PluginProcess | null = null;

  /** Asks nothing yet. */
  constructor(host: SupervisorOptions, audit: Audit, subject: AuditSubject) {
    this.#host = host;
    this.#audit = audit;
    this.#subject = subject;
    this.#store = new EraStore(host.home, host.runtime);
  }

  /**
   * Returns how to greet the server of `source`, from an earlier start or by a probe; undefined for a plugin that is no
   * MCP server. Rejects as a start does.
   */
  async eraOf(source: PluginSource, options: PluginProcessOptions): Promise<McpEra | undefined> {
    const manifest = await source.manifest();
    // A server elsewhere is asked over the link that then serves: it may be another one at each start.
    if (!speaksMcp(manifest) || isRemote(manifest)) return undefined;
    const pinned = source.spec.hash ?? null;
    if (this.#known?.isKept && (pinned === null || this.#known.hash === pinned)) return this.#known.era;
    const hash = await source.contentHash().catch(() => null);
    const kept = hash === null ? null : await this.#store.read(hash);
    this.#known = { era: kept ?? (await this.#ask(source, options)).era, hash, isKept: kept !== null };
    return this.#known.era;
  }

  /** The greeting has succeeded: later starts go straight. */
  async confirm(): Promise<void> {
    if (this.#known === null || this.#known.isKept) return;
    this.#known = { ...this.#known, isKept: true };
    const { hash, era } = this.#known;
    if (hash !== null) await this.#store.keep(hash, era);
  }

  /** The greeting has failed. Returns true when a kept verdict was wrong: it is forgotten, and the server probed anew. */
  async isContradicted(error: HostError): Promise<boolean> {
    const known = this.#known;
    if (known === null) return false;
    const isWrong = CONTRADICTIONS.has(error.code);
    this.#known = known.isKept && !isWrong ? known : null;
    if (!known.isKept || !isWrong) return false;
    if (known.hash !== null) await this.#store.forget(known.hash);
    return true;
  }

  /** Ends a probe that is under way. */
  async stop(): Promise<void> {
    await this.#probe?.stop();
  }

  async #ask(source: PluginSource, options: PluginProcessOptions): Promise<EraVerdict> {
    const { clock } = this.#host.runtime;
    const startedMs = clock.monotonic();
    let verdict: EraVerdict = { era: "legacy", protocol: null, error: null };
    const probe = await spawnPlugin(source, {
      ...options,
      tap: () => null,
      onLog() {}, // The process that serves says the same.
      probe: probeDialect((found) => verdict = found),
    });
    this.#probe = probe;
    try {
      options.checkWanted();
      await probe.handshake({ config: {}, projects: [], storageAvailable: false });
    } finally {
      await probe.stop();
      this.#probe = null;
    }
    options.checkWanted();
    const { protocol, error } = verdict;
    this.#audit.emit("plugin.mcp_probed", this.#subject, {
      protocol,
      reason: error?.code ?? null,
      duration_ms: Math.round(clock.monotonic() - startedMs),
    });
    return verdict;
  }
}
