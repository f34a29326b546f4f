/**
 * Reads server-sent events, one at a time.
 *
 * @module
 */

/** One event. */
export interface SseEvent {
  readonly id: string;
  readonly event: string;
  // deno-lint-ignore no-explicit-any
  readonly data: any;
}

/** A stream of events. */
export interface SseReader {
  /** The next event; null at the end. Comments are left out. */
  next(): Promise<SseEvent | null>;
  /** Reads until a comment comes. */
  comment(): Promise<string>;
  /** Leaves. */
  close(): Promise<void>;
}

/** Reads the events of a response. */
export function sseReader(response: Response): SseReader {
  const reader = response.body!.pipeThrough(new TextDecoderStream() as never)
    .getReader() as ReadableStreamDefaultReader<
      string
    >;
  let text = "";
  async function block(): Promise<string | null> {
    while (!text.includes("\n\n")) {
      const { done, value } = await reader.read();
      if (done) return null;
      text += value;
    }
    const end = text.indexOf("\n\n");
    const found = text.slice(0, end);
    text = text.slice(end + 2);
    return found;
  }
  return {
    async next() {
      for (;;) {
        const found = await block();
        if (found === null) return null;
        const fields = new Map(found.split("\n").map((line) => line.split(/: (.*)/s, 2) as [string, string]));
        if (!fields.has("data")) continue;
        return { id: fields.get("id")!, event: fields.get("event")!, data: JSON.parse(fields.get("data")!) };
      }
    },
    async comment() {
      for (;;) {
        const found = await block();
        if (found === null || found.startsWith(":")) return found ?? "";
      }
    },
    close: () => reader.cancel(),
  };
}
