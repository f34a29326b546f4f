/**
 * Events of the audit trail itself: those of its own files.
 *
 * @module
 */

/** Data of these events, by type. */
export interface TrailAuditData {
  /** Events that could not be written, and why. */
  "audit.lost": { count: number; reason: string };
  /** The trail was left unfinished by a crash: a line cut in half was removed, or the head file written anew. */
  "audit.mended": { reason: "torn_line" | "head_missing"; cut_bytes: number };
  /** Lines that the head file counts are missing from the trail; it goes on behind them. */
  "audit.gap": { after_seq: number; head_seq: number };
  /** A file of events from before the trail was chained, kept under another name. */
  "audit.set_aside": { file: string };
  /** A sealed file was deleted, because of its age or for want of disk space. */
  "audit.expired": {
    file: string;
    first_seq: number;
    last_seq: number;
    last_hash: string;
    reason: "age" | "disk";
  };
}
