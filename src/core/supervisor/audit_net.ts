/**
 * What a plugin did on the network, as audit events.
 *
 * @module
 */
import type { Audit, AuditSubject } from "../audit/audit.ts";
import type { NetEvent } from "../cage/net/gatekeeper.ts";

/** Emits the event of a connection that was made or refused. */
export function auditNet(event: NetEvent, audit: Audit, subject: AuditSubject): void {
  const { host, port } = event;
  if (event.kind === "opened") return audit.emit("plugin.net_opened", subject, { host, port });
  audit.emit("plugin.net_refused", subject, { host, port, reason: event.reason });
}
