/**
 * Writes events to files, one line of JSON each.
 *
 * @module
 */
import { resolve } from "node:path";
import { clock as systemClock } from "../adapters/shared/clock.ts";
import { files as systemFiles } from "../adapters/shared/files.ts";
import type { EmittedName } from "../events/types.ts";
import type { Clock } from "../core/ports/ports.ts";
import { type EventSource, hearEvents } from "./event_source.ts";
import { type LogFiles, logPlaces, type LogRotation, LogWriter } from "./log_writer.ts";
import { warner } from "./warner.ts";

/** The folder of the files, and the events that are written. */
export interface FileLoggerOptions {
  /** Folder of the files, made when it is missing. One logger for each folder. */
  readonly dir: string;
  /** When a new file begins: `events-2026-01-31.jsonl` each day (UTC), or `events-000001.jsonl` and on. Default daily. */
  readonly rotation?: LogRotation;
  /** Events to write. Default: all that are emitted. */
  readonly events?: readonly EmittedName[];
  /** Characters that may wait while the disk is full or slow; events beyond are dropped and counted. Default 8 Mi. */
  readonly maxWaiting?: number;
  /** Called when writing fails, and when it works again. Default: `console.error`. */
  readonly onWarning?: (message: string) => void;
  /** The file system and the time. Default: the system's. */
  readonly runtime?: { readonly files: LogFiles; readonly clock: Clock };
}

/** The log of a {@link createFileLogger}, until it is closed. */
export interface FileLogger extends AsyncDisposable {
  /** Resolves when every event so far is written, or one more try to write has failed. */
  flush(): Promise<void>;
  /** Ends it, after one more try to write the events that wait. Those that cannot be written are lost. */
  close(): Promise<void>;
  /** Events that were dropped. */
  readonly lost: number;
  /** Why the last write failed, or null. */
  readonly lastError: string | null;
}

/**
 * Writes events to files as they happen, with all their fields, prompts and answers included; only this user may read the
 * files. No failure reaches the agent: while the disk is full events wait, then they are dropped, and a line `{"type":"log:lost","count":…}` stands in their place.
 *
 * @throws {HostError} `addons.unknown_event` or `addons.invalid_option`.
 */
export function createFileLogger(source: EventSource, options: FileLoggerOptions): FileLogger {
  const { rotation = "daily", maxWaiting = 8 * 1024 * 1024 } = options;
  const { files, clock } = options.runtime ?? { files: systemFiles, clock: systemClock };
  const dir = resolve(options.dir);
  const findPlace = logPlaces(dir, rotation, files);
  const writer = new LogWriter({ dir, findPlace, files, clock, maxWaiting, onWarning: warner(options.onWarning) });
  const end = hearEvents(source, options.events, (event) => writer.write(event, event.timestamp));
  const close = async (): Promise<void> => {
    end();
    await writer.close();
  };
  return {
    flush: () => writer.flush(),
    close,
    get lost() {
      return writer.lost;
    },
    get lastError() {
      return writer.lastError;
    },
    [Symbol.asyncDispose]: close,
  };
}
