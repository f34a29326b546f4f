/**
 * The host's side of the store: what an operator changes there reaches the running plugins, and what the project lacks
 * is asked for.
 *
 * @module
 */
import type { HostError } from "../errors.ts";
import { ConsentDesk } from "../install/consent_desk.ts";
import type { ConsentAnswer, ConsentRequest } from "../install/consent_types.ts";
import { type InstallPorts, settleStore } from "../install/install_ports.ts";
import { setEnabled } from "../install/set_enabled.ts";
import { readLocalConfig } from "../project/local_config.ts";
import type { MissingPlugin } from "../project/types.ts";
import { type HostPlaces, type HostProject, loadHostProject } from "./host_project.ts";
import type { HostStorage } from "./host_storage.ts";
import { disabledError } from "./start_plugins.ts";
import { syncPlugins, type SyncPorts } from "./sync_plugins.ts";

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
}

/** The store, as a running host has it. */
export class HostStore {
  readonly #options: HostStoreOptions;
  readonly #desk: ConsentDesk;
  #loaded: HostProject;
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
      onInstalled: () => this.#inTurn(() => this.#sync()).then(() => {}),
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
    await this.#inTurn(async () => {
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
    await this.#inTurn(async () => {
      const { model, supervisor } = this.#options;
      const instances = model.instancesOf(plugin);
      if (await this.#isOfStore(plugin)) await setEnabled(plugin, false, this.#options.ports);
      await Promise.all(instances.map(({ instance }) => supervisor.disable(instance)));
    });
  }

  /** Takes up what changed on disk and starts a plugin anew. One that was uninstalled meanwhile goes. */
  async reload(plugin: string): Promise<void> {
    await this.#inTurn(async () => {
      const { model, supervisor, storage, places } = this.#options;
      const before = model.instancesOf(plugin);
      const down = new Set(
        supervisor.plugins().filter(({ status }) => status === "disabled").map(({ instance }) => instance),
      );
      // Of a folder the embedder vouches for no file says that the operator disabled it.
      const isVouchedFor = before.every((one) => Object.hasOwn(places.plugins, one.package));
      if (isVouchedFor && before.every(({ instance }) => down.has(instance))) throw disabledError(plugin);
      const failed = await this.#sync(plugin);
      const after = model.project.instances.filter((one) => one.plugin === plugin);
      if (after.length === 0) return storage.forget(plugin);
      const error = [...before, ...after].map(({ instance }) => failed.get(instance)).find((one) => one !== undefined);
      if (error) throw error;
      const states = after.map(({ instance }) => supervisor.plugin(instance).status);
      if (states.every((status) => status === "disabled")) throw disabledError(plugin);
    });
  }

  /** Removes what was fetched and not installed. */
  async close(): Promise<void> {
    await this.#desk.close();
  }

  /** What the project has not, or not in the version it declares. */
  #lacking(): readonly MissingPlugin[] {
    const { missing, unfit } = this.#loaded.resolved;
    return [...missing, ...unfit];
  }

  /** Whether the plugin is an installed one, and not a folder the embedder vouches for. */
  async #isOfStore(plugin: string): Promise<boolean> {
    const { model, places, ports } = this.#options;
    const own = model.project.instances.find((one) => one.plugin === plugin);
    if (own && Object.hasOwn(places.plugins, own.package)) return false;
    return (await readLocalConfig(ports.home, ports.runtime.files)).records.has(plugin);
  }

  async #sync(restart: string | null = null): Promise<Map<string, HostError>> {
    const { places, ports } = this.#options;
    await settleStore(ports);
    const fresh = await loadHostProject(places);
    const failed = await syncPlugins(fresh, this.#options, restart);
    this.#loaded = fresh;
    // Not waited for: a fetch may be under way there, and this may be part of an answer.
    void this.#desk.update(this.#lacking());
    return failed;
  }

  /** One change at a time. */
  async #inTurn<T>(run: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(run, run);
    this.#turn = turn.catch(() => {});
    return await turn;
  }
}
