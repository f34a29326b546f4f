/**
 * Installs exactly the files that the operator agreed to, or nothing.
 *
 * @module
 */
import { HostError } from "../../core/errors/host_error.ts";
import type { Manifest } from "../../core/manifest/manifest.ts";
import { readManifest } from "../../core/manifest/read_manifest.ts";
import { grantedManifest } from "../../core/manifest/withheld.ts";
import { readLocalConfig } from "../../core/project/local_config.ts";
import { canonicalText } from "../../core/values/canonical_text.ts";
import { defined } from "../../core/values/plain_data.ts";
import { addedAfter, type GrantAnswer, unanswered, withheldAfter } from "../consent/withholding.ts";
import { keptName, makeChange, packagesDir } from "../installed/journal.ts";
import type { RecordFields } from "../installed/records.ts";
import { copyTree, removeTree, TREE_LIMITS, treeFailure } from "../../core/files/tree.ts";
import { changingPackages, claimStorage, type InstallPorts } from "./install_ports.ts";
import type { InstallPlan } from "./plan.ts";
import { sourceText } from "./source.ts";

/** The operator's consent to a plan. */
export interface Consent extends GrantAnswer {
  /** Hash of the files it is about. */
  readonly hash: string;
  /** The project it is for; null for every project. */
  readonly projectId: string | null;
  /** Whether it may run at once; kept as it was when left out, and false for a new plugin. */
  readonly enabled?: boolean;
}

/** Returns the manifest of a plan as a consent grants it. Throws `install.capability_unknown` or `install.withhold_granted`. */
export function grantedBy({ manifest, installed }: InstallPlan, answer: GrantAnswer): Manifest {
  const { withheld = [], added = [] } = installed?.record ?? {};
  return grantedManifest(manifest, withheldAfter(manifest, answer, withheld), addedAfter(added, answer.withhold));
}

/**
 * Installs or upgrades a plugin as planned.
 *
 * @throws {HostError} `install.consent_missing`, `install.changed` when the source or the installed plugin is no longer as it was
 * shown, `install.*`, `storage.prefix_taken` or `local.*`. Nothing has changed then.
 */
export async function applyInstall(plan: InstallPlan, consent: Consent, ports: InstallPorts): Promise<void> {
  await install(plan, consent, ports, null);
}

/** The version that an upgrade replaced; disposing of it removes its files for good. */
export interface ReplacedVersion extends AsyncDisposable {
  /**
   * Puts it back, because the new version could not start for `cause`. Returns false, and changes nothing, when the
   * plugin was changed again meanwhile.
   */
  bringBack(cause: HostError): Promise<boolean>;
}

/**
 * Like {@link applyInstall}, for a plugin that may be running: keeps the files it replaces until they are disposed of.
 * They are set aside whole, so a process that runs from them goes on.
 */
export async function applyUpgrade(
  plan: InstallPlan,
  consent: Consent,
  ports: InstallPorts,
): Promise<ReplacedVersion | null> {
  // Files that were tampered with are not worth bringing back.
  if (plan.installed === null || plan.installed.isTampered) return await install(plan, consent, ports, null), null;
  const kept = await keptName(ports.runtime);
  await install(plan, consent, ports, kept);
  const { files } = ports.runtime;
  return {
    bringBack: (cause) => bringBack(plan, kept, cause, ports),
    [Symbol.asyncDispose]: () => removeTree(`${packagesDir(ports.home)}/${kept}`, files),
  };
}

async function install(plan: InstallPlan, consent: Consent, ports: InstallPorts, kept: string | null): Promise<void> {
  const missing = unanswered(plan.diff.added, consent);
  if (consent.hash !== plan.hash) throw changed(plan.dir, "The consent was for other files");
  if (missing.length > 0) throw consentMissing(plan.manifest.name, missing);
  const { installed } = plan;
  const manifest = grantedBy(plan, consent);
  const { files, ids } = ports.runtime;
  await changingPackages(ports, async (own) => {
    const record = (await readLocalConfig(ports.home, files)).records.get(manifest.name);
    const { hash, withheld } = installed?.record ?? {};
    if (record?.hash !== hash || canonicalText(record?.withheld ?? null) !== canonicalText(withheld ?? null)) {
      throw changed(plan.dir, `"${manifest.name}" was installed or upgraded meanwhile`);
    }
    const staged = `.${ids.create("new")}`;
    const place = `${packagesDir(ports.home)}/${staged}`;
    try {
      await stage(plan, place, ports);
      await claimStorage(manifest, ports);
    } catch (error) {
      await removeTree(place, files);
      throw error;
    }
    const aside = kept === null ? { old: `.${ids.create("old")}` } : { old: kept, keep: true };
    const change = { staged, ...aside, record: recordOf(plan, consent) };
    try {
      await makeChange({ op: "install", plugin: manifest.name, ...change }, own);
    } catch (error) {
      throw error instanceof HostError ? error : treeFailure(error, packagesDir(ports.home));
    }
  });
  audit(plan, manifest, consent, ports);
}

async function bringBack(
  { manifest: { name, version }, hash, installed }: InstallPlan,
  kept: string,
  cause: HostError,
  ports: InstallPorts,
): Promise<boolean> {
  const { record: before, version: old } = installed!;
  const isBack = await changingPackages(ports, async (own) => {
    const now = (await readLocalConfig(own.home, own.files)).records.get(name);
    if (now?.hash !== hash) return false;
    const { installed, version, hash: oldHash, source, local, projects } = before;
    // The consent to the new version may have enabled it, and for one more project: that is no consent to the old one.
    const enabled = before.enabled && now.enabled;
    const fields = defined({ installed, version, hash: oldHash, source, local, enabled, projects: [...projects] });
    const record = { ...fields, ...withheldField(before.withheld, now.withheld) } as RecordFields;
    await makeChange({ op: "install", plugin: name, staged: kept, old: `.${own.ids.create("old")}`, record }, own);
    return true;
  });
  const why = { error_code: cause.code, error_message: cause.message };
  if (isBack) {
    const data = { version: old, failed_version: version, ...why };
    ports.audit.emit("plugin.upgrade_undone", { name, instance: name }, data);
  }
  return isBack;
}

/** Copies the planned files, and throws when the copy is not what was planned. */
async function stage(plan: InstallPlan, place: string, ports: InstallPorts): Promise<void> {
  const { runtime: { files }, limits = TREE_LIMITS } = ports;
  const { hash } = await copyTree(plan.dir, place, { files, limits });
  if (hash !== plan.hash) throw changed(plan.dir, "Its files changed after they were shown");
  // The manifest was read a moment before the files were hashed: it must be the one among them.
  const { manifest } = await readManifest(place, files);
  if (canonicalText(manifest) !== canonicalText(plan.manifest)) {
    throw changed(plan.dir, "Its manifest changed after it was shown");
  }
}

function recordOf({ manifest, hash, source, installed, package: pkg }: InstallPlan, consent: Consent): RecordFields {
  const { version } = manifest;
  const before = installed?.record;
  const withheld = withheldAfter(manifest, consent, before?.withheld ?? []);
  const projects = [
    ...new Set([...before?.projects ?? [], ...(consent.projectId === null ? [] : [consent.projectId])]),
  ];
  return {
    installed: version,
    version,
    hash,
    local: before?.local ?? consent.projectId === null,
    enabled: consent.enabled ?? before?.enabled ?? false,
    source: sourceText(source),
    ...(pkg !== null && { package: pkg }),
    ...(projects.length > 0 && { projects }),
    ...withheldField(withheld, before?.withheld ?? []),
    ...addedField(addedAfter(before?.added ?? [], consent.withhold), before?.added ?? []),
  };
}

/** Returns the field of a record; none where there is nothing withheld and the record does not say otherwise. */
export function withheldField(withheld: readonly string[], before: readonly string[]): RecordFields {
  return withheld.length > 0 || before.length > 0 ? { withheld } : {};
}

/** Returns the field of a record; none where it stays as it is. */
export function addedField(added: readonly string[], before: readonly string[]): RecordFields {
  return canonicalText(added) === canonicalText(before) ? {} : { added };
}

function audit(
  { hash, source, diff, installed }: InstallPlan,
  { name, version, capabilities, withheld = [] }: Manifest,
  consent: Consent,
  ports: InstallPorts,
) {
  const subject = { name, instance: name };
  // Nothing is installed unless every capability was granted or withheld by name.
  const agreed = { source: sourceText(source), hash, capabilities: [...capabilities], withheld: [...withheld] };
  if (installed) {
    const capability_diff = { added: [...diff.added], removed: [...diff.removed] };
    const versions = { old_version: installed.version, new_version: version };
    ports.audit.emit("plugin.upgraded", subject, { ...agreed, ...versions, capability_diff });
  } else {
    const local = consent.projectId === null;
    ports.audit.emit("plugin.installed", subject, { ...agreed, version, local });
  }
}

function changed(dir: string, why: string): HostError {
  return new HostError("install.changed", `Nothing was installed from "${dir}": ${why}`, {
    data: { dir },
    hint: "Look at it again, then decide",
  });
}

/** The error of a plugin whose capabilities were not all granted by name; `shown` is for programs that decide by it. */
export function consentMissing(
  plugin: string,
  missing: readonly string[],
  shown: Readonly<Record<string, unknown>> = {},
): HostError {
  const count = missing.length === 1 ? "1 capability" : `${missing.length} capabilities`;
  const flags = missing.map((capability) => `--grant '${capability.replaceAll("'", `'\\''`)}'`).join(" ");
  return new HostError("install.consent_missing", `"${plugin}" asks for ${count} that nobody granted`, {
    data: { plugin, missing, ...shown },
    hint: `Grant each by name: ${flags}, or withhold it with --withhold`,
  });
}
