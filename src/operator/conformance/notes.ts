/**
 * Notes taken while rules are tried: the lines of the rule at hand, and everything out of turn.
 *
 * @module
 */

/** A JSON object of the wire, unchecked. */
export type WireMessage = Readonly<Record<string, unknown>>;

/** A notification, and the monotonic time at which it came. */
export interface Notice {
  readonly message: WireMessage;
  readonly atMs: number;
}

/** Everything out of turn, over all processes of one run. */
export interface Notes {
  /** Lines that are no JSON, or no UTF-8. */
  readonly noise: string[];
  /** Responses that no request waited for. */
  readonly strays: string[];
  readonly notices: Notice[];
  /** Methods it asked of the host. */
  readonly requests: string[];
}

/** The newest lines of host (`sent`) and plugin (`came`) while one rule is tried, shortened. */
export interface Exchange {
  readonly sent: string[];
  readonly came: string[];
}

/** Notes of one kind that are kept: a plugin that floods the host does not fill its memory. */
const MAX_NOTES = 1_000;
/** Lines of an exchange that are kept in either direction. */
const MAX_LINES = 4;
/** Characters of a line that are kept. */
const MAX_CHARS = 200;

/** Adds to a list of notes, unless it is full. */
export function note<T>(list: T[], item: T): void {
  if (list.length < MAX_NOTES) list.push(item);
}

/** Adds the lines of a text to one direction of an exchange. */
export function keepLines(lines: string[], text: string): void {
  for (const line of text.split("\n")) if (line !== "") lines.push(cut(line));
  lines.splice(0, lines.length - MAX_LINES);
}

/** Shortens a line for a person. */
export function cut(line: string): string {
  return line.length > MAX_CHARS ? `${line.slice(0, MAX_CHARS)}… (${line.length} characters)` : line;
}
