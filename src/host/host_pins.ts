/**
 * Holds the tools of installed MCP servers to those that the operator agreed to. The first listing of a version is pinned;
 * a tool that a later one lists otherwise is quarantined, and the rest serves on. Folders that the embedder vouches for
 * are not pinned: they change as their author works.
 *
 * @module
 */
import type { Audit } from "../core/audit/audit.ts";
import { messageOf } from "../core/errors/host_error.ts";
import { speaksMcp } from "../core/manifest/speaks_mcp.ts";
import { type McpTool, readTool } from "../core/mcp/mcp_tool.ts";
import { type PinFile, readPinFile } from "../core/pins/pin_file.ts";
import { type QuarantinedTool, quarantinedTools } from "../core/pins/tool_diff.ts";
import { judgeTools, pinnedPart, pinsOf, type VersionPins } from "../core/pins/tool_pins.ts";
import type { Runtime } from "../core/ports/ports.ts";
import type { ResolvedInstance } from "../core/project/types.ts";
import type { PluginInfo } from "../core/supervisor/types.ts";
import { auditApproved, auditPinned } from "../packages/install/pin_tools.ts";
import { approvePins, noteDrift, pinVersion } from "../packages/installed/pin_store.ts";
import { canonicalText } from "../core/values/canonical_text.ts";
import { type HostModel, registerTools } from "./model.ts";

/** The rooms that pins are kept for. */
export interface HostPinsOptions {
  readonly home: string;
  readonly runtime: Runtime;
  readonly model: HostModel;
  readonly audit: Audit;
  readonly warn: (message: string) => void;
}

/** Definitions by name. */
type Definitions = Readonly<Record<string, unknown>>;

/** The pins of one installed version, as this host knows them. */
interface Known {
  readonly hash: string;
  /** Null until the version is pinned on disk. */
  pins: VersionPins | null;
  /** Null until a process has listed its tools. */
  definitions: Definitions | null;
}

/** The pins of the plugins of one host. */
export class HostPins {
  readonly #options: HostPinsOptions;
  readonly #known = new Map<string, Known>();
  /** The newest listing of each instance that runs, or did. */
  readonly #listed = new Map<string, PluginInfo>();
  /** Drift that this host has audited: each once. */
  readonly #audited = new Set<string>();
  #turn: Promise<unknown> = Promise.resolve();

  /** Knows nothing before {@link load}. */
  constructor(options: HostPinsOptions) {
    this.#options = options;
  }

  /** Reads the pins of installed MCP servers, before they start. */
  async load(instances: readonly ResolvedInstance[]): Promise<void> {
    const versions = new Map(instances.flatMap((one) => isPinned(one) ? [[one.plugin, one.hash!]] : []));
    await Promise.all([...versions].map(([plugin, hash]) => this.#read(plugin, hash)));
  }

  /** Returns the tools of an MCP server as they are pinned; undefined where nothing is, and for any other plugin. */
  pinnedTools(one: ResolvedInstance): McpTool[] | undefined {
    const known = isPinned(one) ? this.#known.get(one.plugin) : undefined;
    if (!known?.pins || known.hash !== one.hash) return undefined;
    return Object.values(known.pins.tools).map(({ definition }) => readTool(definition))
      .filter((tool): tool is McpTool => tool !== null && "definition" in tool);
  }

  /** Gives agents the pinned tools of a server that has no process yet: its first listing is judged as any. */
  recall({ plugin, instance }: ResolvedInstance, tools: readonly McpTool[]): void {
    const { model } = this.#options;
    const held = Object.keys(this.#known.get(plugin)?.pins?.quarantined ?? {}).map((name) => ({ name }));
    if (!model.hasListed(instance)) registerTools({ plugin, instance }, { kept: tools, held }, this.#options);
  }

  /** Takes over a listing: agents get the tools that are as pinned. */
  register(info: PluginInfo): void {
    const tools = info.tools.filter((tool): tool is McpTool => "definition" in tool);
    const own = this.#options.model.project.instances.find(({ instance }) => instance === info.instance);
    if (!own || !isPinned(own)) return registerTools(info, { kept: tools, held: [] }, this.#options);
    const { plugin, hash = "" } = own;
    this.#listed.set(info.instance, info);
    const known = this.#knownOf(plugin, hash);
    const isFirst = known.definitions === null;
    known.definitions ??= definitionsOf(tools);
    const { kept, held, missing } = judgeTools(tools, known.definitions);
    registerTools(info, { kept, held }, this.#options);
    this.#later(plugin, async () => {
      if (isFirst) await this.#pin(plugin, known, tools);
      else await this.#note(info, known, held, missing);
    });
  }

  /** Returns the tools of a plugin that are held, with the difference to those that were agreed to. */
  quarantined(plugin: string): QuarantinedTool[] {
    const pins = this.#known.get(plugin)?.pins;
    return pins ? quarantinedTools(pins) : [];
  }

  /** Approves tools of a plugin, each by the hash of the definition that was shown; agents have them at once. */
  async approve(plugin: string, tools: Readonly<Record<string, string>>): Promise<void> {
    this.#options.model.instancesOf(plugin); // Throws for a plugin that the project lacks.
    await this.settled();
    await approvePins(plugin, this.#known.get(plugin)?.hash ?? "", tools, this.#options);
    await this.renew(plugin);
  }

  /** Reads the pins of a plugin again, judges its tools by them, and audits those that were approved. */
  async renew(plugin: string): Promise<void> {
    const { model, audit } = this.#options;
    const own = model.instancesOf(plugin).find(isPinned);
    await this.settled();
    if (!own) return;
    const before = this.#known.get(plugin)?.pins?.tools ?? {};
    await this.#read(plugin, own.hash!);
    for (const { instance } of model.instancesOf(plugin)) {
      const info = this.#listed.get(instance);
      if (info) this.register(info);
    }
    // Only now: a listener to the audit finds the tools in place.
    auditApproved(plugin, before, this.#known.get(plugin)?.pins?.tools ?? {}, audit);
    await this.settled();
  }

  /** Resolves when everything that was listed is pinned or noted. */
  async settled(): Promise<void> {
    for (let turn = this.#turn;; turn = this.#turn) {
      await turn;
      if (turn === this.#turn) return;
    }
  }

  #knownOf(plugin: string, hash: string): Known {
    const known = this.#known.get(plugin);
    if (known?.hash === hash) return known;
    const fresh: Known = { hash, pins: null, definitions: null };
    this.#known.set(plugin, fresh);
    return fresh;
  }

  async #read(plugin: string, hash: string): Promise<void> {
    const { home, runtime, warn } = this.#options;
    let file: PinFile;
    try {
      file = await readPinFile(home, plugin, runtime.files);
    } catch (error) {
      warn(messageOf(error));
      // Nobody knows what was agreed to: then nothing was.
      const pinned_at = new Date(runtime.clock.now()).toISOString();
      file = [{ hash, pinned_at, tools: {}, quarantined: {}, missing: [] }];
    }
    const known = this.#knownOf(plugin, hash);
    const pins = file.find((one) => one.hash === hash);
    if (pins) Object.assign(known, { pins, definitions: definitionsOfPins(pins) });
  }

  /** Pins the first listing; where another process was faster, its listing holds. */
  async #pin(plugin: string, known: Known, tools: readonly McpTool[]): Promise<void> {
    const { audit } = this.#options;
    const { isNew, ...pinned } = await pinVersion(plugin, known.hash, await pinsOf(tools), this.#options);
    if (isNew) auditPinned(plugin, pinned, audit);
    Object.assign(known, { pins: pinned.pins, definitions: definitionsOfPins(pinned.pins) });
    if (!isNew) { for (const info of this.#listed.values()) if (info.plugin === plugin) this.register(info); }
  }

  /** Keeps the drift of a listing for people to look at, and audits what is new of it. */
  async #note(info: PluginInfo, known: Known, held: readonly McpTool[], missing: readonly string[]): Promise<void> {
    const { audit } = this.#options;
    const { plugin: name, instance } = info;
    if (!known.pins || this.#known.get(name) !== known) return; // Another version was installed meanwhile.
    const drift = { quarantined: await pinsOf(held), missing };
    const { quarantined, missing: before } = known.pins;
    if (canonicalText(drift) !== canonicalText({ quarantined, missing: before })) {
      known.pins = await noteDrift(name, known.pins, drift, this.#options);
    }
    const { tools } = known.pins;
    const emit = (fact: string, report: () => void): void => {
      const key = `${name} ${known.hash} ${fact}`;
      if (this.#audited.has(key)) return;
      this.#audited.add(key);
      report();
    };
    for (const [tool, { sha256: listed }] of Object.entries(drift.quarantined)) {
      const pinned = Object.hasOwn(tools, tool) ? tools[tool]!.sha256 : null;
      const data = {
        tool: `${name}.${tool}`,
        kind: pinned === null ? "new" as const : "changed" as const,
        pinned,
        listed,
      };
      emit(`${tool} ${listed}`, () => audit.emit("plugin.tool_quarantined", { name, instance }, data));
    }
    for (const tool of missing) {
      const data = { tool: `${name}.${tool}`, pinned: tools[tool]?.sha256 ?? "" };
      emit(`${tool} missing`, () => audit.emit("plugin.tool_missing", { name, instance }, data));
    }
  }

  /** Writes come one after the other; one that fails leaves this host with what it knows. */
  #later(plugin: string, work: () => Promise<void>): void {
    const { warn } = this.#options;
    this.#turn = this.#turn.then(work).catch((error) => {
      warn(`The tools of "${plugin}" are held to what this host has seen: ${messageOf(error)}`);
    });
  }
}

/** Whether the tools of an instance are pinned: it is an installed MCP server. */
function isPinned({ manifest, hash }: ResolvedInstance): boolean {
  return hash !== undefined && speaksMcp(manifest);
}

function definitionsOf(tools: readonly McpTool[]): Definitions {
  return Object.fromEntries(tools.map(({ name, definition }) => [name, pinnedPart(definition)]));
}

function definitionsOfPins({ tools }: VersionPins): Definitions {
  return Object.fromEntries(Object.entries(tools).map(([name, { definition }]) => [name, definition]));
}
