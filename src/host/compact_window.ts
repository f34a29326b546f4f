/**
 * A compaction as the host runs it: the agent's plugins, the one hook chain, the audit, a span, an event, and the record
 * that the console shows.
 *
 * @module
 */
import type { Audit } from "../core/audit/audit.ts";
import type { AuditData } from "../core/audit/events.ts";
import { countTokens } from "../core/compaction/messages.ts";
import { runCompaction } from "../core/compaction/run_compaction.ts";
import type { CompactionPorts, CompactionResult } from "../core/compaction/types.ts";
import type { Runtime } from "../core/ports/ports.ts";
import type { Emitter } from "../events/emitter.ts";
import type { HookContext, HookDispatcher } from "../hooks/sources/plugin/fire_hook.ts";
import { subscriberOf } from "../hooks/sources/plugin/plugin_hooks.ts";
import { withSpan } from "../otel/tracing.ts";
import type { Tracing } from "../otel/types.ts";
import type { CompactionLog } from "./compaction_log.ts";
import type { HostHooks } from "./host_hooks.ts";
import type { HostModel } from "./model.ts";
import type { CompactionRequest, HostOptions } from "./types.ts";

/** The rooms of the host that a compaction passes. */
export interface CompactionRooms {
  /** The embedder's own count and summary. */
  readonly options: Pick<HostOptions, "countTokens" | "summarize"> & { readonly runtime: Runtime };
  readonly model: HostModel;
  /** Fires a hook at one plugin. */
  readonly hooks: HookDispatcher;
  readonly chain: HostHooks;
  readonly audit: Audit;
  readonly emitter: Emitter | null;
  readonly tracing: Tracing | null;
  readonly compactions: CompactionLog;
  /** Returns the context of work that an agent does in a session. */
  contextOf(agent: string, session: string): HookContext;
}

/**
 * Makes the window of an agent smaller.
 *
 * @throws {HostError} `agent.unknown`; `host.misuse` for messages that are none; nothing for what a plugin does.
 */
export async function compactWindow(request: CompactionRequest, rooms: CompactionRooms): Promise<CompactionResult> {
  const { messages, trigger, targetTokens, agent, session } = request;
  const { clock } = rooms.options.runtime;
  const { path, compaction: settings, plugins } = rooms.model.agent(agent);
  const ports = compactionPorts(rooms, rooms.contextOf(path, session));
  const task = { messages, trigger, ...(targetTokens !== undefined && { targetTokens }), settings, plugins };
  const startedMs = clock.monotonic();
  const facts = { name: path, agent: path, session };
  const result = await withSpan(rooms.tracing, "compaction", facts, () => runCompaction(task, ports));
  const timestamp = new Date(clock.now()).toISOString();
  rooms.compactions.add(path, { timestamp, session_id: session, trigger }, result);
  const { by, before, after } = result;
  const duration = clock.monotonic() - startedMs;
  const place = { agentName: path, conversationId: session };
  rooms.emitter?.emit("compaction:execute", { ...place, trigger, by, before, after, duration });
  return result;
}

function compactionPorts(
  { options, model, hooks, chain, audit }: CompactionRooms,
  context: HookContext,
): CompactionPorts {
  const { project_id, agent_path, session_id, request_id } = context;
  const { countTokens: count = countTokens, summarize, runtime: { clock, ids } } = options;
  return {
    observe: chain.observer(context),
    async askCompactor(params, { key }) {
      const firing = { hook: "pre_compact", params: { ...params }, context };
      // Its answer is verified later, claim by claim.
      const outcome = await hooks.fire(subscriberOf(model.plugin(agent_path, key)!), firing, (result) => result);
      return outcome.ok ? outcome : { ok: false, reason: outcome.reason, detail: outcome.error.message };
    },
    audit(type, data) {
      const subject = { name: "host", instance: project_id };
      audit.emit(type, subject, { ...data, agent_path, session_id } as AuditData[typeof type], request_id);
    },
    countTokens: count,
    ...(summarize && { summarize }),
    clock,
    ids,
  };
}
