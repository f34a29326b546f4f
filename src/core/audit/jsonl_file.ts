/**
 * An audit sink that appends one JSON line per event to a file, and rotates it by size.
 *
 * @module
 */
import { lineFile } from "../files/line_file.ts";
import type { Clock, Files } from "../ports/ports.ts";
import type { AuditSink } from "./events.ts";

/** How the file is kept. */
export interface JsonlFileOptions {
  /** Absolute path of the newest file; older ones get `.1`, `.2` and so on. */
  readonly path: string;
  /** The file system. */
  readonly files: Files;
  /** Time, for the line that says what was lost. */
  readonly clock: Clock;
  /** A file this large is set aside before the next write. Default 16 MiB. */
  readonly maxBytes?: number;
  /** How many older files are kept. Default 5. */
  readonly keep?: number;
  /** Most characters waiting to be written; what comes above is counted and dropped. Default 4 Mi. */
  readonly maxWaiting?: number;
}

/** A file sink, with what it could not keep. */
export interface JsonlFile extends AuditSink {
  /** Resolves when everything taken so far is written or counted as lost. */
  flush(): Promise<void>;
  /** Events lost so far, because writing was slow or failed. */
  readonly lost: number;
  /** Why the last write failed, or null. */
  readonly lastError: string | null;
}

/** Returns a sink that appends to `path`. Its folder must exist. */
export function jsonlFile({ clock, ...options }: JsonlFileOptions): JsonlFile {
  const file = lineFile({ ...options, lossLine: (count, reason) => lossLine(count, reason, clock) });
  return {
    write: (event) => file.write(JSON.stringify(event)),
    flush: () => file.flush(),
    get lost() {
      return file.lost;
    },
    get lastError() {
      return file.lastError;
    },
  };
}

/** The line that stands where events are missing. */
function lossLine(count: number, reason: string, clock: Clock): string {
  const timestamp = new Date(clock.now()).toISOString();
  const subject = { name: "host", instance: "host", request_id: null };
  return JSON.stringify({ type: "audit.lost", timestamp, ...subject, data: { count, reason } });
}
