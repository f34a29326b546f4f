/**
 * Writes events to files, one line of JSON each.
 *
 * @module
 */
import { resolve } from "node:path";
import { clock as systemClock } from "../adapters/shared/clock.ts";
import { files as systemFiles } from "../adapters/shared/files.ts";
import { HostError, messageOf } from "../core/errors/host_error.ts";
import type { EmittedName } from "../events/types.ts";
import type { Clock, Files } from "../core/ports/ports.ts";
import {
  checkOptions,
  FUNCTION,
  listOf,
  OBJECT,
  type OptionCheck,
  type OptionChecks,
  POSITIVE,
  TEXT,
} from "../core/values/check_options.ts";
import { isMap } from "../core/values/plain_data.ts";
import { type EventSource, hearEvents, warner } from "./event_source.ts";

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

const ROTATION: OptionCheck = {
  wanted: '"daily" or { maxSize }',
  fits: (value) => value === "daily" || isMap(value) && Object.keys(value).join() === "maxSize",
};

const CHECKS: OptionChecks<FileLoggerOptions> = {
  dir: TEXT,
  rotation: ROTATION,
  events: listOf(TEXT),
  maxWaiting: POSITIVE,
  onWarning: FUNCTION,
  runtime: OBJECT,
};

/**
 * Writes events to files as they happen, with all their fields, prompts and answers included; only this user may read the
 * files. No failure reaches the agent: while the disk is full events wait, then they are dropped, and a line `{"type":"log:lost","count":…}` stands in their place.
 *
 * @throws {HostError} `addons.unknown_event` or `addons.invalid_option`.
 */
export function createFileLogger(source: EventSource, options: FileLoggerOptions): FileLogger {
  checkOptions("createFileLogger()", options, CHECKS, "addons.invalid_option");
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

interface LogWriterOptions {
  /** Folder of the files, made when it is missing. */
  readonly dir: string;
  readonly findPlace: FindPlace;
  readonly files: LogFiles;
  readonly clock: Clock;
  /** Most characters that wait. */
  readonly maxWaiting: number;
  /** Called when writing fails, and when it works again. */
  readonly onWarning: (message: string) => void;
}

interface Line {
  readonly day: string;
  readonly text: string;
  readonly bytes: number;
}

const FIRST_RETRY_MS = 1000;
const LAST_RETRY_MS = 30_000;
/** Most bytes of one write. A failed write is repeated whole. */
const BATCH = 1024 * 1024;
const LF = 0x0a;

/** Writes lines in order, and retries while the disk is full. */
class LogWriter {
  readonly #options: LogWriterOptions;
  readonly #encoder = new TextEncoder();
  readonly #whole = new Set<string>();
  #waiting: Line[] = [];
  #waitingChars = 0;
  #lost = 0;
  #unreported = 0;
  #lastError: string | null = null;
  #lossReason: string | null = null;
  #retryMs = FIRST_RETRY_MS;
  #cancelRetry: (() => void) | null = null;
  #writing: Promise<void> | null = null;

  constructor(options: LogWriterOptions) {
    this.#options = options;
  }

  /** Number of lines dropped so far. */
  get lost(): number {
    return this.#lost;
  }

  /** Why the last write failed, or null. */
  get lastError(): string | null {
    return this.#lastError;
  }

  /** Takes a line of a moment (ISO 8601). */
  write(value: object, timestamp: string): void {
    const text = `${JSON.stringify(value)}\n`;
    if (this.#waitingChars + text.length > this.#options.maxWaiting && this.#waiting.length > 0) {
      this.#lost++;
      this.#unreported++;
      return;
    }
    this.#reportLoss();
    this.#push(text, timestamp);
    if (!this.#cancelRetry) this.#start();
  }

  /** Resolves when every line is written, or one more try to write has failed. */
  async flush(): Promise<void> {
    await this.#writing;
    this.#cancelRetry?.();
    this.#cancelRetry = null;
    if (this.#waiting.length > 0 || this.#unreported > 0) await this.#start();
  }

  /** Like {@link flush}; what cannot be written now is lost. */
  async close(): Promise<void> {
    await this.flush();
    this.#cancelRetry?.();
    this.#cancelRetry = null;
    if (this.#waiting.length === 0) return;
    this.#lost += this.#waiting.length;
    this.#options.onWarning(`${this.#waiting.length} events are lost: ${this.#lastError}`);
    this.#waiting = [];
    this.#waitingChars = 0;
  }

  #push(text: string, timestamp: string): void {
    this.#waiting.push({ day: timestamp.slice(0, 10), text, bytes: this.#encoder.encode(text).length });
    this.#waitingChars += text.length;
  }

  #reportLoss(): void {
    if (this.#unreported === 0) return;
    const timestamp = new Date(this.#options.clock.now()).toISOString();
    const reason = this.#lossReason ?? "events came faster than they could be written";
    this.#push(`${JSON.stringify({ type: "log:lost", timestamp, count: this.#unreported, reason })}\n`, timestamp);
    this.#unreported = 0;
    this.#lossReason = null;
  }

  #start(): Promise<void> {
    return this.#writing ??= this.#writeAll().finally(() => this.#writing = null);
  }

  async #writeAll(): Promise<void> {
    try {
      for (;; this.#reportLoss()) {
        while (this.#waiting.length > 0) await this.#writeSome();
        if (this.#unreported === 0) return;
      }
    } catch (error) {
      this.#failed(error);
    }
  }

  async #writeSome(): Promise<void> {
    const { files, findPlace, dir } = this.#options;
    const [{ day, bytes }] = this.#waiting as [Line];
    if (this.#whole.size === 0) await files.makeDir(dir, { recursive: true, mode: 0o700 });
    const { path, size, maxSize } = await findPlace(day, bytes);
    const isTorn = size > 0 && !this.#whole.has(path) && (await files.readTail(path, 1))[0] !== LF;
    const [count, text] = this.#batch(day, Math.min(maxSize - size, BATCH));
    try {
      await files.append(path, isTorn ? `\n${text}` : text);
    } catch (error) {
      // A full disk takes the beginning of what it is given: half a line must not stay. Then look again at everything.
      this.#whole.clear();
      await files.truncate(path, size).catch(() => {});
      throw error;
    }
    this.#whole.add(path);
    for (const line of this.#waiting.splice(0, count)) this.#waitingChars -= line.text.length;
    this.#worked();
  }

  /** The lines of a day that fit into so many bytes: at least one. */
  #batch(day: string, room: number): [count: number, text: string] {
    let [count, bytes, text] = [0, 0, ""];
    for (const line of this.#waiting) {
      if (line.day !== day || (count > 0 && bytes + line.bytes > room)) break;
      count++;
      bytes += line.bytes;
      text += line.text;
    }
    return [count, text];
  }

  #worked(): void {
    if (this.#lastError === null) return;
    const losses = this.#lost > 0 ? `; ${this.#lost} were lost so far` : "";
    this.#options.onWarning(`Events are written to "${this.#options.dir}" again${losses}`);
    this.#lastError = null;
    if (this.#unreported === 0) this.#lossReason = null;
    this.#retryMs = FIRST_RETRY_MS;
  }

  #failed(error: unknown): void {
    const { clock, dir, onWarning } = this.#options;
    if (this.#lastError === null) onWarning(`Cannot write events to "${dir}", they wait: ${messageOf(error)}`);
    this.#lastError = this.#lossReason = messageOf(error);
    this.#cancelRetry = clock.after(this.#retryMs, () => {
      this.#cancelRetry = null;
      void this.#start();
    });
    this.#retryMs = Math.min(this.#retryMs * 2, LAST_RETRY_MS);
  }
}

/** The part of a file system that logs are written with; a runtime's `files` is one. */
export type LogFiles = Pick<Files, "append" | "info" | "list" | "makeDir" | "readTail" | "truncate">;

/** When a log goes on in a new file: each day (UTC), or before a file grows past a size. */
export type LogRotation = "daily" | {
  /** Largest file, such as `10mb`. A line that is longer has a file of its own. */
  readonly maxSize: string;
};

/** The file that the next lines go to. */
interface LogPlace {
  readonly path: string;
  /** Bytes that it holds already. */
  readonly size: number;
  /** Most bytes that it may hold. */
  readonly maxSize: number;
}

/** Finds the place for a line of that day (`2026-01-31`) and so many bytes. The folder must exist. */
type FindPlace = (day: string, bytes: number) => Promise<LogPlace>;

const NUMBERED = /^events-([0-9]{6,})\.jsonl$/;

/** Returns the search of a log's folder. Throws `addons.invalid_option` for a malformed size. */
function logPlaces(dir: string, rotation: LogRotation, files: LogFiles): FindPlace {
  const sizeOf = async (path: string): Promise<number> => (await files.info(path))?.size ?? 0;
  if (rotation === "daily") {
    return async (day) => {
      const path = `${dir}/events-${day}.jsonl`;
      return { path, size: await sizeOf(path), maxSize: Infinity };
    };
  }
  const maxSize = byteSize(rotation.maxSize);
  let number: number | null = null;
  return async (_day, bytes) => {
    number ??= Math.max(1, ...(await files.list(dir)).map((name) => Number(NUMBERED.exec(name)?.[1] ?? 0)));
    for (;; number++) {
      const path = `${dir}/events-${String(number).padStart(6, "0")}.jsonl`;
      const size = await sizeOf(path);
      if (size === 0 || size + bytes <= maxSize) return { path, size, maxSize };
    }
  };
}

const UNITS: Readonly<Record<string, number>> = { b: 1, kb: 1024, mb: 1024 ** 2, gb: 1024 ** 3 };

/**
 * Returns the bytes that a size such as `10mb` names; a unit is 1024 of the one before.
 *
 * @throws {HostError} `addons.invalid_option` when it names none.
 */
function byteSize(text: string): number {
  const [, number = "", unit = ""] = /^([0-9]{1,6}(?:\.[0-9]{1,3})?) ?(b|kb|mb|gb)$/i.exec(text) ?? [];
  const bytes = Math.floor(Number(number) * (UNITS[unit.toLowerCase()] ?? 0));
  if (bytes > 0) return bytes;
  throw new HostError("addons.invalid_option", `"${text}" is no size`, {
    data: { value: text },
    hint: 'Write a number and a unit, such as "10mb"; units are b, kb, mb and gb',
  });
}
