/**
 * A compaction as the host runs it: the agent's plugins, its audit chain, its injections.
 *
 * @module
 */
import type { Audit } from "../core/audit/audit.ts";
import type { AuditData } from "../core/audit/events.ts";
import { readObserverResult } from "../core/compaction/observer_result.ts";
import { runCompaction } from "../core/compaction/run_compaction.ts";
import type { CompactionPorts, CompactionResult } from "../core/compaction/types.ts";
import type { HookContext, HookDispatcher } from "../hooks/sources/plugin/fire_hook.ts";
import { openInjections } from "../hooks/sources/plugin/injections.ts";
import { countTokens } from "../core/compaction/messages.ts";
import type { Runtime } from "../core/ports/ports.ts";
import type { ResolvedAgent } from "../core/project/types.ts";
import type { Harness } from "./harness.ts";
import { subscriberOf } from "./model.ts";
import type { CompactionRequest, HostOptions } from "./types.ts";

/** What a compaction needs of the host around it. */
export interface CompactWindowPorts {
  /** Wraps text for the model. */
  readonly harness: Harness;
  /** Fires hooks. */
  readonly hooks: HookDispatcher;
  /** Asks those who look on. */
  readonly observe: NonNullable<CompactionPorts["observe"]>;
  /** Where audit events go. */
  readonly audit: Audit;
  /** Time and ids. */
  readonly runtime: Pick<Runtime, "clock" | "ids">;
  /** How the embedder counts and summarizes. */
  readonly options: Pick<HostOptions, "countTokens" | "summarize">;
}

/** Makes an agent's window smaller. Throws `host.misuse` for messages that are none, and for nothing a plugin does. */
export async function compactWindow(
  { messages, trigger, targetTokens }: CompactionRequest,
  agent: ResolvedAgent,
  context: HookContext,
  { harness, hooks, observe, audit, runtime, options }: CompactWindowPorts,
): Promise<CompactionResult> {
  const injections = openInjections();
  const { project_id, agent_path, session_id, request_id } = context;
  const byKey = new Map(agent.plugins.map((plugin) => [plugin.key, subscriberOf(plugin)]));
  const byName = new Map(agent.plugins.map((plugin) => [plugin.plugin, subscriberOf(plugin)]));
  const ports: CompactionPorts = {
    async fire(hook, params, plugin) {
      const firing = { hook, params: { ...params }, context };
      const outcome = await hooks.fire(byKey.get(plugin.key)!, firing, (result) => {
        // A compactor's answer is tried later, claim by claim.
        if (params.role === "observer") readObserverResult(hook, plugin.plugin, result);
        return result;
      });
      if (outcome.ok) return { ok: true, result: outcome.result };
      return { ok: false, reason: outcome.reason, detail: outcome.error.message };
    },
    observe,
    inject: (plugin, hook, text) =>
      harness.inject({ subscriber: byName.get(plugin)!, hook, text }, injections, context),
    audit(type, data) {
      const subject = { name: "host", instance: project_id };
      audit.emit(type, subject, { ...data, agent_path, session_id } as AuditData[typeof type], request_id);
    },
    countTokens: options.countTokens ?? countTokens,
    ...(options.summarize && { summarize: options.summarize }),
    ids: runtime.ids,
    clock: runtime.clock,
  };
  const { compaction: settings, plugins } = agent;
  const target = targetTokens === undefined ? {} : { targetTokens };
  return await runCompaction({ messages, trigger, ...target, settings, plugins }, ports);
}
