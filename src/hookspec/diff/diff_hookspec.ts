/**
 * Compares two versions of a hookspec, and checks that their version numbers follow from the changes.
 *
 * @module
 */
import type { HookSpec, Hookspec, KindSpec } from "../types.ts";
import { type ChangeEffect, isEnough, neededVersion, type SpecChange } from "./spec_change.ts";
import { TypeComparison } from "./type_changes.ts";

/** The changes of one kind, and the version they need. */
export interface KindDiff {
  readonly kind: string;
  /** Its version before; null for a kind that is new. */
  readonly from: string | null;
  /** Its version now; null for a kind that is gone. */
  readonly to: string | null;
  readonly changes: readonly SpecChange[];
  /** The least version these changes ask for; null for a kind that is new or gone. */
  readonly needed: string | null;
  /** Whether the version now is enough. No version is for a kind that is gone. */
  readonly isEnough: boolean;
}

/** Compares each version of each kind with itself, or with the next one where it is gone. */
export function diffHookspecs(old: Hookspec, now: Hookspec): KindDiff[] {
  const matched = new Set<KindSpec>();
  const diffs = old.kinds.map((before): KindDiff => {
    const after = now.kinds.find(({ kind, major }) => kind === before.kind && major >= before.major);
    if (!after) {
      const changes = [change(before.kind, "breaking", `version ${before.version} is gone`)];
      return { kind: before.kind, from: before.version, to: null, changes, needed: null, isEnough: false };
    }
    matched.add(after);
    return diffKinds(before, after);
  });
  const fresh = now.kinds.filter((kind) => !matched.has(kind)).map(({ kind, version }): KindDiff => {
    const changes = [change(kind, "compatible", `version ${version} is new`)];
    return { kind, from: null, to: version, changes, needed: null, isEnough: true };
  });
  return [...diffs, ...fresh];
}

/** Compares two versions of one kind. */
function diffKinds(old: KindSpec, now: KindSpec): KindDiff {
  const types = new TypeComparison(old.types, now.types);
  const hooks = new Map(now.hooks.map((hook) => [hook.name, hook]));
  const changes = kindChanges(old, now);
  for (const before of old.hooks) {
    const after = hooks.get(before.name);
    if (!after) changes.push(change(before.name, "breaking", "is gone"));
    else {
      changes.push(...hookChanges(before, after));
      types.compareNamed(before.input, after.input, `${before.name}.input`);
      types.compareNamed(before.output, after.output, `${before.name}.output`);
    }
  }
  const known = new Set(old.hooks.map(({ name }) => name));
  for (const { name } of now.hooks) if (!known.has(name)) changes.push(change(name, "compatible", "is new"));
  const { kind, version: to } = now;
  const all = [...changes, ...types.changes];
  const needed = neededVersion(old.version, all);
  return { kind, from: old.version, to, changes: all, needed, isEnough: isEnough(to, needed) };
}

function kindChanges(old: KindSpec, now: KindSpec): SpecChange[] {
  const changes: SpecChange[] = [];
  if (old.wireMethodTemplate !== now.wireMethodTemplate) {
    const effect = old.wireMethodTemplate === null ? "compatible" : "breaking";
    const message = `is called ${now.wireMethodTemplate} on the wire, was ${old.wireMethodTemplate}`;
    changes.push(change(now.kind, effect, message));
  }
  if (old.pluginTimeoutMs !== now.pluginTimeoutMs) {
    const message = `gives a plugin ${now.pluginTimeoutMs} ms, were ${old.pluginTimeoutMs}`;
    changes.push(change(now.kind, "compatible", message));
  }
  if (old.description !== now.description) changes.push(change(now.kind, "wording", "has another description"));
  return changes;
}

function hookChanges(old: HookSpec, now: HookSpec): SpecChange[] {
  const changes: SpecChange[] = [];
  const add = (effect: ChangeEffect, message: string): void => void changes.push(change(now.name, effect, message));
  const [wasTool, isTool] = [old.mcpToolName !== null, now.mcpToolName !== null];
  if (old.dispatch !== now.dispatch) add("breaking", `is dispatched as ${now.dispatch}, was ${old.dispatch}`);
  if (wasTool !== isTool) add(isTool ? "compatible" : "breaking", `is ${isTool ? "now" : "no longer"} an MCP tool`);
  if (old.executionModel !== now.executionModel) {
    add("breaking", `its execution model is ${now.executionModel}, was ${old.executionModel}`);
  }
  if (old.scope !== now.scope) {
    add(now.scope === "any" ? "compatible" : "breaking", `fires for ${now.scope} agents, was ${old.scope}`);
  }
  if (old.defaultTimeoutMs !== now.defaultTimeoutMs) {
    add("compatible", `its default timeout is ${now.defaultTimeoutMs} ms, was ${old.defaultTimeoutMs}`);
  }
  const [before, after] = [namesOf(old), namesOf(now)];
  for (const name of before) if (!after.includes(name)) add("breaking", `is no longer called ${name}`);
  for (const name of after) if (!before.includes(name)) add("compatible", `is also called ${name}`);
  if (old.description !== now.description) add("wording", "has another description");
  return changes;
}

/** Every name of a hook elsewhere: `SessionEnd`, `Stop on vscode`. */
function namesOf({ portableName, aliases }: HookSpec): string[] {
  const platforms = Object.entries(aliases).flatMap(([platform, names]) =>
    names.map((name) => `${name} on ${platform}`)
  );
  return [...(portableName === null ? [] : [portableName]), ...platforms];
}

function change(path: string, effect: ChangeEffect, message: string): SpecChange {
  return { path, effect, message };
}
