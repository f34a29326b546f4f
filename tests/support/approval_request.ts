/**
 * A request for a person's yes, as stores keep it.
 *
 * @module
 */
import type { Approval } from "../../src/core/approvals/types.ts";

/** Returns a request that waits. */
export function approvalRequest(id: string, fields: Partial<Approval> = {}): Approval {
  return {
    id,
    createdAt: "2026-01-01T00:00:00.000Z",
    expiresAt: "2026-01-01T00:10:00.000Z",
    projectId: "harbor",
    agentPath: "primary",
    sessionId: "ses_1",
    jobId: null,
    tool: "mail.send",
    plugin: "mail",
    arguments: { to: "a@example.org\u0000" },
    argumentsCut: false,
    changed: null,
    source: { kind: "rule", id: "config.toml:1" },
    sources: [{ kind: "rule", id: "config.toml:1" }],
    reason: "a rule",
    state: "waiting",
    end: null,
    ...fields,
  };
}
