/**
 * Asks a person, where there is one.
 *
 * @module
 */

/** Asks a yes-or-no question; no is the default, and what leaving the question means. */
export async function askYes(question: string): Promise<boolean> {
  const { confirm } = await import("@clack/prompts");
  return await confirm({ message: question, initialValue: false }) === true;
}
