/**
 * Where a running host asks for plugins that its project declares and nobody has: two yeses, then it is installed for
 * that project.
 *
 * @module
 */
import { describeCapability } from "../consent/describe_capability.ts";
import { asHostError, HostError } from "../errors.ts";
import { type InstallRecord, readLocalConfig } from "../project/local_config.ts";
import { pluginNameOf } from "../project/locate.ts";
import type { MissingPlugin } from "../project/types.ts";
import { isInRange } from "../project/version_range.ts";
import { verifyTree } from "../store/verify_tree.ts";
import { applyInstall, consentMissing, missingGrants } from "./apply.ts";
import type { ConsentAnswer, ConsentOffer, ConsentRequest } from "./consent_types.ts";
import type { InstallPorts } from "./install_ports.ts";
import { obtain, type Obtained } from "./obtain.ts";
import { type InstallPlan, planInstall } from "./plan.ts";
import { addProject } from "./set_enabled.ts";
import { isAddress, parseSource, projectSource, type Source } from "./source.ts";

/** What a desk works with. */
export interface DeskOptions {
  /** What installing stands on. */
  readonly ports: InstallPorts;
  /** The project that asks. */
  readonly project: { readonly id: string; readonly dir: string };
  /** Called with the name of each plugin that was installed. */
  onInstalled(plugin: string): Promise<void>;
}

/** One request with what belongs to it. */
interface Entry {
  request: ConsentRequest;
  plan: InstallPlan | null;
  /** Whether the plugin is installed already, for others. */
  isShared: boolean;
  obtained: Obtained | null;
}

/** Asks. */
export class ConsentDesk {
  readonly #options: DeskOptions;
  readonly #entries = new Map<string, Entry>();
  #turn: Promise<unknown> = Promise.resolve();

  /** A desk with no request. */
  constructor(options: DeskOptions) {
    this.#options = options;
  }

  /** Takes on what is missing now: new requests are looked at, those that were settled elsewhere go. */
  async update(missing: readonly MissingPlugin[]): Promise<void> {
    await this.#inTurn(async () => {
      for (const [id, entry] of this.#entries) {
        if (missing.some((one) => one.package === entry.request.package)) continue;
        await this.#letGo(entry);
        this.#entries.delete(id);
      }
      const known = new Set([...this.#entries.values()].map(({ request }) => request.package));
      for (const one of missing.filter((plugin) => !known.has(plugin.package))) {
        const id = this.#options.ports.runtime.ids.create("con");
        const request: ConsentRequest = {
          ...one,
          id,
          step: one.source === null ? "source" : isAddress(one.source) ? "fetch" : "grant",
          state: "waiting",
          offer: null,
          error: null,
        };
        const entry: Entry = { request, plan: null, isShared: false, obtained: null };
        this.#entries.set(id, entry);
        await this.#look(entry).catch(() => {}); // The request tells.
      }
    });
  }

  /** Every request that is not settled. */
  list(): ConsentRequest[] {
    return [...this.#entries.values()].map(({ request }) => request);
  }

  /**
   * Says yes to the next step of a request; returns the request as it stands then.
   *
   * @throws {HostError} `consent.unknown`, `install.consent_missing` when not every capability is granted by name,
   * `install.changed` when the yes was for other files, or why it could not be fetched or installed. The request waits on.
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
        // What is offered next is what is there now.
        if (error.code === "install.changed") await this.#look(entry).catch(() => {});
        this.#fail(entry, error);
        throw thrown;
      }
    });
  }

  /** Says no: the project stays pending. Throws `consent.unknown`. */
  async decline(id: string): Promise<ConsentRequest> {
    return await this.#inTurn(async () => {
      const entry = this.#find(id);
      await this.#letGo(entry);
      const { source } = entry.request;
      const step = source === null ? "source" : isAddress(source) && !entry.isShared ? "fetch" : "grant";
      this.#change(entry, { state: "declined", error: null, step });
      return entry.request;
    });
  }

  /** Removes what was fetched and not installed. */
  async close(): Promise<void> {
    await this.#inTurn(async () => {
      for (const entry of this.#entries.values()) await this.#letGo(entry);
      this.#entries.clear();
    });
  }

  /** Finds out what can be offered without going anywhere: what is installed for others, a folder of the project. */
  async #look(entry: Entry): Promise<void> {
    const { ports, project } = this.#options;
    const { files } = ports.runtime;
    const name = pluginNameOf(entry.request.package);
    try {
      const record = (await readLocalConfig(ports.home, files)).records.get(name);
      if (record?.hash !== undefined) {
        checkPackage(record, entry.request.package);
        const dir = `${ports.home}/plugins/${name}`;
        await verifyTree(name, dir, record.hash, files);
        entry.isShared = true;
        return await this.#offer(entry, dir, { kind: "path", path: dir });
      }
      const { source } = entry.request;
      if (source === null || isAddress(source)) return;
      const found = await projectSource(source, { projectDir: project.dir, files });
      await this.#offer(entry, (found as { path: string }).path, found);
    } catch (thrown) {
      this.#fail(entry, asHostError(thrown));
      throw thrown;
    }
  }

  async #fetch(entry: Entry, { source: given, allowHttp = false }: ConsentAnswer): Promise<void> {
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
    entry.obtained = await obtain(source, request.version, this.#options.ports);
    await this.#offer(entry, entry.obtained.dir, source);
  }

  async #offer(entry: Entry, dir: string, source: Source): Promise<void> {
    const { ports } = this.#options;
    const { package: pkg, version } = entry.request;
    const plan = await planInstall({ dir, source, package: pkg, replace: entry.isShared }, ports);
    await checkFit(plan, pkg, version);
    entry.plan = plan;
    this.#change(entry, { step: "grant", offer: this.#offerOf(plan, entry.isShared) });
  }

  #offerOf({ manifest, hash, bytes, installed, diff }: InstallPlan, isShared: boolean): ConsentOffer {
    const { ports: { home, runtime }, project } = this.#options;
    const { name, version, kaged_api, description, author = null, license = null, homepage = null } = manifest;
    const paths = {
      installDir: `${home}/plugins/${name}`,
      home,
      projectDir: project.dir,
      userHome: runtime.env("HOME"),
    };
    return {
      name,
      version,
      kaged_api,
      description,
      author,
      license,
      homepage,
      hash,
      bytes,
      capabilities: manifest.capabilities.map((capability) => describeCapability(capability, { paths })),
      installed: installed?.version ?? null,
      // For a project that never had it, all is new.
      added: isShared ? manifest.capabilities.filter((capability) => capability !== "net:[]") : diff.added,
      removed: diff.removed,
    };
  }

  async #install(entry: Entry, { hash, grant = [] }: ConsentAnswer): Promise<ConsentRequest> {
    const { ports, project, onInstalled } = this.#options;
    const plan = entry.plan!;
    const { name } = plan.manifest;
    if (hash !== plan.hash) {
      throw new HostError("install.changed", `The yes names other files of "${name}" than were offered`, {
        data: { plugin: name, offered: plan.hash },
        hint: "Look at the offer and answer with its hash",
      });
    }
    if (entry.isShared) {
      const missing = entry.request.offer!.added.filter((capability) => !grant.includes(capability));
      if (missing.length > 0) throw consentMissing(name, missing);
      await verifyTree(name, plan.dir, hash, ports.runtime.files);
      await addProject(name, project.id, ports);
    } else {
      const missing = missingGrants(plan, grant);
      if (missing.length > 0) throw consentMissing(name, missing);
      await applyInstall(plan, { hash, granted: [...grant], projectId: project.id, enabled: true }, ports);
    }
    await this.#letGo(entry);
    this.#change(entry, { state: "installed" });
    this.#entries.delete(entry.request.id);
    await onInstalled(name);
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

  /** One at a time: what a yes is about must not change under it. */
  async #inTurn<T>(run: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(run, run);
    this.#turn = turn.catch(() => {});
    return await turn;
  }
}

/** What is installed under the name may be another plugin. */
function checkPackage({ name, package: installed }: InstallRecord, pkg: string): void {
  if (installed === undefined || installed === pkg) return;
  throw new HostError("project.package_mismatch", `Plugin "${name}" was installed from "${installed}"`, {
    data: { plugin: name, expected: pkg, found: installed },
    hint: `Write package: "${installed}", or uninstall it first`,
  });
}

/** Whether a plugin is the one that was asked for. */
export async function checkFit({ manifest }: InstallPlan, pkg: string, range: string | null): Promise<void> {
  const expected = pluginNameOf(pkg);
  if (manifest.name !== expected) {
    throw new HostError("project.package_mismatch", `The source of "${pkg}" holds the plugin "${manifest.name}"`, {
      data: { plugin: expected, expected, found: manifest.name },
      hint: "Correct package: or source: in project.yaml",
    });
  }
  if (range === null || await isInRange(manifest.version, range)) return;
  throw new HostError("install.version_unfit", `"${manifest.name}" has version ${manifest.version}, not ${range}`, {
    data: { plugin: manifest.name, version: manifest.version, range },
    hint: "Take another source, or change version: in project.yaml",
  });
}
