/**
 * Changes of one installed plugin: enabled, disabled, granted more or less, in use by one more project, uninstalled.
 *
 * @module
 */
import { HostError } from "../../core/errors/host_error.ts";
import { verifyTree } from "../../core/files/tree.ts";
import type { Manifest } from "../../core/manifest/manifest.ts";
import { readManifest } from "../../core/manifest/read_manifest.ts";
import { coveredBy, grantedManifest } from "../../core/manifest/withheld.ts";
import { type InstallRecord, type LocalConfig, readLocalConfig } from "../../core/project/local_config.ts";
import { canonicalText } from "../../core/values/canonical_text.ts";
import { didYouMean } from "../../core/values/nearest_word.ts";
import { addedAfter, type GrantAnswer, withheldAfter } from "../consent/withholding.ts";
import { makeChange, type PackagePorts } from "../installed/journal.ts";
import { writeRecord } from "../installed/records.ts";
import { addedField, withheldField } from "./apply.ts";
import { changingPackages, claimStorage, type InstallPorts } from "./install_ports.ts";

/**
 * Records whether a plugin may run; returns whether that is new. A plugin whose files changed, or whose manifest is
 * invalid, is not enabled.
 *
 * @throws {HostError} `plugin.not_installed`, `plugin.tampered`, `manifest.*` or `local.*`.
 */
export async function setEnabled(plugin: string, enabled: boolean, ports: InstallPorts): Promise<boolean> {
  return await changing(plugin, ports, async (record, own) => {
    const dir = `${own.home}/plugins/${plugin}`;
    if (enabled) {
      await verifyTree(plugin, dir, record.hash ?? "", own.files);
      await readManifest(dir, own.files);
    }
    if (record.enabled === enabled) return false;
    await writeRecord(own.home, plugin, { ...own, fields: { enabled } });
    return true;
  });
}

/**
 * Lets an installed plugin serve one more project, with the capabilities of the operator's answer. Returns whether its
 * capabilities are others now: they are the same for every project.
 *
 * @throws {HostError} `plugin.not_installed`, `install.capability_unknown`, `install.withhold_granted`, `manifest.*` or `local.*`.
 */
export async function addProject(
  plugin: string,
  projectId: string,
  answer: GrantAnswer,
  ports: InstallPorts,
): Promise<boolean> {
  return await changing(plugin, ports, async (record, own) => {
    const { manifest } = await readManifest(`${own.home}/plugins/${plugin}`, own.files);
    const { withheld: before } = record;
    const withheld = withheldAfter(manifest, answer, before);
    const projects = [...new Set([...record.projects, projectId])];
    const added = addedField(addedAfter(record.added, answer.withhold), record.added);
    const fields = { projects, enabled: true, ...withheldField(withheld, before), ...added };
    await writeRecord(own.home, plugin, { ...own, fields });
    return canonicalText(withheld) !== canonicalText(before) || "added" in added;
  });
}

/** The capabilities of an installed plugin after a change. */
export interface ChangedGrants {
  /** Whether they are others than before. */
  readonly changed: boolean;
  readonly capabilities: readonly string[];
  readonly withheld: readonly string[];
}

/** Other grants for an installed plugin. */
export interface GrantChange extends GrantAnswer {
  /** Hosts to grant that the plugin need not ask for, such as `net:api.example.com:443`. */
  readonly add?: readonly string[];
}

/**
 * Grants capabilities that were withheld or hosts beyond the manifest, or withholds others; running hosts reload the plugin for it to hold there.
 *
 * @throws {HostError} `plugin.not_installed`, `plugin.tampered`, `install.capability_unknown`, `install.withhold_granted`, `manifest.*` or `local.*`.
 */
export async function changeGrants(plugin: string, answer: GrantChange, ports: InstallPorts): Promise<ChangedGrants> {
  const { version, ...grants } = await changing(plugin, ports, async (record, own) => {
    const dir = `${own.home}/plugins/${plugin}`;
    await verifyTree(plugin, dir, record.hash ?? "", own.files);
    const { manifest } = await readManifest(dir, own.files);
    requireKnown(manifest, answer.granted, record.withheld);
    const { withheld, added } = listsAfter(manifest, answer, record);
    const changed = canonicalText([withheld, added]) !== canonicalText([record.withheld, record.added]);
    const granted = grantedManifest(manifest, withheld, added);
    if (changed) {
      await claimStorage(granted, ports);
      const fields = { ...withheldField(withheld, record.withheld), ...addedField(added, record.added) };
      await writeRecord(own.home, plugin, { ...own, fields });
    }
    const { version, capabilities } = granted;
    return { version, changed, capabilities, withheld: granted.withheld ?? [] };
  });
  const lists = { capabilities: [...grants.capabilities], withheld: [...grants.withheld] };
  if (grants.changed) {
    ports.audit.emit("plugin.grants_changed", { name: plugin, instance: plugin }, { version, ...lists });
  }
  return grants;
}

/** Returns both lists of a record after a change: a host that is added is withheld no more, and the other way round. */
function listsAfter(
  manifest: Manifest,
  { granted, withhold = [], add = [] }: GrantChange,
  before: InstallRecord,
): Pick<InstallRecord, "withheld" | "added"> {
  const isBack = (one: string): boolean => add.some((host) => coveredBy(host, [one]).length > 0);
  // A host that was added can be taken away, although the manifest does not ask for it.
  const asked = withhold.filter((one) => manifest.capabilities.includes(one) || !before.added.includes(one));
  const withheld = withheldAfter(manifest, { granted, withhold: asked }, before.withheld.filter((one) => !isBack(one)));
  const own = grantedManifest(manifest, withheld).capabilities;
  const wanted = new Set([...addedAfter(before.added, withhold), ...add]);
  return { withheld, added: [...wanted].filter((host) => !own.some((one) => coveredBy(one, [host]).length > 0)) };
}

/** Throws `install.capability_unknown` for a grant of something that the plugin does not ask for. */
function requireKnown({ name, capabilities }: Manifest, granted: readonly string[], withheld: readonly string[]): void {
  const unknown = granted.filter((one) => !capabilities.includes(one));
  if (unknown.length === 0) return;
  throw new HostError("install.capability_unknown", `"${name}" does not ask for ${unknown.join(", ")}`, {
    data: { plugin: name, unknown, asked: capabilities },
    hint: withheld.length > 0 ? `Withheld: ${withheld.join(", ")}` : "Nothing is withheld from it",
  });
}

/**
 * Uninstalls a plugin: removes its files, its record, its tables and its login. Its secrets in `local.toml` stay: they
 * are the operator's.
 *
 * @throws {HostError} `plugin.not_installed` or `local.*`.
 */
export async function uninstallPlugin(plugin: string, ports: InstallPorts): Promise<void> {
  const version = await changing(plugin, ports, async ({ version = "unknown" }, own) => {
    await makeChange({ op: "uninstall", plugin, old: `.${own.ids.create("old")}` }, own);
    return version;
  });
  for (const end of ["json", "json.lock"]) await ports.runtime.files.remove(`${ports.home}/logins/${plugin}.${end}`);
  ports.audit.emit("plugin.uninstalled", { name: plugin, instance: plugin }, { version });
}

/** Returns the record of a plugin. Throws `plugin.not_installed`. */
export function recordOf(plugin: string, { records }: Pick<LocalConfig, "records">): InstallRecord {
  const record = records.get(plugin);
  if (record) return record;
  const known = [...records.keys()];
  throw new HostError("plugin.not_installed", `No plugin "${plugin}" is installed`, {
    data: { plugin, installed: known },
    hint: didYouMean(plugin, known, known.length > 0 ? `Installed: ${known.join(", ")}` : "Run kaged plugin install"),
  });
}

/** Runs `work` on the record of a plugin, under the lock of the home. */
async function changing<T>(
  plugin: string,
  ports: InstallPorts,
  work: (record: InstallRecord, own: PackagePorts) => Promise<T>,
): Promise<T> {
  return await changingPackages(ports, async (own) => {
    return await work(recordOf(plugin, await readLocalConfig(own.home, own.files)), own);
  });
}
