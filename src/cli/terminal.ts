/**
 * The streams a command prints to, and their colours.
 *
 * @module
 */
import process from "node:process";
import type { Runtime } from "../core/ports/ports.ts";
import { printable, quotedLines } from "../core/values/printable.ts";

export { printable };

/**
 * Marks text for a person: green for success, yellow for warnings, red for failures. Returns it unchanged where colours
 * have no place.
 */
export type Paint = Readonly<Record<"bold" | "dim" | "green" | "yellow" | "red", (text: string) => string>>;

/**
 * Standard output or standard error. Every text that is given to it may be a plugin's: the printer makes it
 * {@link printable} itself, so that no command can forget to.
 */
export interface Printer {
  /** Prints text as exactly one line; a line end in it is shown as `\n`. */
  line(text?: string): void;
  /** Prints a value as JSON, for a program: indented, or with `isLine` on one line. */
  json(value: unknown, layout?: { readonly isLine: boolean }): void;
  /** Prints text of others that has lines of its own, each behind a margin that no line of ours has. */
  quote(text: string): void;
  /** Prints a line for a program exactly as it is; on a terminal as {@link line} does. */
  exact(text: string): void;
  /** Prints a whole document that is the command's result, such as its help, line by line and without a margin. */
  document(text: string): void;
  /** Prints `✓` and the text. */
  done(text: string): void;
  /** Prints `warning:` and the text. */
  warning(text: string): void;
  /** Prints `hint:` and the text, indented; nothing where there is no hint. */
  hint(text: string | undefined, indent?: string): void;
  readonly paint: Paint;
}

/** Everything a command sees of its surroundings. */
export interface Terminal {
  /** Standard output, for results. */
  readonly out: Printer;
  /** Standard error, for failures and logs. */
  readonly err: Printer;
  /** Hides from now on, in everything that is printed, what `by` hides: a host's or a plugin's secrets. */
  hide(by: Hide): void;
  /** Folder the command was started in. */
  readonly cwd: string;
  /** Whether a person sits at both ends: one that can read a question and answer it. */
  readonly isInteractive: boolean;
  /** Reads standard input to its end. */
  readInput(): Promise<string>;
  /** The ports of the runtime the command runs on, loaded at first use. */
  runtime(): Promise<Runtime>;
}

/** Returns a JSON value without what nobody may read. */
type Hide = <T>(value: T) => T;

/** Returns the {@link Terminal.hide} of a terminal, and what its printers pass their texts through. */
export function hiding(): { readonly hide: (by: Hide) => void; readonly hidden: Hide } {
  const all: Hide[] = [];
  return { hide: (by) => void all.push(by), hidden: (value) => all.reduce((shown, by) => by(shown), value) };
}

/** Returns the terminal of this process. */
export function processTerminal(): Terminal {
  // A reader that went away (`kaged … | head -1`) is no failure of ours: go on, and clean up at the end.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
  const { hide, hidden } = hiding();
  return {
    out: printer(process.stdout, hidden),
    err: printer(process.stderr, hidden),
    hide,
    cwd: process.cwd(),
    isInteractive: process.stdin.isTTY === true && process.stdout.isTTY === true,
    async readInput(): Promise<string> {
      const chunks: Uint8Array[] = [];
      for await (const chunk of process.stdin) chunks.push(typeof chunk === "string" ? encoder.encode(chunk) : chunk);
      return await new Blob(chunks as BlobPart[]).text();
    },
    runtime: async () => (await import("../adapters/default.ts")).detectRuntime(),
  };
}

const encoder = new TextEncoder();

function printer(stream: NodeJS.WriteStream, hidden: Hide): Printer {
  const colours = stream.isTTY === true && !process.env["NO_COLOR"] && process.env["TERM"] !== "dumb";
  return createPrinter((text) => void stream.write(text), paint(colours), hidden, stream.isTTY === true);
}

/** Returns a printer that writes whole lines, each with its line end and what `hidden` leaves of it. */
export function createPrinter(
  write: (text: string) => void,
  paint: Paint,
  hidden: Hide = (value) => value,
  isTerminal = false,
): Printer {
  const line = (text = ""): void => write(`${coloured(printable(hidden(text)))}\n`);
  const lines = (all: readonly string[]): void => all.forEach((text) => line(text));
  return {
    line,
    json: (value, { isLine } = { isLine: false }) =>
      lines(JSON.stringify(hidden(value), null, isLine ? 0 : 2).split("\n")),
    quote: (text) => lines(quotedLines(text)),
    exact: (text) => isTerminal ? line(text) : write(`${text}\n`),
    document: (text) => lines(text.trimEnd().split("\n")),
    done: (text) => line(`${paint.green("✓")} ${text}`),
    warning: (text) => line(`${paint.yellow("warning")}: ${text}`),
    hint: (text, indent = "  ") => text === undefined ? undefined : line(`${indent}hint: ${text}`),
    paint,
  };
}

/**
 * Stands for the escape character until a printer writes the line. It is new in each process and never leaves it, so a
 * plugin cannot write it: the colours of a line are always the command's own.
 */
const COLOUR_MARK: string = crypto.randomUUID();

const COLOURS = new RegExp(`${COLOUR_MARK}<(\\d+)>`, "g");

/** Makes the marks of {@link paint} colours: the one escape sequence that is written. */
function coloured(text: string): string {
  return text.includes(COLOUR_MARK) ? text.replace(COLOURS, "\u001b[$1m") : text;
}

/** Returns marks for colours, which a {@link Printer} makes ANSI sequences; without `colours`, text stays as it is. */
export function paint(colours: boolean): Paint {
  const style = (on: number, off: number) => (text: string): string =>
    colours ? `${COLOUR_MARK}<${on}>${text}${COLOUR_MARK}<${off}>` : text;
  return { bold: style(1, 22), dim: style(2, 22), green: style(32, 39), yellow: style(33, 39), red: style(31, 39) };
}

/** Returns a number with its noun: `1 table`, `2 tables`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
