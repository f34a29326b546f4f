/**
 * Reads the files of a project and of the operator, for a host.
 *
 * @module
 */
import type { RuleSet } from "../core/rules/rules.ts";
import type { Runtime } from "../core/ports/ports.ts";
import { type LoadedProject, loadProject } from "../core/project/load_project.ts";
import { type OperatorConfig, readOperatorConfig } from "../core/project/operator_config.ts";
import { referenceReader } from "../core/project/references.ts";
import { rulesOf } from "../core/project/tool_rules.ts";
import type { ResolvedInstance } from "../core/project/types.ts";

/** Folders of a project, of the operator and of plugins. */
export interface HostPlaces {
  /** Folder of the project, absolute, links resolved. */
  readonly dir: string;
  /** The operator's folder, absolute. */
  readonly home: string;
  /** Package → folder the embedder vouches for. */
  readonly plugins: Readonly<Record<string, string>>;
  readonly runtime: Runtime;
}

/** A project with all that it was made of. */
export interface HostProject extends Pick<LoadedProject, "project" | "resolved" | "resolve"> {
  /** How the host runs on this machine. */
  readonly operator: OperatorConfig;
  /** Rules on the calls of its tools, the operator's and its own. */
  readonly rules: RuleSet;
  /** Whether an instance may run: the embedder vouches for it, or the operator enabled it. */
  isEnabled(instance: ResolvedInstance): boolean;
}

/**
 * Reads and resolves a project.
 *
 * @throws {HostError} `project.*`, `local.*` or `config.*` when a file cannot be used. A plugin that cannot is in the
 * result.
 */
export async function loadHostProject({ dir, home, plugins, runtime }: HostPlaces): Promise<HostProject> {
  const { files } = runtime;
  const [{ local, ...loaded }, operator] = await Promise.all([
    loadProject({ dir, home, plugins, files, env: (name) => runtime.env(name), read: referenceReader(runtime) }),
    readOperatorConfig(home, files),
  ]);
  return {
    ...loaded,
    operator,
    rules: rulesOf(operator, loaded.project),
    isEnabled: ({ package: pkg, plugin }) =>
      Object.hasOwn(plugins, pkg) || (local.records.get(plugin)?.enabled ?? false),
  };
}
