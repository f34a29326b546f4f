/**
 * What a plugin sent that it should not have, as audit events.
 *
 * @module
 */
import { HostError } from "../errors/host_error.ts";
import type { Irregularity } from "../wire/connection_types.ts";
import type { DialectPorts } from "./dialect.ts";
import { rateLimit } from "./rate_limit.ts";

/** Notifications a plugin may send in a second. */
export const NOTIFICATIONS_PER_SECOND: number = 100;

type Ports = Pick<DialectPorts, "audit" | "subject" | "kill">;

/** Tells of an irregularity. One that leaves nothing more to read ends the process. */
export function tellIrregularity(irregularity: Irregularity, { audit, subject, kill }: Ports): void {
  if (irregularity.kind === "noise") return audit.emit("plugin.stdout_noise", subject, { line: irregularity.line });
  const detail = irregularityDetail(irregularity);
  const isLast = irregularity.kind === "oversize";
  const violation_type = isLast ? "protocol.oversize_message" : irregularity.kind;
  audit.emit("plugin.protocol_violation", subject, { violation_type, detail });
  if (!isLast) return;
  const message = `[BLOCKED] Plugin "${subject.name}" sent ${detail}`;
  kill(new HostError("protocol.oversize_message", message, { hint: "Send less, or in pieces" }));
}

/** Says in words what an irregularity was. */
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

/** Returns a function that says whether one more notification is taken; `onFlood` runs once in a second too full. */
export function notificationGate(
  { audit, subject, clock }: Pick<DialectPorts, "audit" | "subject" | "clock">,
  onFlood: () => void = () => {},
): () => boolean {
  const limit = rateLimit(NOTIFICATIONS_PER_SECOND);
  return () => {
    const verdict = limit.judge(clock.monotonic());
    if (verdict === "dropAndTell") {
      audit.emit("plugin.notification_flood", subject, { rate: limit.rate });
      onFlood();
    }
    return verdict === "take";
  };
}
