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

/** A process that writes this many lines that are no messages in {@link FLOOD_MS} is ended. */
export const FLOOD_LINES: number = 10_000;
const FLOOD_MS = 10_000;

type Ports = Pick<DialectPorts, "audit" | "subject" | "clock" | "kill">;

/**
 * Returns a function that audits the irregularities of one process. Each costs the host time that other plugins' calls
 * wait for, so that a flood of them ends the process.
 */
export function irregularityGate(ports: Ports): (irregularity: Irregularity) => void {
  const { audit, subject, clock, kill } = ports;
  let startMs = -Infinity;
  let lines = 0;
  return (irregularity) => {
    const nowMs = clock.monotonic();
    if (lines > FLOOD_LINES) return; // It is being ended: the rest of its output is nobody's business.
    if (nowMs - startMs >= FLOOD_MS) [startMs, lines] = [nowMs, 0];
    if (++lines <= FLOOD_LINES) return auditIrregularity(irregularity, ports);
    const seconds = FLOOD_MS / 1000;
    audit.emit("plugin.flood", subject, { lines, seconds });
    const message =
      `[BLOCKED] Plugin "${subject.name}" wrote ${FLOOD_LINES} lines that are no messages in ${seconds} s`;
    kill(new HostError("plugin.flood", message, { data: { lines, seconds }, hint: "Write logs to stderr" }));
  };
}

/** Audits an irregularity. After a line that is too long nothing can be read any more, so that one ends the process. */
function auditIrregularity(irregularity: Irregularity, { audit, subject, kill }: Ports): void {
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
