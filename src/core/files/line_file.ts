/**
 * Lines on their way to a file: a bounded queue with one writer, and a file that is rotated by size.
 *
 * @module
 */
import { messageOf } from "../errors/host_error.ts";
import type { Clock, Files, OpenFile } from "../ports/ports.ts";

/** How lines reach their file. */
interface LineQueueOptions {
  /** Appends lines, given without their ends. One call at a time; a rejection loses these lines. */
  append(lines: readonly string[]): Promise<void>;
  /** With this many characters waiting a write does not rest: holding them longer would only keep memory busy. Default 32 Ki. */
  readonly hurryFrom?: number;
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
/** Fewer and larger writes: each costs a trip to another thread, whatever its length. */
const FILE_HURRY_FROM = 256 * 1024;
/**
 * Writes in a row for which a file stays open: opening and closing it costs more than a write. Whoever removes the file
 * meanwhile loses at most these.
 */
const WRITES_OF_ONE_OPENING = 64;

/** Returns a file at `path`. Its folder must exist with the first line. */
export function lineFile(
  { path, files, maxBytes = 16 * 1024 * 1024, keep = 5, ...queue }: LineFileOptions,
): LineFile {
  const appender = appenderOf({ path, files, maxBytes, keep });
  return batchQueue({ hurryFrom: FILE_HURRY_FROM, ...queue, ...appender, batch: () => new ByteBatch() });
}

/** Returns a queue whose lines go to `append`, as many at once as came while the last ones were written. */
export function lineQueue({ append, ...options }: LineQueueOptions): LineFile {
  return batchQueue({
    ...options,
    batch: () => new TextBatch(),
    append: ({ lines }, loss) => append(loss === null ? lines : [loss, ...lines]),
  });
}

/** Lines that are written together. */
interface Batch {
  readonly count: number;
  add(line: string): void;
  clear(): void;
}

class TextBatch implements Batch {
  lines: string[] = [];

  get count(): number {
    return this.lines.length;
  }

  add(line: string): void {
    this.lines.push(line);
  }

  clear(): void {
    this.lines = [];
  }
}

/** Characters that wait as texts. Beyond them they become bytes: as texts, the lines of 20 ms keep the collector busy. */
const LOOSE_CHARS = 16384;
/** Most bytes that one UTF-16 unit takes in UTF-8. */
const MAX_BYTES_PER_CHAR = 3;
const FIRST_BYTES = 16 * 1024;
const encoder: TextEncoder = new TextEncoder();
const NO_BYTES = new Uint8Array(0);

/** Lines as the bytes that they are in the file. */
class ByteBatch implements Batch {
  count = 0;
  #loose = "";
  #bytes: Uint8Array = NO_BYTES;
  #used = 0;

  add(line: string): void {
    this.count++;
    this.#loose += line + "\n";
    if (this.#loose.length > LOOSE_CHARS) this.#pack();
  }

  /** Valid until the next {@link clear}. */
  bytes(): Uint8Array {
    if (this.#used === 0) return encoder.encode(this.#loose); // A few lines need no room of their own.
    this.#pack();
    return this.#bytes.subarray(0, this.#used);
  }

  clear(): void {
    this.count = 0;
    this.#loose = "";
    this.#used = 0;
  }

  #pack(): void {
    const needed = this.#used + this.#loose.length * MAX_BYTES_PER_CHAR;
    if (needed > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(FIRST_BYTES, 2 * this.#bytes.length, needed));
      grown.set(this.#bytes.subarray(0, this.#used));
      this.#bytes = grown;
    }
    this.#used += encoder.encodeInto(this.#loose, this.#bytes.subarray(this.#used)).written;
    this.#loose = "";
  }
}

/** A queue over batches of one kind. */
interface BatchQueueOptions<B extends Batch> extends Omit<LineQueueOptions, "append"> {
  batch(): B;
  /** Appends a batch, with the line of those that were lost before it. */
  append(batch: B, loss: string | null): Promise<void>;
  /** Called when nothing is left to append for now. */
  rest?(): Promise<void>;
}

const TOO_FAST = "Lines came faster than they could be written";

/** Returns a wait that can be cut short. */
function wakeablePause(clock: Clock): { wait(ms: number): Promise<void>; wake(): void } {
  let end: (() => void) | null = null;
  return {
    wake: () => end?.(),
    wait: (ms) =>
      new Promise((resolve) => {
        end = () => {
          end = null; // Lines go on coming before the writer goes on.
          cancel();
          resolve();
        };
        // The lines have to reach the file also when nothing else keeps the program alive.
        const cancel = clock.after(ms, end, { keepAlive: true });
      }),
  };
}

function batchQueue<B extends Batch>(
  { batch, append, rest: endRow, lossLine, clock, maxWaiting = 4 * 1024 * 1024, hurryFrom = 32 * 1024 }:
    BatchQueueOptions<B>,
): LineFile {
  let waiting = batch();
  /** The batch that was written last, to be filled while the next one is written. */
  let spare: B | null = null;
  let waitingLength = 0;
  let isBusy = false;
  let lost = 0;
  let unreported = 0;
  let lastError: string | null = null;
  let writing: Promise<void> | null = null;
  let restUntilMs = -Infinity;
  let flushes = 0;
  const pause = clock && wakeablePause(clock);

  async function rest(): Promise<void> {
    const leftMs = clock === undefined ? 0 : restUntilMs - clock.monotonic();
    if (leftMs > 0 && flushes === 0 && waitingLength <= hurryFrom) await pause!.wait(leftMs);
  }

  function lose(count: number): void {
    lost += count;
    unreported += count;
  }

  async function writeAll(): Promise<void> {
    do {
      await writeWaiting();
      await endRow?.();
    } while (waiting.count > 0);
  }

  async function writeWaiting(): Promise<void> {
    while (waiting.count > 0 || (unreported > 0 && lastError === null)) {
      await rest();
      const lines = waiting;
      isBusy = waitingLength > hurryFrom;
      waiting = spare ?? batch();
      waitingLength = 0;
      const reported = unreported;
      try {
        await append(lines, reported > 0 ? lossLine(reported, lastError ?? TOO_FAST) : null);
        unreported -= reported;
        lastError = null;
      } catch (error) {
        lastError = messageOf(error);
        lose(lines.count);
      }
      (spare = lines).clear();
      restUntilMs = (clock?.monotonic() ?? 0) + REST_MS;
    }
    if (!isBusy) [waiting, spare] = [batch(), null]; // Memory is kept for a file that is written to all the time.
  }

  return {
    write(line) {
      if (waitingLength + line.length >= maxWaiting) return lose(1);
      waiting.add(line);
      waitingLength += line.length + 1;
      writing ??= writeAll().finally(() => writing = null);
      if (waitingLength > hurryFrom) pause?.wake();
    },
    async flush() {
      flushes++;
      pause?.wake();
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
 * not everything was written. One call at a time; the file stays open until `rest` is called.
 */
function appenderOf(
  { path, files, maxBytes, keep }: DiskOptions,
): Required<Pick<BatchQueueOptions<ByteBatch>, "append" | "rest">> {
  let knownSize: number | null = null;
  let open: OpenFile | null = null;
  let writesLeft = 0;

  async function rest(): Promise<void> {
    const file = open;
    open = null;
    await file?.close().catch(() => {}); // Every write has said how it went.
  }

  async function opened(): Promise<OpenFile> {
    if (writesLeft-- <= 0) await rest();
    if (open === null) writesLeft = WRITES_OF_ONE_OPENING - 1;
    return open ??= await files.openToAppend(path);
  }

  async function append(batch: ByteBatch, loss: string | null): Promise<void> {
    let size = knownSize;
    let head = "";
    knownSize = null; // A write that fails leaves it unknown: the next one looks again.
    if (size === null) {
      size = (await files.info(path))?.size ?? 0;
      if (size > 0 && (await files.readTail(path, 1))[0] !== LF) head = "\n"; // An earlier writer was killed in the middle of a line.
    }
    if (size >= maxBytes) {
      await rest();
      await rotate();
      size = 0;
      head = "";
    }
    if (loss !== null) head += `${loss}\n`;
    const bytes = withHead(head, batch.bytes());
    try {
      await (await opened()).append(bytes);
    } catch (error) {
      await rest();
      await takeBack(bytes, size).catch(() => {}); // The next write then starts a new line.
      throw error;
    }
    knownSize = size + bytes.length;
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

  return { append, rest };
}

function withHead(head: string, bytes: Uint8Array): Uint8Array {
  if (head === "") return bytes;
  const first = encoder.encode(head);
  const whole = new Uint8Array(first.length + bytes.length);
  whole.set(first);
  whole.set(bytes, first.length);
  return whole;
}

async function renameIfThere(files: Files, from: string, to: string): Promise<void> {
  if (await files.info(from)) await files.rename(from, to);
}
