/**
 * The audit trail as a person reads it: when, who, what.
 *
 * @module
 */
import type { AuditEvent } from "../../mod.ts";

/** Returns one line per event; a call that only carries a hook or goes by its result is left to that line. */
export function timeline(events: readonly AuditEvent[]): string {
  const width = Math.max(0, ...events.map(({ instance }) => instance.length));
  const rows = events.flatMap((event) => {
    const told = sentence(event);
    return told === null ? [] : [`  ${event.timestamp.slice(11, 23)}  ${event.instance.padEnd(width)}  ${told}`];
  });
  return rows.join("\n") + "\n";
}

function sentence({ type, data }: AuditEvent): string | null {
  switch (type) {
    case "plugin.spawned":
      return `started in cage ${data.cage_id}, process ${data.pid}`;
    case "plugin.initialized":
      return "shook hands and runs";
    case "plugin.tool_registered":
      return `offers ${data.tool} to ${data.agent_path}`;
    case "plugin.method_called":
      return data.method.startsWith("kaged.hook.") ? null : `${data.method} called by ${data.agent_path ?? "the host"}`;
    case "plugin.method_returned":
      return data.method.startsWith("kaged.hook.") ? null : `${data.method} ${data.success ? "answered" : "failed"}`;
    case "plugin.hook.fired":
      return null;
    case "plugin.hook.returned":
      return `${data.has_result ? "answered" : "heard"} ${data.hook}`;
    case "plugin.hook.injected":
      return `put ${data.bytes} bytes before ${data.agent_path}'s model${data.cut ? ", cut" : ""}`;
    case "compaction.triggered":
      return `compaction of ${data.agent_path}: ${data.trigger}, ${data.before.tokens} tokens`;
    case "compaction.completed":
      return `compacted by ${data.by} to ${data.after.tokens} tokens, ${data.superseded} messages superseded`;
    case "approval.requested":
      return `a person is asked about ${data.tool} of ${data.agent_path}: ${data.reason}`;
    case "approval.answered":
      return `${data.decision} ${data.tool}, said ${data.by}`;
    case "plugin.stopped":
      return `stopped with exit code ${data.exit_code}`;
    default:
      return `${type} ${JSON.stringify(data).slice(0, 100)}`;
  }
}
