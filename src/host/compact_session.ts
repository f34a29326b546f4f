/**
 * A compaction in a session: its span, its record for the console, its event.
 *
 * @module
 */
import type { CompactionResult } from "../core/compaction/types.ts";
import type { Runtime } from "../core/ports/ports.ts";
import type { Emitter } from "../events/emitter.ts";
import type { HookContext } from "../hooks/sources/plugin/fire_hook.ts";
import { withSpan } from "../otel/tracing.ts";
import type { Tracing } from "../otel/types.ts";
import { compactWindow, type CompactWindowPorts } from "./compact_window.ts";
import type { CompactionLog } from "./compaction_log.ts";
import type { HostHooks } from "./host_hooks.ts";
import type { HostModel } from "./model.ts";
import type { CompactionRequest } from "./types.ts";

/** The rooms of the host that a compaction passes. */
export interface CompactSessionPorts extends Pick<CompactWindowPorts, "hooks" | "audit" | "options"> {
  readonly runtime: Pick<Runtime, "clock" | "ids">;
  readonly model: HostModel;
  readonly chain: HostHooks;
  readonly emitter: Emitter | null;
  readonly tracing: Tracing | null;
  readonly compactions: CompactionLog;
  /** Returns the context of work that an agent does in a session. */
  contextOf(agent: string, session: string): HookContext;
}

/** Makes the window of an agent smaller. Throws `agent.unknown`, or `host.misuse` for messages that are none. */
export async function compactSession(
  request: CompactionRequest,
  { options, runtime, model, audit, emitter, tracing, hooks, chain, compactions, contextOf }: CompactSessionPorts,
): Promise<CompactionResult> {
  const { agent: path, session, trigger } = request;
  const agent = model.agent(path);
  const { clock } = runtime;
  const context = contextOf(path, session);
  const startedMs = clock.monotonic();
  const result = await withSpan(tracing, "compaction", { name: path, agent: path, session }, () => {
    return compactWindow(request, agent, context, { hooks, observe: chain.observer(context), audit, runtime, options });
  });
  const { by, before, after } = result;
  const timestamp = new Date(clock.now()).toISOString();
  compactions.add(agent.path, { timestamp, session_id: session, trigger }, result);
  const duration = clock.monotonic() - startedMs;
  const at = { agentName: path, conversationId: session };
  emitter?.emit("compaction:execute", { ...at, trigger, by, before, after, duration });
  return result;
}
