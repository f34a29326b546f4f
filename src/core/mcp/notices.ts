/**
 * How calls are cancelled and report progress in MCP.
 *
 * @module
 */
import type { CallNotices } from "../wire/connection_types.ts";

/** `notifications/cancelled { requestId }` and `notifications/progress { progressToken, … }`. */
export const MCP_NOTICES: CallNotices = {
  cancel: "notifications/cancelled",
  progress: "notifications/progress",
  cancelParams: (requestId) => ({ requestId, reason: "The caller gave up" }),
  cancelledId: (params) => (params as { requestId?: unknown } | undefined)?.requestId,
  progressId: (params) => (params as { progressToken?: unknown } | undefined)?.progressToken,
  // The token is the call's own id; a server reports progress only to those who gave it one.
  callParams(method, params, progressToken) {
    if (method !== "tools/call") return params;
    const { _meta, ...rest } = params as { _meta?: object };
    return { ...rest, _meta: { ..._meta, progressToken } };
  },
};
