/**
 * Events of the pinned tools of MCP servers.
 *
 * @module
 */

/** Data of these events, by type. */
export interface PinAuditData {
  /**
   * The tools of an installed MCP server are pinned: those of its first listing, or those that the operator saw. What
   * differs from the version before, each part cut to 50 names; nothing where none is known.
   */
  "plugin.tools_pinned": { hash: string; count: number; added: string[]; changed: string[]; removed: string[] };
  /** A tool is not as pinned: agents do not get it. Hashes of the definitions, null where it was never agreed to. */
  "plugin.tool_quarantined": { tool: string; kind: "new" | "changed"; pinned: string | null; listed: string };
  /** A tool that is pinned is not listed any more. */
  "plugin.tool_missing": { tool: string; pinned: string };
  /** The operator approved a quarantined tool: its definition is pinned from now on. */
  "plugin.tool_approved": { tool: string; pinned: string | null; listed: string };
}
