/**
 * Where the plugins that a project names are.
 *
 * @module
 */
import { HostError } from "../errors.ts";
import type { Manifest, ManifestIssue } from "../manifest/manifest.ts";
import { readManifest } from "../manifest/read_manifest.ts";
import type { Files } from "../ports.ts";
import type { LocalConfig } from "./local_config.ts";

/** A plugin that was found. */
export interface LocatedPlugin {
  /** Its folder, absolute. */
  readonly dir: string;
  /** Its manifest. */
  readonly manifest: Manifest;
  /** What is doubtful about the manifest. */
  readonly warnings: readonly ManifestIssue[];
}

/** Finds a plugin by its package: null when nobody has it; rejects with why it cannot be used. */
export type Locate = (pkg: string) => Promise<LocatedPlugin | null>;

/** Where to look. */
export interface LocateOptions {
  /** Package → folder the embedder vouches for: looked at first. */
  readonly plugins?: Readonly<Record<string, string>>;
  /** The operator's folder, with the store under `plugins/`. */
  readonly home: string;
  /** What is installed. */
  readonly local: LocalConfig;
  /** The file system. */
  readonly files: Files;
}

/** Returns the plugin's name a package stands for: its last segment. */
export function pluginNameOf(pkg: string): string {
  return pkg.slice(pkg.lastIndexOf("/") + 1);
}

/**
 * Returns a function that finds plugins: first in the folders the embedder names, then in the store under the last
 * segment of the package. It rejects with `manifest.*`, or `project.package_mismatch` when the store's plugin of that
 * name came from another package.
 */
export function pluginLocator({ plugins = {}, home, local, files }: LocateOptions): Locate {
  return async (pkg) => {
    if (Object.hasOwn(plugins, pkg)) {
      const dir = plugins[pkg]!;
      return { dir, ...await readManifest(dir, files) };
    }
    const name = pluginNameOf(pkg);
    const dir = `${home}/plugins/${name}`;
    if (!/^[a-z][a-z0-9-]*$/.test(name) || await files.info(dir) === null) return null;
    const recorded = local.records.get(name)?.package;
    if (recorded !== undefined && recorded !== pkg) {
      throw new HostError("project.package_mismatch", `Plugin "${name}" was installed from "${recorded}"`, {
        data: { plugin: name, expected: pkg, found: recorded },
        hint: `Write package: "${recorded}", or uninstall it first`,
      });
    }
    const found = await readManifest(dir, files);
    if (found.manifest.name === name) return { dir, ...found };
    throw new HostError("project.package_mismatch", `The folder "${dir}" holds plugin "${found.manifest.name}"`, {
      data: { plugin: name, expected: name, found: found.manifest.name },
      hint: "Install the plugin again",
    });
  };
}
