/**
 * Reads the files of a project and of the operator, for a host.
 *
 * @module
 */
import type { Runtime } from "../core/ports/ports.ts";
import { type LoadedProject, loadProject } from "../core/project/load_project.ts";
import { pluginNameOf } from "../core/project/locate.ts";
import { type OperatorConfig, readOperatorConfig } from "../core/project/operator_config.ts";
import { referenceReader } from "../core/project/references.ts";
import { netRuleWarnings } from "../core/project/net_rule_warnings.ts";
import type { Issue, ResolvedInstance } from "../core/project/types.ts";
import type { KnobPlaces } from "./check_knob.ts";

/** Folders of a project, of the operator and of plugins. */
export interface HostPlaces {
  /** Folder of the project, absolute, links resolved. */
  readonly dir: string;
  /** The operator's folder, absolute. */
  readonly home: string;
  /** Package → folder the embedder vouches for. */
  readonly plugins: Readonly<Record<string, string>>;
  /** Folder whose `node_modules`, and those above it, hold packages the embedder vouches for. */
  readonly packagesFrom?: string;
  readonly runtime: Runtime;
}

/** A project with all that it was made of. */
export interface HostProject extends Pick<LoadedProject, "project" | "resolved" | "resolve"> {
  /** How the host runs on this machine. */
  readonly operator: OperatorConfig;
  /** Rules of the operator that limit nobody, as far as this project and the installed plugins show. */
  readonly ruleWarnings: readonly Issue[];
  /** The machine that values of knobs must fit. */
  readonly knobPlaces: Omit<KnobPlaces, "files">;
  /** Whether an instance may run: the embedder vouches for it, or the operator enabled it. */
  isEnabled(instance: ResolvedInstance): boolean;
}

/** Whether the embedder vouches for an instance: nothing pins the hash of its files. */
export function isVouchedFor({ hash }: ResolvedInstance): boolean {
  return hash === undefined;
}

/**
 * Reads and resolves a project.
 *
 * @throws {HostError} `project.*`, `local.*` or `config.*` when a file cannot be used. A plugin that cannot is in the
 * result.
 */
export async function loadHostProject({ runtime, ...places }: HostPlaces): Promise<HostProject> {
  const { dir, home } = places;
  const { files } = runtime;
  const [{ local, ...loaded }, operator] = await Promise.all([
    loadProject({ ...places, files, env: (name) => runtime.env(name), read: referenceReader(runtime) }),
    readOperatorConfig(home, files),
  ]);
  const { instances, missing, refusals } = loaded.resolved;
  const known = [
    ...instances.map(({ plugin, package: pkg, manifest }) => ({
      plugin,
      package: pkg,
      capabilities: manifest.capabilities,
    })),
    ...refusals.map(({ plugin, package: pkg }) => ({ plugin, package: pkg ?? undefined, capabilities: null })),
    // Declared, and reported as missing: the rule is ready for the day on which it is installed.
    ...missing.map(({ package: pkg }) => ({ plugin: pluginNameOf(pkg), package: pkg, capabilities: null })),
  ];
  const others = [...local.records.values()].filter(({ name }) => !known.some(({ plugin }) => plugin === name))
    .map(({ name, package: pkg }) => ({ plugin: name, package: pkg, capabilities: null }));
  return {
    ...loaded,
    operator,
    knobPlaces: { dir, home, models: local.models },
    ruleWarnings: netRuleWarnings(operator.netRules, [...known, ...others]),
    isEnabled: (one) => isVouchedFor(one) || (local.records.get(one.plugin)?.enabled ?? false),
  };
}
