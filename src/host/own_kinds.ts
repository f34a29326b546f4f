/**
 * The kinds of a project, and how each plugin fits them.
 *
 * @module
 */
import { kindMismatch } from "../core/contract/kind_compatibility.ts";
import type { Manifest } from "../core/manifest/manifest.ts";
import type { Files } from "../core/ports/ports.ts";
import type { Project, ResolvedProject } from "../core/project/types.ts";
import type { Kind } from "../hooks/kinds/types.ts";

/**
 * Reads the kinds of a project's hookspec and of those that the embedder names, and warns of each plugin that implements
 * a kind which is not there, or another version of it. Without a hookspec nothing is loaded.
 *
 * @throws {HostError} `hookspec.*`
 */
export async function ownKinds(
  { project, resolved, hookspecs, files, warn }: {
    readonly project: Pick<Project, "dir" | "hookspec">;
    readonly resolved: Pick<ResolvedProject, "instances">;
    readonly hookspecs: readonly string[];
    readonly files: Files;
    readonly warn: (message: string) => void;
  },
): Promise<Kind[]> {
  const own = project.hookspec === null ? [] : [`${project.dir}/${project.hookspec}`];
  if (own.length + hookspecs.length === 0) return [];
  const { readKinds } = await import("../hooks/kinds/read_kinds.ts");
  const kinds = await readKinds([...own, ...hookspecs], files);
  for (const { plugin, manifest } of new Map(resolved.instances.map((one) => [one.plugin, one])).values()) {
    for (const [kind, wanted] of Object.entries(manifest.kinds ?? {})) {
      const reason = fittingKind(kinds, kind, wanted).reason;
      if (reason !== null) warn(`Plugin "${plugin}" is unavailable as ${kind}: ${reason}`);
    }
  }
  return kinds;
}

/** The version of a kind that a plugin goes with; without one, the newest and why it does not fit. */
export interface FittingKind {
  /** Null when no hookspec has the kind. */
  readonly kind: Kind | null;
  /** Null when the plugin fits. */
  readonly reason: string | null;
}

/** Finds the version of a kind that a plugin written for version `wanted` of it goes with. */
export function fittingKind(kinds: readonly Kind[], name: string, wanted: string): FittingKind {
  const versions = kinds.filter(({ kind }) => kind === name);
  const fitting = versions.find(({ version }) => kindMismatch(wanted, version) === null);
  if (fitting) return { kind: fitting, reason: null };
  const newest = versions.at(-1);
  if (!newest) return { kind: null, reason: "No hookspec has this kind" };
  return { kind: newest, reason: kindMismatch(wanted, newest.version) };
}

/** Returns the methods of the kinds that a manifest says its plugin implements. */
export function kindMethods(kinds: readonly Kind[], { kinds: implemented = {} }: Manifest): string[] {
  return Object.entries(implemented).flatMap(([name, wanted]) => {
    const { kind, reason } = fittingKind(kinds, name, wanted);
    return reason === null ? kind!.hooks.flatMap(({ wireMethod }) => wireMethod ?? []) : [];
  });
}
