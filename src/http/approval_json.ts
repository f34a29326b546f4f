/**
 * Requests and standing answers as JSON of the API.
 *
 * @module
 */
import type { Approval, StandingAnswer } from "../core/approvals/types.ts";
import type { Approval as ApprovalJson, StandingAnswer as StandingAnswerJson } from "./answers.ts";

/** Returns a request as the API spells it. */
export function approvalJson(approval: Approval): ApprovalJson {
  const { createdAt, expiresAt, projectId, agentPath, sessionId, jobId, argumentsCut, ...same } = approval;
  return {
    id: same.id,
    created_at: createdAt,
    expires_at: expiresAt,
    project_id: projectId,
    agent_path: agentPath,
    session_id: sessionId,
    job_id: jobId,
    tool: same.tool,
    plugin: same.plugin,
    arguments: same.arguments,
    arguments_cut: argumentsCut,
    changed: same.changed,
    source: same.source,
    sources: same.sources,
    reason: same.reason,
    state: same.state,
    end: same.end,
  };
}

/** Returns a standing answer as the API spells it. */
export function standingAnswerJson(answer: StandingAnswer): StandingAnswerJson {
  const { id, createdAt, projectId, agentPath, tool, plugin = null, source, decision, reason, sessionId, by } = answer;
  return {
    id,
    created_at: createdAt,
    project_id: projectId,
    agent_path: agentPath,
    tool,
    plugin,
    source,
    decision,
    reason,
    session_id: sessionId,
    by,
  };
}
