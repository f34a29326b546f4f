/**
 * Questions to the person at the terminal. Where there is none, nothing is asked and nothing is granted.
 *
 * @module
 */
import process from "node:process";
import { HostError } from "../core/errors/host_error.ts";
import { printable, type Terminal } from "./terminal.ts";

/** A person who can be asked, or nobody. Every text is made printable here: a question may name a plugin's words. */
export interface Questions {
  /** Whether anybody can answer. */
  readonly canAsk: boolean;
  /** Asks a question that is answered by yes or no; false when nobody can answer. */
  confirm(message: string): Promise<boolean>;
  /** Asks for a text, beginning with `initial`; empty when nobody can answer. */
  text(message: string, initial?: string): Promise<string>;
  /** Asks for one of some choices; null when nobody can answer, or `ended` aborts before anybody does. */
  choose<T extends string>(
    message: string,
    choices: readonly { readonly value: T; readonly label: string }[],
    ended?: AbortSignal,
  ): Promise<T | null>;
  /** Asks for a text that is not shown while it is typed; empty when nobody can answer. */
  secret(message: string): Promise<string>;
  /** Runs `work`, and shows while it lasts that something happens. */
  during<T>(work: Promise<T>, texts: ProgressTexts): Promise<T>;
}

/** Lines that show the progress of some work. */
export interface ProgressTexts {
  readonly message: string;
  readonly done: string;
  readonly failed: string;
}

/** Returns questions to the terminal; with `json` a program reads the output, so nobody is asked. */
export function questions(
  { isInteractive }: Terminal,
  { json = false, signal }: { readonly json?: boolean; readonly signal: AbortSignal },
): Questions {
  const canAsk = !json && isInteractive;
  const ask = async (message: string, kind: "text" | "password", initialValue = ""): Promise<string> => {
    if (!canAsk) return "";
    const { isCancel, [kind]: prompt } = await import("@clack/prompts");
    const start = kind === "text" && initialValue !== "" ? { initialValue: printable(initialValue) } : {};
    const answer = await prompt({ message: printable(message), signal, withGuide: false, ...start });
    if (isCancel(answer)) throw signal.aborted ? signal.reason : declined();
    return answer ?? "";
  };
  return {
    canAsk,
    async confirm(message) {
      if (!canAsk) return false;
      const { confirm, isCancel } = await import("@clack/prompts");
      const question = `${printable(message)} [y/N]`;
      const answer = await confirm({ message: question, initialValue: false, signal, withGuide: false });
      if (isCancel(answer)) throw signal.aborted ? signal.reason : declined();
      process.stdout.write(`${question} ${answer ? "y" : "n"}\n\n`); // The prompt clears its own lines.
      return answer;
    },
    text: (message, initial) => ask(message, "text", initial),
    async choose(message, choices, ended) {
      if (!canAsk) return null;
      const { isCancel, select } = await import("@clack/prompts");
      const either = ended ? AbortSignal.any([signal, ended]) : signal;
      const options = choices.map(({ value, label }) => ({ value: value as string, label: printable(label) }));
      const answer = await select({ message: printable(message), options, signal: either, withGuide: false });
      if (!isCancel(answer)) return answer as (typeof choices)[number]["value"];
      if (!signal.aborted && ended?.aborted) return null;
      throw signal.aborted ? signal.reason : declined();
    },
    secret: (message) => ask(message, "password"),
    during: (work, texts) => canAsk ? showDuring(work, texts) : work,
  };
}

const FRAMES = ["◒", "◐", "◓", "◑"];
const FRAME_MS = 80;
const CLEAR_LINE = "\r\u001b[K";

/** Shows a moving sign and the message from the first moment on, so that even quick work says what it did. */
async function showDuring<T>(work: Promise<T>, { message, done, failed }: ProgressTexts): Promise<T> {
  const { stdout } = process;
  // A line that wraps could not be cleared.
  const fitted = (text: string): string => printable(text).slice(0, Math.max(10, (stdout.columns ?? 80) - 4));
  let frame = 0;
  const draw = (): void => void stdout.write(`${CLEAR_LINE}${FRAMES[frame++ % FRAMES.length]}  ${fitted(message)}`);
  draw();
  const timer = setInterval(draw, FRAME_MS);
  let outcome = failed;
  try {
    const result = await work;
    outcome = done;
    return result;
  } finally {
    clearInterval(timer);
    stdout.write(`${CLEAR_LINE}◇  ${fitted(outcome)}\n`);
  }
}

/** The question about capabilities that an upgrade asks for and the version before did not. */
export function grantQuestion(name: string, added: readonly string[]): string {
  return `Grant ${name} ${added.length === 1 ? "the new capability" : `the ${added.length} new capabilities`}?`;
}

/** The error of a question that was answered with no. */
export function declined(): HostError {
  return new HostError("install.declined", "Nothing was changed: the answer was no", {
    hint: "Run the command again if you did not mean no",
  });
}
