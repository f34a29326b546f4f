/**
 * Lines on their way to a file: a bounded queue with one writer, and a file that is rotated by size.
 *
 * @module
 */
import { messageOf } from "../errors/host_error.ts";
import type { Clock, Files } from "../ports/ports.ts";

/** How lines reach their file. */
interface LineQueueOptions {
  /** Appends lines, given without their ends. One call at a time; a rejection loses these lines. */
  append(lines: readonly string[]): Promise<void>;
  /** Returns the line that stands where `count` others are missing. */
  lossLine(count: number, reason: string): string;
  /** Most characters waiting to be written; what comes above is counted and dropped. Default 4 Mi. */
  readonly maxWaiting?: number;
  /** With a clock, a write begins {@link REST_MS} after the last one at the earliest, and takes the lines of that time. */
  readonly clock?: Clock;
}

/** How a file that is rotated by size is kept. */
interface LineFileOptions extends Omit<LineQueueOptions, "append"> {
  /** Absolute path of the newest file; older ones get `.1`, `.2` and so on. */
  readonly path: string;
  readonly files: Files;
  /** A file this large is set aside before the next write. Default 16 MiB. */
  readonly maxBytes?: number;
  /** How many older files are kept. Default 5. */
  readonly keep?: number;
}

/** Takes lines, and counts those it lost. */
export interface LineFile {
  /** Takes a line, without its end. Never throws. */
  write(line: string): void;
  /** Resolves when everything taken so far is written or counted as lost. */
  flush(): Promise<void>;
  /** Lines lost so far, because writing was slow or failed. */
  readonly lost: number;
  /** Why the last write failed, or null. */
  readonly lastError: string | null;
}

const LF = 0x0a;
/** Each write costs system calls, however few its lines: under load, 50 writes in a second are enough. */
const REST_MS = 20;
/** With this many characters waiting a write is worth its cost: holding them longer would only keep memory busy. */
const HURRY_FROM = 32 * 1024;
/** Characters of a text from which the system is asked for the size of the file afterwards. */
const ASK_FROM = 16 * 1024;

/** Returns a file at `path`. Its folder must exist with the first line. */
export function lineFile(
  { path, files, maxBytes = 16 * 1024 * 1024, keep = 5, ...queue }: LineFileOptions,
): LineFile {
  return lineQueue({ ...queue, append: appenderOf({ path, files, maxBytes, keep }) });
}

/** Returns a queue whose lines go to `append`, as many at once as came while the last ones were written. */
export function lineQueue({ append, lossLine, clock, maxWaiting = 4 * 1024 * 1024 }: LineQueueOptions): LineFile {
  let waiting: string[] = [];
  let waitingLength = 0;
  let lost = 0;
  let unreported = 0;
  let lastError: string | null = null;
  let writing: Promise<void> | null = null;
  let restUntilMs = -Infinity;
  let flushes = 0;
  let wake: (() => void) | null = null;

  async function rest(): Promise<void> {
    const leftMs = clock === undefined ? 0 : restUntilMs - clock.monotonic();
    if (leftMs <= 0 || flushes > 0 || waitingLength > HURRY_FROM) return;
    await new Promise<void>((resolve) => {
      // The lines have to reach the file also when nothing else keeps the program alive.
      const cancel = clock!.after(leftMs, resolve, { keepAlive: true });
      wake = () => {
        cancel();
        resolve();
      };
    });
    wake = null;
  }

  function lose(count: number): void {
    lost += count;
    unreported += count;
  }

  async function writeWaiting(): Promise<void> {
    while (waiting.length > 0 || (unreported > 0 && lastError === null)) {
      await rest();
      const lines = waiting;
      waiting = [];
      waitingLength = 0;
      if (unreported > 0) {
        lines.unshift(lossLine(unreported, lastError ?? "Lines came faster than they could be written"));
      }
      const reported = unreported;
      try {
        await append(lines);
        unreported -= reported;
        lastError = null;
      } catch (error) {
        lastError = messageOf(error);
        lose(lines.length - (reported > 0 ? 1 : 0));
      }
      restUntilMs = (clock?.monotonic() ?? 0) + REST_MS;
    }
  }

  return {
    write(line) {
      if (waitingLength + line.length >= maxWaiting) return lose(1);
      waiting.push(line);
      waitingLength += line.length + 1;
      writing ??= writeWaiting().finally(() => writing = null);
      if (waitingLength > HURRY_FROM) wake?.();
    },
    async flush() {
      flushes++;
      wake?.();
      while (writing) await writing;
      flushes--;
    },
    get lost() {
      return lost;
    },
    get lastError() {
      return lastError;
    },
  };
}

type DiskOptions = Required<Omit<LineFileOptions, keyof LineQueueOptions>>;

/**
 * Returns a function that appends whole lines, and rotates the files first where the newest is full. It rejects when
 * not everything was written. One call at a time.
 */
function appenderOf({ path, files, maxBytes, keep }: DiskOptions): (lines: readonly string[]) => Promise<void> {
  const encoder = new TextEncoder();
  let knownSize: number | null = null;

  async function append(lines: readonly string[]): Promise<void> {
    let size = knownSize;
    let head = "";
    knownSize = null; // A write that fails leaves it unknown: the next one looks again.
    if (size === null) {
      size = (await files.info(path))?.size ?? 0;
      if (size > 0 && (await files.readTail(path, 1))[0] !== LF) head = "\n"; // An earlier writer was killed in the middle of a line.
    }
    if (size >= maxBytes) {
      await rotate();
      size = 0;
      head = "";
    }
    const text = `${head}${lines.join("\n")}\n`;
    try {
      await files.append(path, text);
    } catch (error) {
      await takeBack(encoder.encode(text), size).catch(() => {}); // The next write then starts a new line.
      throw error;
    }
    // Writing encodes the text already: asking for the size costs less than doing that to a long one once more.
    const isLong = text.length > ASK_FROM;
    knownSize = isLong ? (await files.info(path))?.size ?? null : size + encoder.encode(text).length;
  }

  /** A full disk takes the beginning of a text: where that, and nothing else, stands at the end, it is cut off again. */
  async function takeBack(bytes: Uint8Array, before: number): Promise<void> {
    const taken = ((await files.info(path))?.size ?? 0) - before;
    if (taken <= 0 || taken >= bytes.length) return;
    const tail = await files.readTail(path, taken);
    const isOurs = tail.length === taken && tail.every((byte, at) => byte === bytes[at]);
    if (isOurs) await files.truncate(path, before);
  }

  async function rotate(): Promise<void> {
    await files.remove(`${path}.${keep}`);
    for (let age = keep - 1; age >= 1; age--) await renameIfThere(files, `${path}.${age}`, `${path}.${age + 1}`);
    if (keep > 0) await renameIfThere(files, path, `${path}.1`);
    else await files.remove(path);
  }

  return append;
}

async function renameIfThere(files: Files, from: string, to: string): Promise<void> {
  if (await files.info(from)) await files.rename(from, to);
}
