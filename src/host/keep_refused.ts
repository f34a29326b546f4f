/**
 * Keeps a running plugin in the project while its manifest cannot be read: its author may be in the middle of an edit.
 *
 * @module
 */
import type { PluginRefusal, ResolvedAgent, ResolvedInstance, ResolvedProject } from "../core/project/types.ts";

/** Returns `fresh` with those plugins of `before` put back that it leaves out because of their manifest. */
export function keepRefused(before: ResolvedProject, fresh: ResolvedProject): ResolvedProject {
  const taken = new Set(fresh.instances.map(({ instance }) => instance));
  const kept = new Map<string, ResolvedInstance>();
  const agents = fresh.agents.map((agent): ResolvedAgent => {
    const whole = before.agents.find(({ path }) => path === agent.path);
    if (!whole) return agent;
    const former = whole.plugins;
    const back = former.filter(({ key, instance }) =>
      !taken.has(instance) && fresh.refusals.some((one) => one.agent === agent.path && one.key === key && isUnread(one))
    );
    if (back.length === 0) return agent;
    for (const { instance } of back) {
      const own = kept.get(instance) ?? { ...before.instances.find((one) => one.instance === instance)!, agents: [] };
      kept.set(instance, { ...own, agents: [...own.agents, agent.path] });
    }
    const place = ({ key }: { readonly key: string }): number => {
      const at = former.findIndex((one) => one.key === key);
      return at < 0 ? former.length : at;
    };
    const plugins = [...agent.plugins, ...back].toSorted((a, b) => place(a) - place(b));
    const isDelegate = back.some(({ key }) => key === agent.compaction.delegate);
    return { ...agent, plugins, ...(isDelegate && { delegateFault: whole.delegateFault }) };
  });
  return kept.size === 0 ? fresh : { ...fresh, agents, instances: [...fresh.instances, ...kept.values()] };
}

/** Whether a refusal is about a manifest that cannot be read. */
export function isUnread({ error }: PluginRefusal): boolean {
  return error.code.startsWith("manifest.");
}
