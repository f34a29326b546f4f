/**
 * The host's side of the store: what an operator changes there reaches the running plugins, and what the project lacks
 * is asked for.
 *
 * @module
 */
import { asHostError, type HostError } from "../core/errors/host_error.ts";
import { ConsentDesk } from "../packages/install/consent_desk.ts";
import type { ConsentAnswer, ConsentRequest } from "../packages/install/consent_types.ts";
import { type InstallPorts, settleStore } from "../packages/install/install_ports.ts";
import { setEnabled } from "../packages/install/set_enabled.ts";
import { readLocalConfig } from "../core/project/local_config.ts";
import type { MissingPlugin, ResolvedInstance } from "../core/project/types.ts";
import type { PluginInfo, Replacement } from "../core/supervisor/types.ts";
import type { FailedReloads } from "./failed_reloads.ts";
import { type HostPlaces, type HostProject, loadHostProject } from "./host_project.ts";
import type { HostStorage } from "./host_storage.ts";
import { keepRefused } from "./keep_refused.ts";
import { checkNotRefused, checkReloadable, discardAll, prepareReload, reloadFailed } from "./prepare_reload.ts";
import { ReloadQueue } from "./reload_queue.ts";
import { disabledError } from "./start_plugins.ts";
import { type Renewal, type SyncOutcome, syncPlugins, type SyncPorts } from "./sync_plugins.ts";

/** What it works with. */
export interface HostStoreOptions extends SyncPorts {
  /** Where project and plugins are. */
  readonly places: HostPlaces;
  /** The project as it was loaded. */
  readonly loaded: HostProject;
  /** What installing stands on. */
  readonly ports: InstallPorts;
  /** The plugins' tables. */
  readonly storage: HostStorage;
  /** Hears of reloads that failed. */
  readonly failedReloads: FailedReloads;
  /** Has every host of this home take up another version of a plugin. */
  readonly tellHosts?: (plugin: string) => void;
}

/** The store, as a running host has it. */
export class HostStore {
  readonly #options: HostStoreOptions;
  readonly #desk: ConsentDesk;
  #loaded: HostProject;
  readonly #reloads = new ReloadQueue();
  #turn: Promise<unknown> = Promise.resolve();

  /** Nothing is asked yet. */
  constructor(options: HostStoreOptions) {
    this.#options = options;
    this.#loaded = options.loaded;
    const { id, dir } = options.loaded.resolved;
    const { ports } = options;
    this.#desk = new ConsentDesk({
      ports,
      project: { id, dir },
      onInstalled: async (plugin, isUpgrade) => {
        await this.inTurn(() => this.#sync());
        if (isUpgrade) options.tellHosts?.(plugin);
      },
    });
  }

  /** The project as it is now. */
  get loaded(): HostProject {
    return this.#loaded;
  }

  /** Looks at what the project lacks; returns the questions. */
  async ask(): Promise<ConsentRequest[]> {
    await this.#desk.update(this.#lacking());
    return this.consents();
  }

  /** Questions that wait. */
  consents(): ConsentRequest[] {
    // Another command may have installed it meanwhile.
    const lacking = new Set(this.#lacking().map((one) => one.package));
    return this.#desk.list().filter((request) => lacking.has(request.package));
  }

  /** Says yes; see {@link ConsentDesk.approve}. */
  approve(id: string, answer: ConsentAnswer): Promise<ConsentRequest> {
    return this.#desk.approve(id, answer);
  }

  /** Says no. */
  decline(id: string): Promise<ConsentRequest> {
    return this.#desk.decline(id);
  }

  /** Enables a plugin, for good when it is of the store, and starts all its instances. */
  async enable(plugin: string): Promise<void> {
    await this.inTurn(async () => {
      const { model, supervisor } = this.#options;
      if (await this.#isOfStore(plugin)) {
        await setEnabled(plugin, true, this.#options.ports);
        await this.#sync();
      }
      await Promise.all(model.instancesOf(plugin).map(({ instance }) => supervisor.enable(instance)));
    });
  }

  /** Disables a plugin, for good when it is of the store, and stops all its instances. */
  async disable(plugin: string): Promise<void> {
    await this.inTurn(async () => {
      const { model, supervisor } = this.#options;
      const instances = model.instancesOf(plugin);
      if (await this.#isOfStore(plugin)) await setEnabled(plugin, false, this.#options.ports);
      await Promise.all(instances.map(({ instance }) => supervisor.disable(instance)));
    });
  }

  /**
   * Takes up what changed on disk. A plugin that is named is started anew beside its running processes, which go on
   * until the new ones are ready, or for good when one is not.
   */
  async reload(plugin?: string): Promise<void> {
    if (plugin === undefined) return await this.inTurn(async () => throwFirst((await this.#sync()).failed));
    await this.#reloads.reload(plugin, (begin) =>
      this.inTurn(() => {
        begin();
        return this.#renew(plugin, () => this.#swap(plugin));
      }));
  }

  /** Takes up what changed on disk, stops a plugin and starts it anew. */
  async restart(plugin: string): Promise<void> {
    await this.inTurn(() => this.#renew(plugin, () => this.#sync({ plugin })));
  }

  /** Runs one change at a time. */
  async inTurn<T>(run: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(run, run);
    this.#turn = turn.catch(() => {});
    return await turn;
  }

  /** Removes what was fetched and not installed; resolves when every change asked for is made or has failed. */
  async close(): Promise<void> {
    await this.#desk.close();
    for (let turn = this.#turn;; turn = this.#turn) {
      await turn;
      if (turn === this.#turn) return;
    }
  }

  /** What the project has not, or not in the version it declares. */
  #lacking(): readonly MissingPlugin[] {
    const { missing, unfit } = this.#loaded.resolved;
    return [...missing, ...unfit];
  }

  /** Whether the plugin is an installed one, and not a folder the embedder vouches for. */
  async #isOfStore(plugin: string): Promise<boolean> {
    const { model, ports } = this.#options;
    const own = model.project.instances.find((one) => one.plugin === plugin);
    if (own && this.#isVouchedFor(own)) return false;
    return (await readLocalConfig(ports.home, ports.runtime.files)).records.has(plugin);
  }

  #isVouchedFor(one: ResolvedInstance): boolean {
    return Object.hasOwn(this.#options.places.plugins, one.package);
  }

  /** Starts a plugin anew by `sync`. One that was uninstalled meanwhile goes, one that is down starts. */
  async #renew(plugin: string, sync: () => Promise<SyncOutcome>): Promise<SyncOutcome> {
    const { model, supervisor, storage } = this.#options;
    const before = model.instancesOf(plugin);
    checkReloadable(plugin, before, supervisor, (one) => this.#isVouchedFor(one));
    const outcome = await sync();
    const after = model.project.instances.filter((one) => one.plugin === plugin);
    if (after.length === 0) {
      storage.forget(plugin);
      return outcome;
    }
    throwFirst(outcome.failed, new Set([...before, ...after].map(({ instance }) => instance)));
    const states = after.map(({ instance }) => supervisor.plugin(instance).status);
    if (states.every((status) => status === "disabled")) throw disabledError(plugin);
    return outcome;
  }

  /** Has new processes of a plugin take over from those that run. What fails leaves everything as it was. */
  async #swap(plugin: string): Promise<SyncOutcome> {
    const { model, supervisor, ports: { audit } } = this.#options;
    const loading = this.#load();
    await loading.catch(() => {});
    // Looked at now and not before: one that came up meanwhile serves already.
    const running = supervisor.plugins().filter((one) => one.plugin === plugin && one.status === "running");
    if (running.length === 0) return await this.#adopt(await loading, { plugin });
    let fresh: HostProject;
    try {
      fresh = await loading;
      checkNotRefused(plugin, model.project, fresh.resolved);
    } catch (thrown) {
      const error = asHostError(thrown);
      const data = { error_code: error.code, error_message: error.message };
      for (const { instance } of running) audit.emit("plugin.reload_failed", { name: plugin, instance }, data);
      throw this.#notReloaded(plugin, running, error);
    }
    let replacements: ReadonlyMap<string, Replacement> = new Map();
    try {
      replacements = await prepareReload(plugin, fresh, supervisor);
      return await this.#adopt(fresh, { plugin, replacements });
    } catch (thrown) {
      const error = asHostError(thrown);
      await discardAll(replacements, error);
      throw this.#notReloaded(plugin, running, error);
    }
  }

  #notReloaded(plugin: string, running: readonly PluginInfo[], cause: HostError): HostError {
    const error = reloadFailed(plugin, cause);
    this.#options.failedReloads.note(running, error);
    return error;
  }

  async #sync(renewal: Renewal = {}): Promise<SyncOutcome> {
    return await this.#adopt(await this.#load(), renewal);
  }

  /** Reads the project anew. A plugin that runs stays in it though its manifest cannot be read just now. */
  async #load(): Promise<HostProject> {
    const { places, ports, model } = this.#options;
    await settleStore(ports);
    const fresh = await loadHostProject(places);
    return { ...fresh, resolved: keepRefused(model.project, fresh.resolved) };
  }

  async #adopt(fresh: HostProject, renewal: Renewal): Promise<SyncOutcome> {
    const outcome = await syncPlugins(fresh, this.#options, renewal);
    this.#loaded = fresh;
    // Not waited for: a fetch may be under way there, and this may be part of an answer.
    void this.#desk.update(this.#lacking());
    return outcome;
  }
}

/** Throws the first failure of `instances`, or of all. */
function throwFirst(failed: SyncOutcome["failed"], instances: ReadonlySet<string> | null = null): void {
  for (const [instance, error] of failed) if (instances?.has(instance) ?? true) throw error;
}
