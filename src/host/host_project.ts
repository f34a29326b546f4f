/**
 * From files to what a host runs.
 *
 * @module
 */
import type { Runtime } from "../core/ports/ports.ts";
import { loadProject } from "../core/project/load_project.ts";
import { pluginLocator } from "../core/project/locate.ts";
import { type OperatorConfig, readOperatorConfig } from "../core/project/operator_config.ts";
import { resolveProject } from "../core/project/resolve_project.ts";
import type { Project, ResolvedInstance, ResolvedProject } from "../core/project/types.ts";

/** Where a project and its plugins are. */
export interface HostPlaces {
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
export interface HostProject {
  /** As written. */
  readonly project: Project;
  /** Ready to run. */
  readonly resolved: ResolvedProject;
  /** How the host runs on this machine. */
  readonly operator: OperatorConfig;
  /** Whether an instance may run: the embedder vouches for it, or the operator enabled it. */
  isEnabled(instance: ResolvedInstance): boolean;
  /** Resolves the project as another text of its file has it, with everything else as it was. */
  resolve(written: Project): Promise<ResolvedProject>;
}

/**
 * Reads and resolves a project.
 *
 * @throws {HostError} `project.*`, `local.*` or `config.*` when a file cannot be used. A plugin that cannot is in the
 * result.
 */
export async function loadHostProject({ dir, home, plugins, runtime }: HostPlaces): Promise<HostProject> {
  const { files } = runtime;
  const env = (name: string): string | null => runtime.env(name);
  const [{ project, local, resolved }, operator] = await Promise.all([
    loadProject({ dir, home, plugins, files, env }),
    readOperatorConfig(home, files),
  ]);
  return {
    project,
    resolved,
    operator,
    isEnabled: ({ package: pkg, plugin }) =>
      Object.hasOwn(plugins, pkg) || (local.records.get(plugin)?.enabled ?? false),
    resolve: (written) =>
      resolveProject({
        project: written,
        local,
        locate: pluginLocator({ plugins, home, local, files, projectId: written.id }),
        env,
      }),
  };
}
