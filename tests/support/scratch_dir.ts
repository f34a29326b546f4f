/**
 * A folder of its own for one test, removed when the test ends.
 *
 * @module
 */
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Makes an empty 0700 folder, its path free of links, that goes away with the test. */
export async function scratchDir(t: { after(run: () => Promise<void>): void }): Promise<string> {
  const dir = await realpath(await mkdtemp(join(tmpdir(), "kaged-test-")));
  t.after(() => removed(dir));
  return dir;
}

/** A program of the test that ends only now may still write a file: then there is one more to remove. */
async function removed(dir: string, tries = 50): Promise<void> {
  try {
    await rm(dir, { recursive: true, force: true });
  } catch (error) {
    if ((error as { code?: unknown }).code !== "ENOTEMPTY" || tries === 0) throw error;
    await removed(dir, tries - 1);
  }
}
