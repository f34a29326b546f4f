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

  function finish(): void {
    const line = open.slice(0, maxLength).replace(/\r$/, "") + (open.length > maxLength ? " …" : "");
    open = "";
    kept.push(line);
    if (kept.length > KEPT) kept.shift();
    onLine(line);
  }

  function take(text: string): void {
    for (const [index, piece] of text.split("\n").entries()) {
      if (index > 0) finish();
      open = (open + piece).slice(0, maxLength + 1); // One more than is shown, so that a cut is seen.
    }
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
