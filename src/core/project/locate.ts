/**
 * Finds the plugins that a project names.
 *
 * @module
 */
import { asHostError, HostError } from "../errors/host_error.ts";
import { type ParsedManifest, readManifest } from "../manifest/read_manifest.ts";
import { grantedManifest } from "../manifest/withheld.ts";
import type { Files } from "../ports/ports.ts";
import type { InstallRecord, LocalConfig } from "./local_config.ts";
import { findPackage } from "./node_modules.ts";
import { type SystemSide, systemSide } from "./plugin_config.ts";
import type { ValueSources } from "./references.ts";
import type { Issue } from "./types.ts";

/** A plugin with its folder and its manifest; of an installed one, as the operator granted it. */
export interface LocatedPlugin extends ParsedManifest {
  /** Absolute path of its folder. */
  readonly dir: string;
  /** Hash its folder must have; absent for a folder that the embedder vouches for. */
  readonly hash?: string;
  /** Hash of its files as they were found in `node_modules`; absent for any other. */
  readonly contentHash?: string;
}

/** Finds a plugin by its package: null when it is not installed; rejects with why it cannot be used. */
export type Locate = (pkg: string) => Promise<LocatedPlugin | null>;

/** The places where plugins are looked for. */
export interface LocateOptions {
  /** Package → folder the embedder vouches for: looked at first. */
  readonly plugins?: Readonly<Record<string, string>>;
  /** Folder whose `node_modules`, and those above it, are looked at next; absent: none are. */
  readonly packagesFrom?: string;
  /** The operator's folder, with the installed packages under `plugins/`. */
  readonly home: string;
  readonly local: LocalConfig;
  /** The project that asks: a plugin that is not `local` serves the projects it was installed for. */
  readonly projectId: string;
  readonly files: Files;
}

/** Returns the plugin's name a package stands for: its last segment. */
export function pluginNameOf(pkg: string): string {
  return pkg.slice(pkg.lastIndexOf("/") + 1);
}

/** Whether an installed plugin serves a project. */
export function servesProject({ local, projects }: InstallRecord, projectId: string): boolean {
  return local || projects.includes(projectId);
}

/**
 * Returns a function that finds plugins: first in the folders the embedder names, then in `node_modules`, then among the
 * installed ones under the last segment of the package. It rejects with `manifest.*`, as {@link findPackage} does, with
 * `plugin.tampered` when the record pins no hash, or `project.package_mismatch` when the installed plugin of that name
 * came from another package.
 */
export function pluginLocator(options: LocateOptions): Locate {
  const { plugins = {}, packagesFrom, home, local, files, projectId } = options;
  return async (pkg) => {
    if (Object.hasOwn(plugins, pkg)) {
      const dir = plugins[pkg]!;
      return { dir, ...await readManifest(dir, files) };
    }
    const packaged = packagesFrom === undefined ? null : await findPackage(pkg, packagesFrom, files);
    if (packaged !== null) return packaged;
    const name = pluginNameOf(pkg);
    const dir = `${home}/plugins/${name}`;
    const record = local.records.get(name);
    if (!record || !servesProject(record, projectId)) return null;
    const { package: recorded, hash, withheld, added } = record;
    if (recorded !== undefined && recorded !== pkg) {
      throw new HostError("project.package_mismatch", `Plugin "${name}" was installed from "${recorded}"`, {
        data: { plugin: name, expected: pkg, found: recorded },
        hint: `Write package: "${recorded}", or uninstall it first`,
      });
    }
    if (hash === undefined) {
      throw new HostError("plugin.tampered", `[BLOCKED] Nothing says which files of "${name}" were agreed to`, {
        data: { plugin: name, file: local.file },
        hint: `The record [plugins.${name}] has no hash: install the plugin again`,
      });
    }
    const found = await readManifest(dir, files);
    if (found.manifest.name === name) {
      return { dir, hash, ...found, manifest: grantedManifest(found.manifest, withheld, added) };
    }
    throw new HostError("project.package_mismatch", `The folder "${dir}" holds plugin "${found.manifest.name}"`, {
      data: { plugin: name, expected: name, found: found.manifest.name },
      hint: "Install the plugin again",
    });
  };
}

/** A located plugin with the operator's side of its config. */
export interface FoundPlugin extends LocatedPlugin {
  readonly system: SystemSide;
}

/** Sources of a project's plugins and of their secrets. */
export interface FindOptions extends ValueSources {
  readonly local: LocalConfig;
  readonly locate: Locate;
}

/** Finds a plugin by its package: null when it is not installed, an error when it cannot be used. */
export type Find = (pkg: string) => Promise<FoundPlugin | HostError | null>;

/** Returns a function that looks each package up once, and adds warnings about manifests and secrets to `warnings`. */
export function pluginFinder({ local, locate, ...sources }: FindOptions, warnings: Issue[]): Find {
  const known = new Map<string, ReturnType<Find>>();
  const find = async (pkg: string): Promise<FoundPlugin | null> => {
    const found = await locate(pkg);
    if (found === null) return null;
    warnings.push(...found.warnings);
    const values = local.secrets.get(pkg);
    const system = await systemSide(found.manifest, values, sources);
    if (system.undeclared.length > 0) {
      const code = "project.undeclared_secrets";
      const message =
        `Plugin "${found.manifest.name}" declares no operator-side config: its values are not handed over`;
      const place = values!.placeOf([]);
      warnings.push({ code, message, file: local.file, ...place, path: "plugins", hint: "Remove them" });
    }
    return { ...found, system };
  };
  return (pkg) => {
    if (!known.has(pkg)) known.set(pkg, find(pkg).catch(asHostError));
    return known.get(pkg)!;
  };
}
