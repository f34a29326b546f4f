/**
 * The host's ends of the pipes of a process. Each runtime reads and writes them in its own way; see the file of the same
 * name in its folder.
 *
 * @module
 */

/** The reading of one pipe, which has begun. */
export interface PipeReader {
  /** Stops reading until {@link resume}. */
  pause(): void;
  resume(): void;
  /** Closes the pipe. The end is reported, unless it has been. */
  close(): void;
}

/** Writes to one pipe that did not take everything at once. */
export interface PipeWriter {
  /** Queues bytes, or text as UTF-8, which a runtime encodes on its way out; `taken` is called when the pipe has taken them, and never when it broke first. */
  write(data: string | Uint8Array, taken: () => void): void;
  /** Closes the pipe after what is queued. */
  end(): void;
  /** Closes the pipe at once. */
  close(): void;
}

/** Opens the host's ends of pipes. Both take over the descriptor, which does not block. */
export interface PipeEnds {
  /** Calls `onEnd` once: at the end of the pipe, when it breaks, and when it is closed. Chunks are not used again. */
  read(fd: number, onChunk: (chunk: Uint8Array) => void, onEnd: () => void): PipeReader;
  /** A pipe that breaks takes nothing more; nothing is reported, for the end of the process says so. */
  write(fd: number): PipeWriter;
}
