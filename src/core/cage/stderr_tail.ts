/**
 * The stderr of a caged program, line by line: each line capped, the newest kept for the crash report.
 *
 * @module
 */

/** Lines kept for the crash report. */
const KEPT = 50;

/** Takes stderr bytes and keeps the newest lines. */
export interface StderrTail {
  receive(chunk: Uint8Array): void;
  /** Takes the rest of an unfinished line: nothing more will come. */
  end(): void;
  /** Returns the newest lines, oldest first. */
  lines(): string[];
}

/** Returns a tail that hands each line to `onLine`, cut to `maxLength` characters. */
export function stderrTail(onLine: (line: string) => void = () => {}, maxLength = 4096): StderrTail {
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
    if (kept.length > KEPT) kept.shift();
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
