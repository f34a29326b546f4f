/**
 * Audit events of messages a plugin should not have sent, and the limit on its notifications.
 *
 * @module
 */
import { HostError } from "../errors/host_error.ts";
import type { Irregularity } from "../wire/connection_types.ts";
import type { DialectPorts } from "./dialect.ts";

/** Notifications of one plugin above this rate are dropped. */
export const NOTIFICATIONS_PER_SECOND: number = 100;

type Ports = Pick<DialectPorts, "audit" | "subject" | "kill">;

/** Audits an irregularity. After a line that is too long nothing can be read any more, so that one ends the process. */
export function auditIrregularity(irregularity: Irregularity, { audit, subject, kill }: Ports): void {
  if (irregularity.kind === "noise") return audit.emit("plugin.stdout_noise", subject, { line: irregularity.line });
  const detail = irregularityDetail(irregularity);
  const isLast = irregularity.kind === "oversize";
  const violation_type = isLast ? "protocol.oversize_message" : irregularity.kind;
  audit.emit("plugin.protocol_violation", subject, { violation_type, detail });
  if (!isLast) return;
  const message = `[BLOCKED] Plugin "${subject.name}" sent ${detail}`;
  kill(new HostError("protocol.oversize_message", message, { hint: "Send less, or in pieces" }));
}

/** Returns an irregularity in words. */
export function irregularityDetail(irregularity: Exclude<Irregularity, { kind: "noise" }>): string {
  switch (irregularity.kind) {
    case "oversize":
      return `a line longer than ${irregularity.limitBytes} bytes`;
    case "unknown_response":
      return `a response to id ${JSON.stringify(irregularity.id)?.slice(0, 100)}`;
    case "invalid":
      return `${irregularity.reason}: ${irregularity.line}`;
    case "batch":
      return irregularity.line;
  }
}

/**
 * Returns a function that says whether one more notification is taken. The first one dropped in a second is audited,
 * and `onFlood` called.
 */
export function notificationGate(
  { audit, subject, clock }: Pick<DialectPorts, "audit" | "subject" | "clock">,
  onFlood: () => void = () => {},
): () => boolean {
  let startMs = -Infinity;
  let rate = 0;
  return () => {
    const nowMs = clock.monotonic();
    if (nowMs - startMs >= 1000) [startMs, rate] = [nowMs, 0];
    rate++;
    if (rate === NOTIFICATIONS_PER_SECOND + 1) {
      audit.emit("plugin.notification_flood", subject, { rate });
      onFlood();
    }
    return rate <= NOTIFICATIONS_PER_SECOND;
  };
}
