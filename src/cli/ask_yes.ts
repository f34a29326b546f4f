/**
 * Asks a person, where there is one.
 *
 * @module
 */
import process from "node:process";

/** Whether a person sits at both ends: one that can read a question and answer it. */
export function isInteractive(): boolean {
  return process.stdin.isTTY === true && process.stdout.isTTY === true;
}

/** Asks a yes-or-no question; no is the default, and what leaving the question means. */
export async function askYes(question: string): Promise<boolean> {
  const { confirm } = await import("@clack/prompts");
  return await confirm({ message: question, initialValue: false }) === true;
}
