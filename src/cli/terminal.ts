/**
 * The streams a command prints to, and their colours.
 *
 * @module
 */
import process from "node:process";
import type { Runtime } from "../core/ports/ports.ts";

/**
 * Marks text for a person: green for success, yellow for warnings, red for failures. Returns it unchanged where colours
 * have no place.
 */
export type Paint = Readonly<Record<"bold" | "dim" | "green" | "yellow" | "red", (text: string) => string>>;

/** Standard output or standard error. */
export interface Printer {
  /** Prints text and ends the line. */
  line(text?: string): void;
  /** Prints a value as indented JSON, for a program. */
  json(value: unknown): void;
  /** Prints `✓` and the text, disarmed. */
  done(text: string): void;
  /** Prints `warning:` and the text, disarmed. */
  warning(text: string): void;
  /** Prints `hint:` and the text, disarmed and indented; nothing where there is no hint. */
  hint(text: string | undefined, indent?: string): void;
  readonly paint: Paint;
}

/** Everything a command sees of its surroundings. */
export interface Terminal {
  /** Standard output, for results. */
  readonly out: Printer;
  /** Standard error, for failures and logs. */
  readonly err: Printer;
  /** Folder the command was started in. */
  readonly cwd: string;
  /** Whether a person sits at both ends: one that can read a question and answer it. */
  readonly isInteractive: boolean;
  /** Reads standard input to its end. */
  readInput(): Promise<string>;
  /** The ports of the runtime the command runs on, loaded at first use. */
  runtime(): Promise<Runtime>;
}

/** Returns the terminal of this process. */
export function processTerminal(): Terminal {
  // A reader that went away (`kaged … | head -1`) is no failure of ours: go on, and clean up at the end.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
  return {
    out: printer(process.stdout),
    err: printer(process.stderr),
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

function printer(stream: NodeJS.WriteStream): Printer {
  const colours = stream.isTTY === true && !process.env["NO_COLOR"] && process.env["TERM"] !== "dumb";
  return createPrinter((text) => void stream.write(text), paint(colours));
}

/** Returns a printer that writes whole lines, each with its line end. */
export function createPrinter(write: (text: string) => void, paint: Paint): Printer {
  const line = (text = ""): void => write(`${text}\n`);
  return {
    line,
    json: (value) => line(JSON.stringify(value, null, 2)),
    done: (text) => line(`${paint.green("✓")} ${printable(text)}`),
    warning: (text) => line(`${paint.yellow("warning")}: ${printable(text)}`),
    hint: (text, indent = "  ") => text === undefined ? undefined : line(`${indent}hint: ${printable(text)}`),
    paint,
  };
}

/** Returns colours as ANSI sequences; without `colours`, text stays as it is. */
export function paint(colours: boolean): Paint {
  const style = (on: number, off: number) => (text: string): string =>
    colours ? `\u001b[${on}m${text}\u001b[${off}m` : text;
  return { bold: style(1, 22), dim: style(2, 22), green: style(32, 39), yellow: style(33, 39), red: style(31, 39) };
}

/** Returns a number with its noun: `1 table`, `2 tables`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/**
 * Returns text that a terminal shows as it is: what a plugin wrote may hold escape sequences that move the cursor,
 * colour a lie, or turn the direction of writing.
 */
export function printable(text: string): string {
  // deno-lint-ignore no-control-regex
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, escaped);
}

const escaped = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;
