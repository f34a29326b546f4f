/**
 * What a log needs of a file system.
 *
 * @module
 */

/** The part of a file system that logs are written with; a runtime's `files` is one. Paths are absolute. */
export interface LogFiles {
  /** Appends to a file, created 0600 when missing. */
  append(path: string, text: string): Promise<void>;
  /** The size of what stands at `path`, or null. */
  info(path: string): Promise<{ readonly size: number } | null>;
  /** Names in a directory. */
  list(path: string): Promise<string[]>;
  /** Makes a directory and its parents. */
  makeDir(path: string, options: { readonly recursive: true; readonly mode: number }): Promise<void>;
  /** Reads the last `count` bytes of a file. */
  readTail(path: string, count: number): Promise<Uint8Array>;
  /** Cuts a file down to its first `size` bytes. */
  truncate(path: string, size: number): Promise<void>;
}
