/**
 * Finds the file that the next lines of a log go to. Files are never renamed, so no line is lost on the way: after a full
 * file, or at a new day, the next file begins.
 *
 * @module
 */
import type { Files } from "../core/ports/ports.ts";
import { byteSize } from "./byte_size.ts";

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
export type FindPlace = (day: string, bytes: number) => Promise<LogPlace>;

const NUMBERED = /^events-([0-9]{6,})\.jsonl$/;

/** Returns the search of a log's folder. Throws `addons.invalid_option` for a malformed size. */
export function logPlaces(dir: string, rotation: LogRotation, files: LogFiles): FindPlace {
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
