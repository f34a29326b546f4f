/**
 * An audit sink that appends one JSON line per event to a file, and rotates it by size.
 *
 * @module
 */
import { lineFile } from "../files/line_file.ts";
import type { Clock, Files } from "../ports/ports.ts";
import type { AuditSink } from "./events.ts";

/** Options of {@link jsonlFile}. */
export interface JsonlFileOptions {
  /** Absolute path of the newest file; older ones get `.1`, `.2` and so on. */
  readonly path: string;
  /** `files` of the runtime. */
  readonly files: Files;
  /** `clock` of the runtime: stamps the line that stands in for lost events. */
  readonly clock: Clock;
  /** A larger file is rotated before the next write. Default 16 MiB. */
  readonly maxBytes?: number;
  /** Number of older files that stay. Default 5. */
  readonly keep?: number;
  /** Characters that may wait to be written; events beyond that are counted and dropped. Default 4 Mi. */
  readonly maxWaiting?: number;
}

/** A file sink that counts the events it lost. */
export interface JsonlFile extends AuditSink {
  /** Resolves when every event so far is written or counted as lost. */
  flush(): Promise<void>;
  /** Events lost so far, because writing was slow or failed. */
  readonly lost: number;
  /** Why the last write failed, or null. */
  readonly lastError: string | null;
}

/** Returns a sink that appends to `path`. Its folder must exist. */
export function jsonlFile({ clock, ...options }: JsonlFileOptions): JsonlFile {
  const file = lineFile({ ...options, clock, lossLine: (count, reason) => lossLine(count, reason, clock) });
  return {
    write: (event) => file.write(JSON.stringify(event)),
    writeCallLine: (line) => file.write(line),
    flush: () => file.flush(),
    get lost() {
      return file.lost;
    },
    get lastError() {
      return file.lastError;
    },
  };
}

/** The line that stands in the place of lost events. */
function lossLine(count: number, reason: string, clock: Clock): string {
  const timestamp = new Date(clock.now()).toISOString();
  const subject = { name: "host", instance: "host", request_id: null };
  return JSON.stringify({ type: "audit.lost", timestamp, ...subject, data: { count, reason } });
}
