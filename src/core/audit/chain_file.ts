/**
 * An audit sink that chains events: it seals full files, keeps them for a number of days, and takes turns with other
 * processes that write to the same trail.
 *
 * @module
 */
import { HostError } from "../errors/host_error.ts";
import { type FileLock, type LockPorts, openFileLock } from "../files/file_lock.ts";
import { lineQueue } from "../files/line_file.ts";
import type { Retention } from "../project/audit_settings.ts";
import { chainLines, headText } from "./chain.ts";
import type { AuditEvent } from "./events.ts";
import type { JsonlFile } from "./jsonl_file.ts";
import { lastHead, type OwnEvent, resumeChain, type TrailEnd } from "./resume_chain.ts";
import { chainPaths, sealedFiles, type TrailPlace } from "./trail_files.ts";

/** Options of {@link chainFile}. */
export interface ChainFileOptions extends TrailPlace, Retention {
  readonly runtime: LockPorts;
  /** A larger file is sealed before the next write. Default 16 MiB. */
  readonly maxBytes?: number;
}

const DAY_MS = 86_400_000;
/** A file is sealed at this age even when it is small: retention deletes whole sealed files. */
const SEAL_AFTER_DAYS = 30;
/** The disk is looked at again after this many bytes of events. */
const LOOK_EVERY_BYTES = 1024 * 1024;
const LOCK_WAIT_MS = 10_000;
const MIB = 1024 * 1024;

/** Returns a sink that appends to the audit trail of a project. The folder is made with the first event. */
export function chainFile(options: ChainFileOptions): JsonlFile {
  const { project, runtime: { clock } } = options;
  let hear: (event: AuditEvent) => void = () => {};
  const event = ({ type, data }: OwnEvent): AuditEvent => {
    const timestamp = new Date(clock.now()).toISOString();
    return { type, timestamp, name: "host", instance: project, request_id: null, data } as AuditEvent;
  };
  const appender = chainAppender(options, (own) => {
    const made = event(own);
    hear(made);
    return JSON.stringify(made);
  });
  const queue = lineQueue({
    append: appender.append,
    clock,
    lossLine: (count, reason) => JSON.stringify(event({ type: "audit.lost", data: { count, reason } })),
  });
  return {
    write: (one) => queue.write(JSON.stringify(one)),
    async flush() {
      await queue.flush();
      await appender.close();
    },
    hear: (listener) => void (hear = listener),
    get lost() {
      return queue.lost;
    },
    get lastError() {
      return queue.lastError;
    },
  };
}

/** Appends to a trail, and lets go of its lock when the writer is done for now. */
interface ChainAppender {
  append(events: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

/** Returns the appender of a trail; `own` makes the line of an event of the writer's own. */
function chainAppender(options: ChainFileOptions, own: (event: OwnEvent) => string): ChainAppender {
  const { runtime: { files, clock }, maxBytes = 16 * MIB, retention_days = 400 } = options;
  const paths = chainPaths(options);
  const sealAfterMs = Math.min(SEAL_AFTER_DAYS, retention_days) * DAY_MS;
  const expire = expirer(options);
  let end: TrailEnd | null = null;

  async function append(events: readonly string[]): Promise<void> {
    let now = end;
    let found: readonly OwnEvent[] = [];
    end = null; // A write that fails leaves the end unknown: the next one looks again.
    const info = await files.info(paths.open);
    const isOurs = now !== null && (info?.ino ?? null) === now.ino && (info?.size ?? 0) === now.size;
    if (now === null || !isOurs) ({ end: now, found } = await resumeChain(options, paths, files));
    const isFull = now.size >= maxBytes || (now.firstMs !== null && clock.now() - now.firstMs > sealAfterMs);
    if (isFull && now.size > 0) now = await seal(now);
    const expired = await expire(isFull || !isOurs, now.size);
    const { text, size, head } = await chainLines([...found, ...expired.events].map(own).concat(events), now.head);
    await expired.deleteFirst();
    try {
      await files.append(paths.open, text);
    } catch (error) {
      // Nobody else writes while the lock is held: the part that a full disk took is ours to cut off.
      if (now.ino !== null) await files.truncate(paths.open, now.size).catch(() => {});
      throw error;
    }
    await writeHead(headText(head)).catch(() => {}); // The events are stored: an older head still fits them.
    await expired.deleteLast();
    const ino = now.ino ?? (await files.info(paths.open))?.ino ?? null;
    end = { ...now, head, size: now.size + size, ino, firstMs: now.firstMs ?? clock.now() };
  }

  async function seal({ head, firstSeq }: TrailEnd): Promise<TrailEnd> {
    const path = paths.sealed(firstSeq);
    await files.setMode(paths.open, 0o400);
    await files.rename(paths.open, path);
    await files.sync(paths.folder);
    return { head, size: 0, ino: null, firstMs: null, firstSeq: head.seq + 1 };
  }

  /** The events reach the disk before their head does: after a power cut the head must not count lines that are gone. */
  async function writeHead(text: string): Promise<void> {
    await files.sync(paths.open);
    await files.write(`${paths.head}.tmp`, `${text}\n`);
    await files.rename(`${paths.head}.tmp`, paths.head);
  }

  let lock: FileLock | null = null;
  return {
    async append(events) {
      if (lock === null) {
        await files.makeDir(paths.folder, { recursive: true, mode: 0o700 });
        const limits = { waitMs: LOCK_WAIT_MS, busy: () => busy(paths.lock), stepMs: 0 };
        lock = openFileLock(paths.lock, options.runtime, limits);
      }
      await lock.hold(() => append(events));
    },
    async close() {
      const opened = lock;
      lock = null;
      await opened?.close();
    },
  };
}

/** Sealed files that are due, the events that say so, and their deletion: before the events are stored, or after. */
interface Expired {
  readonly events: readonly OwnEvent[];
  deleteFirst(): Promise<void>;
  deleteLast(): Promise<void>;
}

const NONE_EXPIRED: Expired = { events: [], deleteFirst: () => Promise.resolve(), deleteLast: () => Promise.resolve() };

/**
 * Returns a function that looks for sealed files to delete: when `isDue`, once a day, and whenever the open file, now of
 * this `size`, has grown by some.
 */
function expirer(
  { runtime: { files, clock }, retention_days = 400, min_free_mb = 64, ...place }: ChainFileOptions,
): (isDue: boolean, size: number) => Promise<Expired> {
  const { folder } = chainPaths(place);
  let lookedMs = -Infinity;
  let lookedSize = 0;

  return async (isDue, size) => {
    if (!isDue && clock.now() - lookedMs < DAY_MS && size - lookedSize < LOOK_EVERY_BYTES) return NONE_EXPIRED;
    [lookedMs, lookedSize] = [clock.now(), size];
    const sealed = await sealedFiles(place, files);
    if (sealed.length === 0) return NONE_EXPIRED;
    const free = await files.freeBytes(folder) ?? Infinity;
    const events: OwnEvent[] = [];
    const paths: string[] = [];
    for (const { path, firstSeq: first_seq } of sealed) {
      const last = await lastHead(path, files);
      const isOld = last !== null && clock.now() - Date.parse(last.timestamp) > retention_days * DAY_MS;
      const isTight = free < min_free_mb * MIB && paths.length === 0;
      if (last === null || !(isOld || isTight)) break;
      const file = path.slice(folder.length + 1);
      const reason = isOld ? "age" : "disk";
      events.push({
        type: "audit.expired",
        data: { file, first_seq, last_seq: last.seq, last_hash: last.hash, reason },
      });
      paths.push(path);
    }
    const remove = async (): Promise<void> => {
      for (const path of paths) await files.remove(path);
    };
    // With no space left the event could not be stored: then the file goes first.
    const isFull = free < MIB;
    return {
      events,
      deleteFirst: () => isFull ? remove() : Promise.resolve(),
      deleteLast: () => isFull ? Promise.resolve() : remove(),
    };
  };
}

function busy(path: string): HostError {
  return new HostError("audit.busy", `Another process has held "${path}" for ${LOCK_WAIT_MS / 1000} s`, {
    data: { path },
    hint: "End the process that holds it; the events of this time are counted as lost",
  });
}
