/**
 * Finds the end of a trail that this process did not write, or did not write last, and mends what a crash left.
 *
 * @module
 */
import { firstLine } from "../files/lines_of_file.ts";
import type { Files } from "../ports/ports.ts";
import { sha256 } from "../values/sha256.ts";
import { type ChainHead, linkOf, NO_LINES, parseHead, parseLine } from "./chain.ts";
import type { AuditData, AuditType } from "./events.ts";
import { type ChainPaths, type SealedFile, sealedFiles, type TrailPlace } from "./trail_files.ts";

/** An event that the writer of the trail makes itself. */
export type OwnEvent = {
  [T in Extract<AuditType, `audit.${string}`>]: { readonly type: T; readonly data: AuditData[T] };
}[Extract<AuditType, `audit.${string}`>];

/** The end of a trail on the disk. */
export interface TrailEnd {
  /** The line that the next one continues. */
  readonly head: ChainHead;
  /** Size and inode of the open file; a file that differs was written by another process. */
  readonly size: number;
  readonly ino: number | null;
  /** Time of the open file's first event, in ms since 1970, or null where it has none. */
  readonly firstMs: number | null;
  /** Seq of the open file's first event. */
  readonly firstSeq: number;
}

const LF = 0x0a;
/** Bytes of a file's end, or of its beginning, that one line is looked for in at first. */
const PIECE_BYTES = 64 * 1024;

/** Finds the end of a trail, cuts off a torn line, and returns the events that say what was found. */
export async function resumeChain(
  place: TrailPlace,
  paths: ChainPaths,
  files: Files,
): Promise<{ readonly end: TrailEnd; readonly found: readonly OwnEvent[] }> {
  const found: OwnEvent[] = [];
  const kept = await files.info(paths.head) ? parseHead(await files.readText(paths.head)) : null;
  const sealed = await sealedFiles(place, files);
  if (kept === null && sealed.length === 0 && await isUnchained(paths.open, files)) {
    const file = await setAside(paths, files);
    found.push({ type: "audit.set_aside", data: { file: file.slice(paths.folder.length + 1) } });
  }
  const cut_bytes = await cutTornLine(paths.open, files);
  if (cut_bytes > 0) found.push({ type: "audit.mended", data: { reason: "torn_line", cut_bytes } });
  const last = await lastHead(paths.open, files) ?? await lastSealedHead(sealed, paths.open, files);
  const head = headBehind(last, kept, found);
  const info = await files.info(paths.open);
  const first = info === null ? null : parseLine(await firstLine(paths.open, files));
  const firstMs = Date.parse(String(first?.timestamp));
  return {
    end: {
      head,
      size: info?.size ?? 0,
      ino: info?.ino ?? null,
      firstMs: Number.isNaN(firstMs) ? null : firstMs,
      firstSeq: linkOf(first)?.seq ?? head.seq + 1,
    },
    found,
  };
}

/**
 * Decides where the chain goes on. Where the head file knows of more, or of another last line, than the trail holds, it
 * goes on behind the head: the missing or changed line stays visible to everyone who verifies.
 */
function headBehind(last: ChainHead | null, kept: ChainHead | null, found: OwnEvent[]): ChainHead {
  if (kept === null) {
    if (last !== null) found.push({ type: "audit.mended", data: { reason: "head_missing", cut_bytes: 0 } });
    return last ?? NO_LINES;
  }
  const after_seq = last?.seq ?? 0;
  if (last !== null && (after_seq > kept.seq || (after_seq === kept.seq && last.hash === kept.hash))) return last;
  found.push({ type: "audit.gap", data: { after_seq, head_seq: kept.seq } });
  return kept;
}

/** Returns the last whole line of a file, without its break, or null where there is none. */
async function lastLine(path: string, files: Files): Promise<string | null> {
  for (let count = PIECE_BYTES;; count *= 4) {
    const bytes = await files.readTail(path, count);
    const end = bytes.lastIndexOf(LF);
    const start = end < 1 ? -1 : bytes.lastIndexOf(LF, end - 1);
    if (end >= 0 && (start >= 0 || bytes.length < count)) {
      return new TextDecoder().decode(bytes.subarray(start + 1, end));
    }
    if (bytes.length < count) return null;
  }
}

/** Returns the head that a file ends with; null for a file without one. */
export async function lastHead(path: string, files: Files): Promise<(ChainHead & { timestamp: string }) | null> {
  const text = await files.info(path) ? await lastLine(path, files) : null;
  const line = text === null ? null : parseLine(text);
  const link = linkOf(line);
  return link && { seq: link.seq, hash: await sha256(text!), timestamp: String(line?.timestamp) };
}

/** After a crash between sealing and the first event of the next file, the newest sealed file holds the end. */
async function lastSealedHead(sealed: readonly SealedFile[], open: string, files: Files): Promise<ChainHead | null> {
  const newest = sealed.at(-1);
  if (newest === undefined || ((await files.info(open))?.size ?? 0) > 0) return null;
  return await lastHead(newest.path, files);
}

/** A file whose first line has no link was written before trails were chained. */
async function isUnchained(path: string, files: Files): Promise<boolean> {
  const size = (await files.info(path))?.size ?? 0;
  return size > 0 && linkOf(parseLine(await firstLine(path, files))) === null;
}

async function setAside({ open, unchained }: ChainPaths, files: Files): Promise<string> {
  await files.rename(open, unchained);
  return unchained;
}

/** Cuts off the bytes behind the last line break. Returns their number. */
async function cutTornLine(path: string, files: Files): Promise<number> {
  const size = (await files.info(path))?.size ?? 0;
  for (let count = PIECE_BYTES; size > 0; count *= 4) {
    const bytes = await files.readTail(path, count);
    const end = bytes.lastIndexOf(LF);
    if (end < 0 && bytes.length < size) continue;
    const torn = bytes.length - 1 - end;
    if (torn > 0) await files.truncate(path, size - torn);
    return torn;
  }
  return 0;
}
