/**
 * Loads a project: reads its file, the operator's file and the manifests, and resolves them.
 *
 * @module
 */
import { defined } from "../values/plain_data.ts";
import { type LocalConfig, readLocalConfig } from "./local_config.ts";
import { type LocateOptions, pluginLocator } from "./locate.ts";
import type { ValueSources } from "./references.ts";
import { readProject } from "./read_project.ts";
import { resolveProject } from "./resolve_project.ts";
import type { Project, ResolvedProject } from "./types.ts";

/** Where a project is, and what it may use. */
export interface LoadOptions extends Pick<LocateOptions, "plugins" | "packagesFrom" | "home" | "files">, ValueSources {
  /** The project's folder, absolute. */
  readonly dir: string;
}

/** A project, as written and as resolved. */
export interface LoadedProject {
  readonly project: Project;
  readonly local: LocalConfig;
  readonly resolved: ResolvedProject;
  /** Resolves the project as another text of its file has it, with everything else as it was. */
  resolve(written: Project): Promise<ResolvedProject>;
}

/**
 * Loads a project.
 *
 * @throws {HostError} `project.*` or `local.*` when a file cannot be read; what is wrong with one plugin is in the result.
 */
export async function loadProject(options: LoadOptions): Promise<LoadedProject> {
  const { dir, home, plugins = {}, packagesFrom, files, ...sources } = options;
  const [project, local] = await Promise.all([readProject(dir, files), readLocalConfig(home, files)]);
  const resolve = (written: Project): Promise<ResolvedProject> => {
    const beside = defined({ packagesFrom });
    const locate = pluginLocator({ plugins, ...beside, home, local, files, projectId: written.id });
    return resolveProject({ project: written, local, locate, ...beside, ...sources });
  };
  return { project, local, resolved: await resolve(project), resolve };
}
