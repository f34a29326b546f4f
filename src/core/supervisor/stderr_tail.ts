/**
 * A plugin's stderr, line by line: each line capped, the newest kept for the crash report.
 *
 * @module
 */

/** How much is kept. */
export interface StderrOptions {
  /** Lines kept. Default 50. */
  readonly keep?: number;
  /** Longest line, in characters; the rest of it is dropped. Default 4096. */
  readonly maxLength?: number;
}

/** Takes stderr bytes and keeps the newest lines. */
export interface StderrTail {
  /** Takes bytes. */
  receive(chunk: Uint8Array): void;
  /** Takes what is left of an unfinished line. */
  end(): void;
  /** The newest lines, oldest first. */
  lines(): string[];
}

/** Returns a tail that hands each line to `onLine`. */
export function stderrTail(onLine: (line: string) => void, options: StderrOptions = {}): StderrTail {
  const { keep = 50, maxLength = 4096 } = options;
  const decoder = new TextDecoder(); // Lenient: a log line with odd bytes is still worth reading.
  const kept: string[] = [];
  let open = "";
  let cut = false;

  function add(text: string): void {
    cut ||= open.length + text.length > maxLength;
    if (open.length < maxLength) open += text.slice(0, maxLength - open.length);
  }

  function finish(): void {
    const line = (open.endsWith("\r") ? open.slice(0, -1) : open) + (cut ? " …" : "");
    open = "";
    cut = false;
    kept.push(line);
    if (kept.length > keep) kept.shift();
    onLine(line);
  }

  function take(text: string): void {
    const pieces = text.split("\n");
    const rest = pieces.pop() ?? "";
    for (const piece of pieces) {
      add(piece);
      finish();
    }
    add(rest);
  }

  return {
    receive: (chunk) => take(decoder.decode(chunk, { stream: true })),
    end() {
      take(decoder.decode());
      if (open !== "") finish();
    },
    lines: () => [...kept],
  };
}
