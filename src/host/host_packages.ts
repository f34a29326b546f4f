/**
 * The packages of a running host: changes on disk reach the running plugins, and the operator is asked for plugins that
 * the project lacks.
 *
 * @module
 */
import { asHostError } from "../core/errors/host_error.ts";
import { ConsentDesk } from "../packages/install/consent_desk.ts";
import type { ConsentAnswer, ConsentRequest } from "../packages/install/consent_types.ts";
import { type InstallPorts, settlePackages } from "../packages/install/install_ports.ts";
import { changeGrants, setEnabled } from "../packages/install/change_installed.ts";
import type { UpgradeHost } from "../packages/install/settle_upgrade.ts";
import { changesVariables, withSecretsOf } from "../core/manifest/secret_fields.ts";
import { askedCapabilities, coveredBy, withheldOf } from "../core/manifest/withheld.ts";
import { type InstallRecord, readLocalConfig } from "../core/project/local_config.ts";
import type { RefusedPlugin } from "../core/project/refused_plugins.ts";
import type { MissingPlugin } from "../core/project/types.ts";
import type { Replacement } from "../core/supervisor/types.ts";
import { canonicalText } from "../core/values/canonical_text.ts";
import { auditRefusals } from "./audit_load.ts";
import { noteVouched } from "./host_places.ts";
import { type HostPlaces, type HostProject, isVouchedFor, loadHostProject } from "./host_project.ts";
import type { HostPins } from "./host_pins.ts";
import type { HostStorage } from "./host_storage.ts";
import { keepRefused } from "./keep_refused.ts";
import { checkNotRefused, checkReloadable, discardAll, prepareReload, reloadFailed } from "./prepare_reload.ts";
import { disabledError } from "./start_plugins.ts";
import { type Renewal, type SyncOutcome, syncPlugins, type SyncPorts } from "./sync_plugins.ts";

/** The rooms that {@link HostPackages} changes. */
export interface HostPackagesOptions extends SyncPorts {
  readonly places: HostPlaces;
  /** The project as the host loaded it first. */
  readonly loaded: HostProject;
  readonly ports: InstallPorts;
  readonly storage: HostStorage;
  readonly pins: Pick<HostPins, "load" | "settled" | "pinnedTools" | "recall">;
  /** Reports trouble that ends nothing to the embedder. */
  warn(message: string): void;
  /** Returns the other hosts of this home, for an upgrade of a plugin. */
  readonly otherHosts?: (plugin: string) => Promise<readonly UpgradeHost[]>;
}

type Config = Readonly<Record<string, unknown>>;

/** Makes one change to the packages of a host at a time. */
export class HostPackages {
  readonly #options: HostPackagesOptions;
  readonly #desk: ConsentDesk;
  #loaded: HostProject;
  /** Reloads whose turn is to come. Another request for the same plugin joins: the reload has not read the files yet. */
  readonly #waiting = new Map<string, Promise<void>>();
  /** Old processes that still finish their calls. The next reload waits for them, or they would pile up. */
  readonly #leaving = new Map<string, Promise<unknown>>();
  #turn: Promise<unknown> = Promise.resolve();

  /** Asks the operator nothing before {@link ask}. */
  constructor(options: HostPackagesOptions) {
    this.#options = options;
    this.#loaded = options.loaded;
    const { id, dir } = options.loaded.resolved;
    const { ports } = options;
    this.#desk = new ConsentDesk({
      ports,
      project: { id, dir },
      onInstalled: async (_, upgrade) => {
        if (upgrade === null) await this.inTurn(() => this.#sync());
      },
      hosts: (plugin) => this.#upgradeHosts(plugin),
    });
  }

  /** The project as it was loaded last. */
  get loaded(): HostProject {
    return this.#loaded;
  }

  /** Opens a request for consent for each plugin that the project lacks; returns the requests. */
  async ask(): Promise<ConsentRequest[]> {
    await this.#desk.update(() => this.#lacking());
    return this.consents();
  }

  /** Requests for plugins that are still lacking. */
  consents(): ConsentRequest[] {
    // A command of another process may have installed one meanwhile.
    const lacking = new Set(this.#lacking().map((one) => one.package));
    return this.#desk.list().filter((request) => lacking.has(request.package));
  }

  /** Approves the next step of a request; see {@link ConsentDesk.approve}. */
  approve(id: string, answer: ConsentAnswer): Promise<ConsentRequest> {
    return this.#desk.approve(id, answer);
  }

  /** Declines a request; it can still be approved later. */
  decline(id: string): Promise<ConsentRequest> {
    return this.#desk.decline(id);
  }

  /** Opens a declined request again; see {@link ConsentDesk.askAgain}. */
  askAgain(id: string): Promise<ConsentRequest> {
    return this.#desk.askAgain(id);
  }

  /** Starts all instances of a plugin; an installed plugin is also enabled for hosts to come. */
  async enable(plugin: string): Promise<void> {
    await this.inTurn(async () => {
      const { model, supervisor } = this.#options;
      if (await this.#isInstalled(plugin)) {
        await setEnabled(plugin, true, this.#options.ports);
        await this.#sync();
      }
      await Promise.all(model.instancesOf(plugin).map(({ instance }) => supervisor.enable(instance)));
    });
  }

  /** Stops all instances of a plugin; an installed plugin is also disabled for hosts to come. */
  async disable(plugin: string): Promise<void> {
    await this.inTurn(async () => {
      const { model, supervisor } = this.#options;
      const instances = model.isRefused(plugin) ? [] : model.instancesOf(plugin);
      if (await this.#isInstalled(plugin)) await setEnabled(plugin, false, this.#options.ports);
      await Promise.all(instances.map(({ instance }) => supervisor.disable(instance)));
    });
  }

  /**
   * Adopts the changes on disk. With a name, starts new processes of that plugin beside the running ones: they replace
   * the old ones once all are ready; when one fails, the old ones go on.
   */
  async reload(plugin?: string): Promise<void> {
    if (plugin === undefined) return await this.inTurn(async () => throwFirst((await this.#sync()).failed));
    const joined = this.#waiting.get(plugin);
    if (joined) return await joined;
    const reload = this.#reload(plugin);
    this.#waiting.set(plugin, reload);
    await reload;
  }

  async #reload(plugin: string): Promise<void> {
    await this.#leaving.get(plugin);
    const { gone } = await this.inTurn(() => {
      this.#waiting.delete(plugin);
      return this.#renew(plugin, () => this.#swap(plugin));
    });
    this.#leaving.set(plugin, gone);
  }

  /**
   * Reads the operator's values for a plugin again. Its processes go on: the gatekeeper uses a bound secret from the next
   * request on, and other values are sent as config. Only a plugin whose variables change is reloaded. One that was
   * refused is started if it can be by now.
   */
  async reread(plugin: string): Promise<void> {
    const { model, supervisor } = this.#options;
    if (model.isRefused(plugin)) return await this.reload(plugin);
    let needsReload = false;
    await this.inTurn(async () => {
      const before = model.instancesOf(plugin);
      const { resolved } = await this.#load();
      checkNotRefused(plugin, model.project, resolved);
      const registered = new Set(supervisor.plugins().map(({ instance }) => instance));
      for (const { instance, manifest, config } of before) {
        const fresh = resolved.instances.find((one) => one.instance === instance);
        if (!fresh || !registered.has(instance)) continue;
        const renew = (old: Config): Config => withSecretsOf(manifest, old, fresh.config);
        if (canonicalText(renew(config)) === canonicalText(config)) continue;
        needsReload ||= changesVariables(manifest, config, fresh.config);
        await supervisor.updateConfig(instance, renew(config));
        model.changeConfig(instance, renew);
      }
    });
    if (needsReload) await this.reload(plugin);
  }

  /** Adopts the changes on disk, stops a plugin and starts it again. */
  async restart(plugin: string): Promise<void> {
    await this.inTurn(() => this.#renew(plugin, () => this.#sync({ plugin })));
  }

  /** Whether the record of an installed plugin grants a host by now, whatever its running process was given. */
  async grantsHost(plugin: string, capability: string): Promise<boolean> {
    const record = await this.#recordOf(plugin);
    const own = this.#options.model.project.instances.find((one) => one.plugin === plugin);
    if (record === null || !own) return false;
    const asked = askedCapabilities(own.manifest);
    const lost = withheldOf(asked, record.withheld);
    const granted = [...asked.filter((one) => !lost.includes(one)), ...record.added];
    return granted.some((one) => coveredBy(one, [capability]).length > 0);
  }

  /** Grants an installed plugin a host for good; false for a folder of the embedder, which has no record. */
  async addHost(plugin: string, capability: string): Promise<boolean> {
    if (await this.#recordOf(plugin) === null) return false;
    await changeGrants(plugin, { granted: [], add: [capability] }, this.#options.ports);
    return true;
  }

  /** Runs a change after those that were asked for before it. */
  async inTurn<T>(run: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(run, run);
    this.#turn = turn.catch(() => {});
    return await turn;
  }

  /** Removes packages that were fetched and not installed; resolves when every change is made or has failed. */
  async close(): Promise<void> {
    await this.#desk.close();
    for (let turn = this.#turn;; turn = this.#turn) {
      await turn;
      if (turn === this.#turn) return;
    }
  }

  /** Returns this host and the other ones of this home, for an upgrade that was approved here. */
  async #upgradeHosts(plugin: string): Promise<UpgradeHost[]> {
    const { supervisor, otherHosts } = this.#options;
    const own: UpgradeHost = {
      wasUp: supervisor.plugins().some((one) => one.plugin === plugin && one.status === "running"),
      isWanted: true,
      order: (order) => this[order](plugin).then(() => null, asHostError),
    };
    return [own, ...await otherHosts?.(plugin) ?? []];
  }

  /** Plugins that the project declares and lacks, or lacks in that version. */
  #lacking(): readonly MissingPlugin[] {
    const { missing, unfit } = this.#loaded.resolved;
    return [...missing, ...unfit];
  }

  /** Whether the plugin is installed, and not a folder that the embedder vouches for. */
  async #isInstalled(plugin: string): Promise<boolean> {
    return await this.#recordOf(plugin) !== null;
  }

  /** Returns the record of an installed plugin; null for any other, and for a folder that the embedder vouches for. */
  async #recordOf(plugin: string): Promise<InstallRecord | null> {
    const { model, ports } = this.#options;
    const own = model.project.instances.find((one) => one.plugin === plugin);
    if (own && isVouchedFor(own)) return null;
    return (await readLocalConfig(ports.home, ports.runtime.files)).records.get(plugin) ?? null;
  }

  /**
   * Restarts a plugin with `sync`. One that was uninstalled meanwhile goes, one that is down starts, and so does one that
   * was refused and is mended, or installed by now. Throws `plugin.refused` for one that is refused now.
   */
  async #renew(plugin: string, sync: () => Promise<SyncOutcome>): Promise<SyncOutcome> {
    const { model, supervisor, storage } = this.#options;
    const isRefused = model.isRefused(plugin);
    const before = isRefused ? [] : model.instancesOf(plugin);
    if (!isRefused) checkReloadable(plugin, before, this.#options, isVouchedFor);
    const outcome = await sync();
    const isTaken = !isRefused && model.refused.some((one) => one.plugin === plugin && isLacking(one));
    if (model.isRefused(plugin) && !isTaken) model.instancesOf(plugin); // Throws with the reason.
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

  /** Replaces the running processes of a plugin by new ones. A failure leaves everything as it was. */
  async #swap(plugin: string): Promise<SyncOutcome> {
    const { model, supervisor, failedReloads, audit } = this.#options;
    const loading = this.#load();
    await loading.catch(() => {});
    // One that a call is waking comes up first: ended in its start, it would fail the calls that wait for it.
    const waking = supervisor.plugins().filter((one) => one.plugin === plugin && one.status === "spawning");
    await Promise.all(waking.map(({ instance }) => supervisor.wake(instance, "reload").catch(() => {})));
    // Only now: an instance that came up while the files were read serves calls already, and must be replaced too.
    const running = supervisor.plugins().filter((one) => one.plugin === plugin && one.status === "running");
    let isRead = false;
    let replacements: ReadonlyMap<string, Replacement> = new Map();
    if (running.length === 0) return await this.#adopt(await loading, { plugin, replacements });
    try {
      const fresh = await loading;
      checkNotRefused(plugin, model.project, fresh.resolved);
      isRead = true;
      replacements = await prepareReload(plugin, fresh, supervisor);
      return await this.#adopt(fresh, { plugin, replacements });
    } catch (thrown) {
      const cause = asHostError(thrown);
      const data = { error_code: cause.code, error_message: cause.message };
      for (const { instance } of isRead ? [] : running) { // Later failures are the supervisor's, which audits them.
        audit.emit("plugin.reload_failed", { name: plugin, instance }, data);
      }
      await discardAll(replacements, cause);
      const error = reloadFailed(plugin, cause);
      failedReloads.note(running, error);
      throw error;
    }
  }

  async #sync(renewal: Renewal = {}): Promise<SyncOutcome> {
    return await this.#adopt(await this.#load(), renewal);
  }

  /** Reads the project. A plugin that runs stays part of it while its manifest cannot be read. */
  async #load(): Promise<HostProject> {
    const { places, ports, model } = this.#options;
    await settlePackages(ports);
    const fresh = await loadHostProject(places);
    return { ...fresh, resolved: keepRefused(model.project, fresh.resolved) };
  }

  async #adopt(fresh: HostProject, renewal: Renewal): Promise<SyncOutcome> {
    const { model, audit, pins } = this.#options;
    const { refusals } = model.project;
    await pins.load(fresh.resolved.instances);
    await noteVouched(fresh.resolved.instances, this.#options);
    const outcome = await syncPlugins(fresh, this.#options, renewal);
    await pins.settled(); // An upgrade shows how the tools differ: by then they are pinned.
    auditRefusals(fresh.resolved, refusals, audit);
    this.#loaded = fresh;
    // Not awaited: the desk may be busy with a fetch, and this sync may itself be part of answering a request.
    void this.#desk.update(() => this.#lacking());
    return outcome;
  }
}

/** Whether a plugin is refused because the project does not have it. */
function isLacking({ error: { code } }: RefusedPlugin): boolean {
  return code === "plugin.not_installed";
}

/** Throws the first failure of `instances`, or of all. */
function throwFirst(failed: SyncOutcome["failed"], instances: ReadonlySet<string> | null = null): void {
  for (const [instance, error] of failed) if (instances?.has(instance) ?? true) throw error;
}
