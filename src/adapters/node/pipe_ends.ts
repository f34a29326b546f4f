/**
 * Pipes on Node: its sockets read and write any pipe without a thread that waits.
 *
 * @module
 */
import { Socket } from "node:net";
import type { PipeEnds, PipeReader, PipeWriter } from "../shared/pipe_ends.ts";

/** Reads and writes pipes; see {@link PipeEnds}. */
export const pipeEnds: PipeEnds = {
  read(fd, onChunk, onEnd): PipeReader {
    const socket = new Socket({ fd, readable: true, writable: false });
    socket.on("error", ignore); // It closes then.
    socket.once("close", onEnd);
    socket.on("data", onChunk);
    return {
      pause: () => void socket.pause(),
      resume: () => void socket.resume(),
      close: () => void socket.destroy(),
    };
  },

  write(fd): PipeWriter {
    const socket = new Socket({ fd, readable: false, writable: true });
    socket.on("error", ignore);
    return {
      write: (data, taken) => void socket.write(data, (error) => error ? undefined : taken()),
      end: () => void socket.end(),
      close: () => void socket.destroy(),
    };
  },
};

function ignore(): void {}
