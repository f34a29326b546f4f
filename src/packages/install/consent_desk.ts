/**
 * The desk at which a host asks the operator for plugins that its project declares and does not have: first whether the
 * source may be fetched, then whether the plugin may have its capabilities. It is then installed for that project.
 *
 * @module
 */
import type { AuditData } from "../../core/audit/events.ts";
import { asHostError, HostError } from "../../core/errors/host_error.ts";
import { verifyTree } from "../../core/files/tree.ts";
import { readLocalConfig } from "../../core/project/local_config.ts";
import { pluginNameOf } from "../../core/project/locate.ts";
import type { MissingPlugin } from "../../core/project/types.ts";
import { permits } from "../../core/values/permits.ts";
import {
  changeDeclined,
  type Declaration,
  type DeclinedPlace,
  isSameDeclaration,
  readDeclined,
} from "../installed/declined.ts";
import { unanswered } from "../consent/withholding.ts";
import { applyUpgrade, consentMissing, grantedBy } from "./apply.ts";
import { checkFit, checkPackage, consentOffer } from "./consent_offer.ts";
import type { ConsentAnswer, ConsentRequest } from "./consent_types.ts";
import type { InstallPorts } from "./install_ports.ts";
import { obtain, type Obtained } from "./obtain.ts";
import { type InstallPlan, planInstall } from "./plan.ts";
import { addProject } from "./change_installed.ts";
import { type SettledUpgrade, settleUpgrade, type UpgradeHost } from "./settle_upgrade.ts";
import { isAddress, type Origin, parseSource, projectSource } from "./source.ts";

/** The desk's project and ports. */
export interface DeskOptions {
  readonly ports: InstallPorts;
  readonly project: { readonly id: string; readonly dir: string };
  /** Called with the name of each plugin that was installed; an upgrade was taken up by running hosts before. */
  onInstalled(plugin: string, upgrade: SettledUpgrade | null): Promise<void>;
  /** Returns the running hosts that have to take up an upgrade of a plugin. */
  hosts(plugin: string): Promise<readonly UpgradeHost[]>;
}

/** A request, and the plan behind its offer. */
interface Entry {
  request: ConsentRequest;
  plan: InstallPlan | null;
  /** Whether the plan is about files that are installed already, for other projects: nothing is copied then. */
  isShared: boolean;
  obtained: Obtained | null;
}

/** Keeps the open requests of one project and carries out the answers. */
export class ConsentDesk {
  readonly #options: DeskOptions;
  readonly #entries = new Map<string, Entry>();
  /** One at a time: the files that an answer is about must not change meanwhile. */
  readonly #inTurn = permits(1);
  #closing = new AbortController();
  readonly #declined: DeclinedPlace;

  /** Makes a desk without requests. */
  constructor(options: DeskOptions) {
    this.#options = options;
    const { ports: { home, runtime }, project } = options;
    this.#declined = { home, projectDir: project.dir, runtime };
  }

  /** Opens a request for each plugin the project lacks now, and drops those that were settled elsewhere. */
  async update(nowLacking: () => readonly MissingPlugin[]): Promise<void> {
    await this.#inTurn(async () => {
      // Asked for only now: an answer that was under way may have changed it, or an upgrade of its may be undone.
      const lacking = nowLacking();
      for (const [id, entry] of this.#entries) {
        if (lacking.some((one) => isSameDeclaration(one, entry.request))) continue;
        await this.#letGo(entry);
        this.#entries.delete(id);
      }
      // A plugin that was installed since, or is declared otherwise now, is another question.
      const isOpen = (one: Declaration): boolean => lacking.some((wish) => isSameDeclaration(wish, one));
      await changeDeclined(this.#declined, (declined) => declined.filter(isOpen));
      const declined = await readDeclined(this.#declined);
      const known = [...this.#entries.values()].map(({ request }) => request);
      for (const one of lacking.filter((wish) => !known.some((request) => isSameDeclaration(wish, request)))) {
        await this.#take(one, declined.some((other) => isSameDeclaration(one, other)));
      }
    });
  }

  /** Returns every request that is not settled. */
  list(): ConsentRequest[] {
    return [...this.#entries.values()].map(({ request }) => request);
  }

  /**
   * Agrees to the next step of a request; returns the request as it stands then.
   *
   * @throws {HostError} `consent.unknown`, `install.consent_missing` when not every capability is granted or withheld by
   * name, `install.capability_unknown` or `install.withhold_granted` for one that cannot be withheld, `install.changed`
   * when the consent was for other files, `install.upgrade_failed` when an upgrade could not start and was undone, or why
   * it could not be fetched or installed. The request stays open.
   */
  async approve(id: string, answer: ConsentAnswer = {}): Promise<ConsentRequest> {
    return await this.#inTurn(async () => {
      const entry = this.#find(id);
      const { step } = entry.request;
      this.#change(entry, { state: "waiting", error: null });
      try {
        if (step === "grant" && entry.plan) return await this.#install(entry, answer);
        if (step === "grant") await this.#look(entry);
        else await this.#fetch(entry, answer);
        return entry.request;
      } catch (thrown) {
        const error = asHostError(thrown);
        // The next offer is about the files as they are now.
        if (error.code === "install.changed") await this.#lookAgain(entry).catch(() => {});
        this.#fail(entry, error);
        throw thrown;
      }
    });
  }

  /** Declines a request, for hosts to come too: the project stays pending. Throws `consent.unknown`. */
  async decline(id: string): Promise<ConsentRequest> {
    return await this.#inTurn(async () => {
      const entry = this.#find(id);
      await this.#letGo(entry);
      await changeDeclined(this.#declined, (declined) => [...without(declined, entry.request), entry.request]);
      this.#change(entry, { state: "declined", error: null, step: entry.plan ? "grant" : firstStep(entry.request) });
      this.#audit("plugin.consent_declined", entry, {});
      return entry.request;
    });
  }

  /** Opens a request that was declined, as if it had never been answered. Throws `consent.unknown`. */
  async askAgain(id: string): Promise<ConsentRequest> {
    return await this.#inTurn(async () => {
      const entry = this.#find(id);
      if (entry.request.state !== "declined") return entry.request;
      await changeDeclined(this.#declined, (declined) => without(declined, entry.request));
      this.#change(entry, { state: "waiting" });
      this.#auditRequest(entry);
      return entry.request;
    });
  }

  /** Ends a fetch that is under way, and removes fetched files that were not installed. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#inTurn(async () => {
      for (const entry of this.#entries.values()) await this.#letGo(entry);
      this.#entries.clear();
      this.#closing = new AbortController();
    });
  }

  async #take(wish: MissingPlugin, isDeclined: boolean): Promise<void> {
    const id = this.#options.ports.runtime.ids.create("con");
    const open = { state: isDeclined ? "declined" : "waiting", offer: null, error: null } as const;
    const request: ConsentRequest = { ...wish, id, step: firstStep(wish), ...open };
    const entry: Entry = { request, plan: null, isShared: false, obtained: null };
    this.#entries.set(id, entry);
    await this.#look(entry).catch(() => {}); // The request carries the error.
    if (!isDeclined) this.#auditRequest(entry);
  }

  /** Finds an offer without fetching: the installed files, else a folder or an archive of the project. */
  async #look(entry: Entry): Promise<void> {
    const { ports: { home, runtime: { files } }, project } = this.#options;
    const { package: pkg, source } = entry.request;
    try {
      const record = (await readLocalConfig(home, files)).records.get(pluginNameOf(pkg));
      if (record) checkPackage(record, pkg);
      const unusable = record?.hash === undefined ? null : await this.#offerInstalled(entry, record.hash);
      if (entry.isShared) return;
      if (source !== null && !isAddress(source)) {
        const found = await projectSource(source, { projectDir: project.dir, files });
        const obtained = await obtain(found, null, this.#options.ports);
        if (found.kind === "archive") {
          await this.#letGo(entry);
          entry.obtained = obtained;
        }
        await this.#offer(entry, obtained.dir, found);
      } else if (unusable) throw unusable;
    } catch (thrown) {
      this.#fail(entry, asHostError(thrown));
      throw thrown;
    }
  }

  /** Offers the files that are installed for other projects; returns why they will not do, or null. */
  async #offerInstalled(entry: Entry, hash: string): Promise<HostError | null> {
    const { home, runtime: { files } } = this.#options.ports;
    const name = pluginNameOf(entry.request.package);
    const dir = `${home}/plugins/${name}`;
    entry.isShared = false;
    try {
      await verifyTree(name, dir, hash, files);
      await this.#offer(entry, dir, { kind: "path", path: dir }, { isShared: true });
      return null;
    } catch (thrown) {
      return asHostError(thrown);
    }
  }

  async #fetch(entry: Entry, { source: given, allowHttp = false }: ConsentAnswer): Promise<void> {
    const { ports } = this.#options;
    const { request } = entry;
    const text = request.step === "source" ? given : request.source;
    if (text === undefined || text === null) {
      throw new HostError("install.source_unspecified", `"${request.package}": source not specified`, {
        data: { package: request.package },
        hint: "Name a folder or an address to install it from",
      });
    }
    const source = parseSource(text, { allowHttp });
    await this.#letGo(entry);
    const signal = AbortSignal.any([this.#closing.signal, ...(ports.signal ? [ports.signal] : [])]);
    entry.obtained = await obtain(source, request.version, { ...ports, signal });
    await this.#offer(entry, entry.obtained.dir, source);
  }

  /** Renews the offer: from the fetched files, where there are any. */
  async #lookAgain(entry: Entry): Promise<void> {
    const { obtained, plan } = entry;
    if (obtained && plan) await this.#offer(entry, obtained.dir, plan.source);
    else await this.#look(entry);
  }

  async #offer(entry: Entry, dir: string, source: Origin, { isShared = false } = {}): Promise<void> {
    const { ports, project } = this.#options;
    const { package: pkg, version } = entry.request;
    const plan = await planInstall({ dir, source, package: pkg, replace: isShared }, ports);
    await checkFit(plan, pkg, version);
    Object.assign(entry, { plan, isShared });
    this.#change(entry, { step: "grant", offer: consentOffer(plan, project, ports) });
  }

  async #install(entry: Entry, { hash, grant = [], withhold = [] }: ConsentAnswer): Promise<ConsentRequest> {
    const { ports, project, onInstalled, hosts } = this.#options;
    const plan = entry.plan!;
    const { name, version } = plan.manifest;
    if (hash !== plan.hash) {
      throw new HostError("install.changed", `The consent names other files of "${name}" than were offered`, {
        data: { plugin: name, offered: plan.hash },
        hint: "Look at the offer and answer with its hash",
      });
    }
    const answer = { granted: [...grant], withhold: [...withhold] };
    const missing = unanswered(entry.request.offer!.added, answer);
    if (missing.length > 0) throw consentMissing(name, missing);
    const { capabilities, withheld = [] } = grantedBy(plan, answer);
    const consent = { hash, ...answer, projectId: project.id, enabled: true };
    await using replaced = entry.isShared ? null : await applyUpgrade(plan, consent, ports);
    if (entry.isShared) {
      await verifyTree(name, plan.dir, hash, ports.runtime.files);
      const hasChanged = await addProject(name, project.id, answer, ports);
      if (hasChanged) await Promise.all((await hosts(name)).map((host) => host.order("reload")));
    }
    await changeDeclined(this.#declined, (declined) => without(declined, entry.request));
    const granted = { version, capabilities: [...capabilities], withheld: [...withheld] };
    this.#audit("plugin.consent_granted", entry, granted);
    const isUpgrade = !entry.isShared && plan.installed !== null;
    const upgrade = isUpgrade ? await settleUpgrade(plan, replaced, await hosts(name)) : null;
    await this.#letGo(entry);
    this.#change(entry, { state: "installed" });
    this.#entries.delete(entry.request.id);
    await onInstalled(name, upgrade);
    return entry.request;
  }

  async #letGo(entry: Entry): Promise<void> {
    const { obtained } = entry;
    entry.obtained = null;
    if (obtained === null) return;
    entry.plan = null;
    this.#change(entry, { offer: null });
    await obtained[Symbol.asyncDispose]();
  }

  #find(id: string): Entry {
    const entry = this.#entries.get(id);
    if (entry) return entry;
    throw new HostError("consent.unknown", `No request "${id}" waits for consent`, {
      data: { id, known: [...this.#entries.keys()] },
      hint: "Look at the list of requests",
    });
  }

  #fail(entry: Entry, { code, message, hint }: HostError): void {
    this.#change(entry, { error: { code, message, ...(hint !== undefined && { hint }) } });
  }

  #change(entry: Entry, change: Partial<ConsentRequest>): void {
    entry.request = { ...entry.request, ...change };
  }

  #auditRequest(entry: Entry): void {
    const { source, agents } = entry.request;
    this.#audit("plugin.consent_requested", entry, { source, agents: [...agents] });
  }

  #audit<T extends ConsentAudit>(type: T, { request }: Entry, facts: Omit<AuditData[T], keyof ConsentPlace>): void {
    const { ports, project } = this.#options;
    const name = pluginNameOf(request.package);
    const place: ConsentPlace = { consent_id: request.id, package: request.package, project_id: project.id };
    ports.audit.emit(type, { name, instance: name }, { ...place, ...facts } as unknown as AuditData[T]);
  }
}

type ConsentAudit = "plugin.consent_requested" | "plugin.consent_granted" | "plugin.consent_declined";
type ConsentPlace = AuditData["plugin.consent_declined"];

function without(declined: readonly Declaration[], one: Declaration): Declaration[] {
  return declined.filter((other) => !isSameDeclaration(one, other));
}

/** Returns the first step of a request, from the declaration alone. */
function firstStep({ source }: MissingPlugin): ConsentRequest["step"] {
  return source === null ? "source" : isAddress(source) ? "fetch" : "grant";
}
