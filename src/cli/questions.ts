/**
 * Questions to the person at the terminal. Where there is none, nothing is asked and nothing is granted.
 *
 * @module
 */
import process from "node:process";
import { HostError } from "../core/errors/host_error.ts";
import type { Terminal } from "./terminal.ts";

/** Asks. */
export interface Questions {
  /** Whether anybody can answer. */
  readonly canAsk: boolean;
  /** Asks a question that is answered by yes or no; no unless yes was said. */
  confirm(message: string): Promise<boolean>;
  /** Asks for a text; empty when nobody can answer. */
  text(message: string): Promise<string>;
  /** Asks for a text that is not shown while it is typed; empty when nobody can answer. */
  secret(message: string): Promise<string>;
  /** Shows that something takes its time; the returned function ends it. */
  progress(message: string): Promise<(outcome: string) => void>;
}

/** Returns questions to the terminal; with `json` a program reads along and nobody is asked. */
export function questions(
  { isInteractive }: Terminal,
  { json = false, signal }: { readonly json?: boolean; readonly signal: AbortSignal },
): Questions {
  const canAsk = !json && isInteractive;
  return {
    canAsk,
    async confirm(message) {
      if (!canAsk) return false;
      const { confirm, isCancel } = await import("@clack/prompts");
      const question = `${message} [y/N]`;
      const answer = await confirm({ message: question, initialValue: false, signal, withGuide: false });
      if (isCancel(answer)) throw signal.aborted ? signal.reason : declined();
      process.stdout.write(`${question} ${answer ? "y" : "n"}\n\n`); // The prompt clears its own lines.
      return answer;
    },
    async text(message) {
      if (!canAsk) return "";
      const { isCancel, text } = await import("@clack/prompts");
      const answer = await text({ message, signal, withGuide: false });
      if (isCancel(answer)) throw signal.aborted ? signal.reason : declined();
      return answer ?? "";
    },
    async secret(message) {
      if (!canAsk) return "";
      const { isCancel, password } = await import("@clack/prompts");
      const answer = await password({ message, signal, withGuide: false });
      if (isCancel(answer)) throw signal.aborted ? signal.reason : declined();
      return answer ?? "";
    },
    progress: (message) => canAsk ? showProgress(message) : Promise.resolve(() => {}),
  };
}

/** Shows on a terminal that something takes its time; the returned function ends it. */
export async function showProgress(message: string): Promise<(outcome: string) => void> {
  const { spinner } = await import("@clack/prompts");
  const shown = spinner({ withGuide: false });
  shown.start(message);
  return (outcome) => shown.stop(outcome);
}

/** The question about what an upgrade asks for that the version before did not. */
export function grantQuestion(name: string, added: readonly string[]): string {
  return `Grant ${name} ${added.length === 1 ? "the new capability" : `the ${added.length} new capabilities`}?`;
}

/** The error of a question that was answered with no. */
export function declined(): HostError {
  return new HostError("install.declined", "Nothing was changed: the answer was no", {
    hint: "Run the command again if it was not meant",
  });
}
