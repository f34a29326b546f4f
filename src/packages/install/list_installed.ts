/**
 * The installed plugins, with their files checked.
 *
 * @module
 */
import { asHostError, type HostError } from "../../core/errors/host_error.ts";
import { verifyTree } from "../../core/files/tree.ts";
import type { Manifest } from "../../core/manifest/manifest.ts";
import { readManifest } from "../../core/manifest/read_manifest.ts";
import { grantedManifest } from "../../core/manifest/withheld.ts";
import { type InstallRecord, readLocalConfig } from "../../core/project/local_config.ts";
import { type InstallPorts, settlePackages } from "./install_ports.ts";

/** An installed plugin as it was found. */
export interface InstalledPlugin {
  readonly record: InstallRecord;
  readonly dir: string;
  /** As the operator granted it. Null when it cannot be read. */
  readonly manifest: Manifest | null;
  /** Why it cannot run as it is, or null. */
  readonly problem: HostError | null;
}

/** Returns every installed plugin, by name. */
export async function listInstalled(ports: InstallPorts): Promise<InstalledPlugin[]> {
  await settlePackages(ports);
  const { records } = await readLocalConfig(ports.home, ports.runtime.files);
  const names = [...records.keys()].sort();
  return await Promise.all(names.map((name) => lookAt(records.get(name)!, ports)));
}

/** Looks at the files of an installed plugin. */
export async function lookAt(
  record: InstallRecord,
  { home, runtime: { files } }: InstallPorts,
): Promise<InstalledPlugin> {
  const dir = `${home}/plugins/${record.name}`;
  let manifest: Manifest | null = null;
  try {
    manifest = grantedManifest((await readManifest(dir, files)).manifest, record.withheld, record.added);
    await verifyTree(record.name, dir, record.hash ?? "", files);
    return { record, dir, manifest, problem: null };
  } catch (thrown) {
    return { record, dir, manifest, problem: asHostError(thrown) };
  }
}

/** Returns a plugin's status in a word or two: the worst of its instances' `states`, or why it may not run. */
export function statusOf({ record, problem }: InstalledPlugin, states: readonly string[] = []): string {
  if (problem?.code === "plugin.tampered") return "tampered";
  if (problem?.code === "manifest.missing") return "files missing";
  if (problem) return "disabled (invalid manifest)";
  const order = ["refused", "failed", "crashed", "spawning", "running", "resting"];
  const worst = order.find((state) => states.includes(state));
  return worst ?? (record.enabled ? "enabled" : "disabled");
}
