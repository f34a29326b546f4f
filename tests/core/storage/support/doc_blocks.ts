/**
 * The code blocks of docs/storage.md.
 *
 * @module
 */
import { readFile } from "node:fs/promises";

/** Returns the blocks in one language, in order. */
export async function docBlocks(language: string): Promise<string[]> {
  const text = await readFile(new URL("../../../../docs/storage.md", import.meta.url), "utf8");
  return [...text.matchAll(/^```(\w+)\n(.*?)^```$/gms)].filter(([, name]) => name === language).map(([, , body]) =>
    body!
  );
}
