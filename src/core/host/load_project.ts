/**
 * From files to what a host runs.
 *
 * @module
 */
import type { Runtime } from "../ports.ts";
import { type LocalConfig, readLocalConfig } from "../project/local_config.ts";
import { pluginLocator } from "../project/locate.ts";
import { type OperatorConfig, readOperatorConfig } from "../project/operator_config.ts";
import { parseProject, readProject } from "../project/read_project.ts";
import { resolveProject } from "../project/resolve_project.ts";
import type { Project, ResolvedInstance, ResolvedProject } from "../project/types.ts";

/** Where a project and its plugins are. */
export interface ProjectPlaces {
  /** Folder of the project, absolute, links resolved. */
  readonly dir: string;
  /** The operator's folder, absolute. */
  readonly home: string;
  /** Package → folder the embedder vouches for. */
  readonly plugins: Readonly<Record<string, string>>;
  /** The runtime. */
  readonly runtime: Runtime;
}

/** A project with all that it was made of. */
export interface LoadedProject {
  /** As written. */
  readonly project: Project;
  /** Ready to run. */
  readonly resolved: ResolvedProject;
  /** How the host runs on this machine. */
  readonly operator: OperatorConfig;
  /** Whether an instance may run: the embedder vouches for it, or the operator enabled it. */
  isEnabled(instance: ResolvedInstance): boolean;
  /** Resolves another text of the project file, with everything else as it was. */
  resolveText(text: string): Promise<ResolvedProject>;
}

/**
 * Reads and resolves a project.
 *
 * @throws {HostError} `project.*`, `local.*` or `config.*` when a file cannot be used. A plugin that cannot is in the
 * result.
 */
export async function loadProject({ dir, home, plugins, runtime }: ProjectPlaces): Promise<LoadedProject> {
  const { files, env } = runtime;
  const [project, local, operator] = await Promise.all([
    readProject(dir, files),
    readLocalConfig(home, files),
    readOperatorConfig(home, files),
  ]);
  const locate = pluginLocator({ plugins, home, local, files });
  const resolve = (written: Project): Promise<ResolvedProject> =>
    resolveProject({ project: written, local, locate, env });
  return {
    project,
    resolved: await resolve(project),
    operator,
    isEnabled: ({ package: pkg, plugin }) => Object.hasOwn(plugins, pkg) || isEnabledIn(local, plugin),
    resolveText: async (text) => await resolve(await parseProject(text, { dir, file: project.file })),
  };
}

function isEnabledIn({ records }: LocalConfig, plugin: string): boolean {
  return records.get(plugin)?.enabled ?? false;
}
