/**
 * A compaction as the host runs it: the agent's plugins, the one hook chain, the audit.
 *
 * @module
 */
import type { Audit } from "../core/audit/audit.ts";
import type { AuditData } from "../core/audit/events.ts";
import { countTokens } from "../core/compaction/messages.ts";
import { runCompaction } from "../core/compaction/run_compaction.ts";
import type { CompactionPorts, CompactionResult } from "../core/compaction/types.ts";
import type { Runtime } from "../core/ports/ports.ts";
import type { ResolvedAgent } from "../core/project/types.ts";
import type { HookContext, HookDispatcher } from "../hooks/sources/plugin/fire_hook.ts";
import { subscriberOf } from "../hooks/sources/plugin/plugin_hooks.ts";
import type { CompactionRequest, HostOptions } from "./types.ts";

/** The rooms of the host that a compaction uses. */
export interface CompactWindowPorts {
  /** Fires a hook at one plugin. */
  readonly hooks: HookDispatcher;
  /** Asks the observers of this compaction. */
  readonly observe: CompactionPorts["observe"];
  readonly audit: Audit;
  readonly runtime: Pick<Runtime, "clock" | "ids">;
  /** The embedder's own count and summary. */
  readonly options: Pick<HostOptions, "countTokens" | "summarize">;
}

/** Makes an agent's window smaller. Throws `host.misuse` for messages that are none, and for nothing a plugin does. */
export async function compactWindow(
  { messages, trigger, targetTokens }: Pick<CompactionRequest, "messages" | "trigger" | "targetTokens">,
  { compaction: settings, plugins }: ResolvedAgent,
  context: HookContext,
  { hooks, observe, audit, runtime, options }: CompactWindowPorts,
): Promise<CompactionResult> {
  const { project_id, agent_path, session_id, request_id } = context;
  const ports: CompactionPorts = {
    observe,
    async askCompactor(params, { key }) {
      const compactor = subscriberOf(plugins.find((plugin) => plugin.key === key)!);
      const firing = { hook: "pre_compact", params: { ...params }, context };
      // Its answer is verified later, claim by claim.
      const outcome = await hooks.fire(compactor, firing, (result) => result);
      return outcome.ok ? outcome : { ok: false, reason: outcome.reason, detail: outcome.error.message };
    },
    audit(type, data) {
      const subject = { name: "host", instance: project_id };
      audit.emit(type, subject, { ...data, agent_path, session_id } as AuditData[typeof type], request_id);
    },
    countTokens: options.countTokens ?? countTokens,
    ...(options.summarize && { summarize: options.summarize }),
    clock: runtime.clock,
    ids: runtime.ids,
  };
  const target = targetTokens === undefined ? {} : { targetTokens };
  return await runCompaction({ messages, trigger, ...target, settings, plugins }, ports);
}
