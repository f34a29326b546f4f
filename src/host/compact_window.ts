/**
 * The walk of a compaction: the rooms of a host behind {@link compactWindow}.
 *
 * @module
 */
import type { Audit } from "../core/audit/audit.ts";
import type { AuditData } from "../core/audit/events.ts";
import { countTokens, type Message } from "../core/compaction/messages.ts";
import { runCompaction } from "../core/compaction/run_compaction.ts";
import type { CompactionPorts, CompactionResult } from "../core/compaction/types.ts";
import type { Runtime } from "../core/ports/ports.ts";
import { markerEscaper } from "../core/values/escape_markers.ts";
import type { Emitter } from "../events/emitter.ts";
import type { HookContext, HookDispatcher } from "../hooks/sources/plugin/fire_hook.ts";
import { subscriberOf } from "../hooks/sources/plugin/plugin_hooks.ts";
import { withSpan } from "../otel/tracing.ts";
import type { Tracing } from "../otel/types.ts";
import type { CompactionLog } from "./compaction_log.ts";
import type { HostHooks } from "./host_hooks.ts";
import type { HostModel } from "./model.ts";
import type { CompactionRequest, HostOptions } from "./types.ts";

/** The rooms that a compaction passes. */
export interface CompactingRooms {
  readonly options: Pick<HostOptions, "countTokens" | "summarize"> & { readonly runtime: Runtime };
  /** Turn markers that text of plugins may not carry, beside the usual ones. */
  readonly markers: readonly string[];
  readonly model: HostModel;
  readonly hooks: HookDispatcher;
  readonly chain: HostHooks;
  readonly audit: Audit;
  readonly tracing: Tracing | null;
  readonly emitter: Emitter | null;
  readonly compactions: CompactionLog;
  contextOf(agent: string, session: string): HookContext;
}

/**
 * Makes the window of an agent smaller.
 *
 * @throws {HostError} `agent.unknown`; `host.misuse` for messages that are none; nothing for what a plugin does.
 */
export async function compactWindow<M extends { readonly role: string }>(
  request: CompactionRequest<M>,
  rooms: CompactingRooms,
): Promise<CompactionResult<M>> {
  const { trigger, targetTokens, agent, session } = request;
  // A compaction reads the fields it knows and carries the others: the caller's type need not name any but the role.
  const messages = request.messages as readonly unknown[] as readonly Message[];
  const { clock } = rooms.options.runtime;
  const { path, compaction: settings, delegateFault, plugins } = rooms.model.agent(agent);
  const ports = compactionPorts(rooms, rooms.contextOf(path, session));
  const target = targetTokens === undefined ? {} : { targetTokens };
  const task = { messages, trigger, ...target, settings, delegateFault, plugins };
  const startedMs = clock.monotonic();
  const facts = { name: path, agent: path, session };
  const result = await withSpan(rooms.tracing, "compaction", facts, () => runCompaction(task, ports));
  const timestamp = new Date(clock.now()).toISOString();
  rooms.compactions.add(path, { timestamp, session_id: session, trigger }, result);
  const { by, before, after } = result;
  const duration = clock.monotonic() - startedMs;
  const place = { agentName: path, conversationId: session };
  rooms.emitter?.emit("compaction:execute", { ...place, trigger, by, before, after, duration });
  return result as CompactionResult<unknown> as CompactionResult<M>;
}

function compactionPorts(
  { options, markers, model, hooks, chain, audit }: CompactingRooms,
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
    mayInject: ["pre_compact", "post_compact"].some(chain.isWanted),
    escape: markerEscaper(markers),
    ...(summarize && { summarize }),
    clock,
    ids,
  };
}
