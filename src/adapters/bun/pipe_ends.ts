/**
 * Pipes on Bun: its files of a descriptor read and write any pipe without a thread that waits; its sockets do not. `Bun`
 * is typed by hand: its own types break those of `node:` modules.
 *
 * @module
 */
import { closeSync } from "node:fs";
import type { PipeEnds, PipeReader, PipeWriter } from "../shared/pipe_ends.ts";

interface Sink {
  write(data: string | Uint8Array): unknown;
  flush(): unknown;
  end(): unknown;
}

type OpenFile = (fd: number) => { stream(): ReadableStream<Uint8Array>; writer(): Sink };

/** Reads and writes pipes; see {@link PipeEnds}. */
export const pipeEnds: PipeEnds = {
  read(fd, onChunk, onEnd): PipeReader {
    const reader = fileOf(fd).stream().getReader();
    closeSync(fd); // The stream has a copy of its own.
    let isPaused = false;
    let isReading = false;
    const read = async (): Promise<void> => {
      isReading = true;
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return onEnd();
        onChunk(value);
        if (!isPaused) continue;
        isReading = false;
        return;
      }
    };
    const resume = (): void => {
      isPaused = false;
      if (!isReading) read().catch(onEnd);
    };
    resume();
    return {
      pause: () => void (isPaused = true),
      resume,
      // A reader that is paused awaits nothing, and would not see the end.
      close: () => void reader.cancel().catch(ignore).then(() => isReading ? undefined : resume()),
    };
  },

  write(fd): PipeWriter {
    const sink = fileOf(fd).writer();
    closeSync(fd); // The sink has a copy of its own.
    const queue: { readonly data: string | Uint8Array; readonly taken: () => void }[] = [];
    let isWriting = false;
    let isEnding = false;
    const close = (): void => {
      isEnding = true;
      queue.length = 0;
      Promise.resolve(sink.end()).catch(ignore);
    };
    const pour = async (): Promise<void> => {
      isWriting = true;
      for (let next = queue[0]; next; next = queue[0]) {
        await Promise.all([sink.write(next.data), sink.flush()]);
        queue.shift();
        next.taken();
      }
      isWriting = false;
      if (isEnding) close();
    };
    return {
      write(data, taken) {
        if (isEnding) return;
        queue.push({ data, taken });
        if (!isWriting) pour().catch(close);
      },
      end() {
        isEnding = true;
        if (!isWriting) close();
      },
      close,
    };
  },
};

function fileOf(fd: number): ReturnType<OpenFile> {
  return (globalThis as unknown as { Bun: { file: OpenFile } }).Bun.file(fd);
}

function ignore(): void {}
