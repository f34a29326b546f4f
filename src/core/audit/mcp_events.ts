/**
 * Events of MCP servers beyond their tools: names and sizes, and nothing of the contents.
 *
 * @module
 */

/** A use of a part of an MCP server. */
export interface McpUseAudit {
  /** Path of the agent that it was for. */
  agent_path: string;
  /** Session in which it happened. */
  session_id: string;
  /** Whether the server answered it. */
  success: boolean;
  /** Length of the answer as JSON; 0 where there was none. */
  bytes: number;
  /** How long it took. */
  duration_ms: number;
}

/** Data of these events, by type. */
export interface McpAuditData {
  /** A resource of it was read; the URI is cut to 1,000 characters. */
  "plugin.resource_read": McpUseAudit & { uri: string };
  /** A prompt of it was filled in, by its full name, cut to 300 characters. */
  "plugin.prompt_used": McpUseAudit & { prompt: string };
  /** It did not give a list, or did not do what the host asked of it by itself; once until that works again. */
  "plugin.mcp_failed": {
    part: "resources" | "templates" | "prompts" | "subscriptions" | "log_level";
    error_code: string;
    error_message: string;
  };
  /** It asked the client's side for something, such as `elicitation/create`, and this became of it. */
  "plugin.mcp_request": {
    method: string;
    outcome: "answered" | "declined" | "cancelled" | "refused" | "failed";
    /** Why it was not answered; null where it was. */
    reason: string | null;
    /** Null where it belongs to no call, or to calls of several sessions. */
    agent_path: string | null;
    session_id: string | null;
    /** Length of the answer as JSON; 0 where there was none. */
    bytes: number;
    duration_ms: number;
  };
}
