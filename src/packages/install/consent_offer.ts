/**
 * The offer of a plugin that a project lacks, and the check that it is the plugin the project asks for.
 *
 * @module
 */
import { describeCapability } from "../consent/describe_capability.ts";
import { describeExposure, describeSecrets, isExposure } from "../consent/describe_secret.ts";
import { HostError } from "../../core/errors/host_error.ts";
import type { InstallRecord } from "../../core/project/local_config.ts";
import { pluginNameOf, servesProject } from "../../core/project/locate.ts";
import { isInRange } from "../../core/project/version_range.ts";
import type { Manifest } from "../../core/manifest/manifest.ts";
import type { ConsentOffer, Contributions } from "./consent_types.ts";
import type { InstallPorts } from "./install_ports.ts";
import { grantable, withWithheld } from "../consent/withholding.ts";
import type { InstallPlan } from "./plan.ts";
import { sourceText } from "./source.ts";

/** Returns a plan as it is offered to a project. */
export function consentOffer(
  { manifest, hash, bytes, installed, diff, dir, source, withheld }: InstallPlan,
  project: { readonly id: string; readonly dir: string },
  { home, runtime }: InstallPorts,
): ConsentOffer {
  const { name, version, kaged_api, description, author = null, license = null, homepage = null } = manifest;
  const paths = { installDir: `${home}/plugins/${name}`, home, projectDir: project.dir, userHome: runtime.env("HOME") };
  const isKnown = installed !== null && servesProject(installed.record, project.id);
  return {
    name,
    version,
    kaged_api,
    description,
    author,
    license,
    homepage,
    ...contributionsOf(manifest),
    // Files that are installed already came from where their record says.
    source: (dir === paths.installDir ? installed?.record.source : undefined) ?? sourceText(source),
    hash,
    bytes,
    capabilities: [
      ...manifest.capabilities.filter((one) => !withheld.includes(one)).map((capability) =>
        withWithheld(describeCapability(capability, { paths }), installed?.record.withheld ?? [])
      ),
      ...(isKnown ? diff.added.filter(isExposure).map(describeExposure) : []),
    ],
    withheld: withheld.map((capability) => describeCapability(capability, { paths })),
    installed: installed?.version ?? null,
    // A project that the plugin does not serve yet has granted nothing.
    added: isKnown ? diff.added : grantable(manifest.capabilities).filter((one) => !withheld.includes(one)),
    removed: diff.removed,
  };
}

/** Returns the roles, hooks, tools and secrets of a plugin as they are shown beside its capabilities. */
export function contributionsOf(manifest: Manifest): Contributions {
  const { name, roles, hooks, tools, url, runtime = "kaged_stdio" } = manifest;
  const named = tools.map((tool) => ({ name: `${name}.${tool.name}`, description: tool.description }));
  const server = url === undefined ? {} : { server: url };
  return { roles, hooks, tools: named, protocol: runtime, ...server, secrets: describeSecrets(manifest) };
}

/** Throws `project.package_mismatch` when another plugin is installed under the name. */
export function checkPackage({ name, package: installed }: InstallRecord, pkg: string): void {
  if (installed === undefined || installed === pkg) return;
  throw new HostError("project.package_mismatch", `Plugin "${name}" was installed from "${installed}"`, {
    data: { plugin: name, expected: pkg, found: installed },
    hint: `Write package: "${installed}", or uninstall it first`,
  });
}

/** Throws `project.package_mismatch` or `install.version_unfit` when a plugin is not the one that was asked for. */
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
