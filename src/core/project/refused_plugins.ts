/**
 * The plugins that a project declares and that no process serves, because the host refuses them as they are declared.
 *
 * @module
 */
import { HostError } from "../errors/host_error.ts";
import type { PluginRefusal, ResolvedProject } from "./types.ts";

/** A refused plugin as lists show it: one row for each instance that does not exist because of it. */
export interface RefusedPlugin extends Omit<PluginRefusal, "agent" | "instance"> {
  /** The id its instance would have; followed by `#<key>` where another instance of the project has that id. */
  readonly instance: string;
  /** Agents that declare it; none for a plugin of the operator's that no agent declares. */
  readonly agents: readonly string[];
}

/** Returns the refused plugins of a project, in the order of its refusals. */
export function refusedPlugins({ id, agents, instances, refusals }: ResolvedProject): RefusedPlugin[] {
  if (refusals.length === 0) return [];
  const isLeftOut = ({ agent, key }: PluginRefusal): boolean => {
    if (agent === "") return true;
    const { plugins = [], declared = [] } = agents.find(({ path }) => path === agent) ?? {};
    // Others are about a plugin that runs: a delegate that is no compactor, a manifest that broke meanwhile.
    return declared.includes(key) && !plugins.some((plugin) => plugin.key === key);
  };
  const taken = new Set(instances.map(({ instance }) => instance));
  const groups = Map.groupBy(refusals.filter(isLeftOut), (one) => JSON.stringify([instanceOf(one, id), one.key]));
  return Array.from(groups.values(), (group): RefusedPlugin => {
    const { agent: _, instance: __, ...first } = group[0]!;
    const wanted = instanceOf(group[0]!, id);
    const instance = taken.has(wanted) ? `${wanted}#${first.key}` : wanted;
    taken.add(instance);
    const served = [...new Set(group.map(({ agent }) => agent))].filter((agent) => agent !== "");
    return { ...first, instance, agents: served, error: joined(group.map(({ error }) => error)) };
  });
}

/** A plugin that was not found has no instance: it gets the id it would have under its key. */
function instanceOf({ agent, key, instance }: PluginRefusal, projectId: string): string {
  return instance ?? (agent === "" ? key : `${key}@${projectId}/${agent}`);
}

/** Returns one error for all: a person who mends the first reason alone would only meet the next. */
function joined(errors: readonly HostError[]): HostError {
  const [first, ...others] = errors as [HostError, ...HostError[]];
  const messages = new Set(errors.map(({ message }) => message));
  if (messages.size === 1) return first;
  const { code, hint, data } = first;
  const causes = [first, ...others].map(({ code, message, data }) => ({ code, message, data }));
  return new HostError(code, [...messages].join("; "), {
    data: { ...Object(data), causes },
    ...(hint !== undefined && { hint }),
    cause: first,
  });
}
