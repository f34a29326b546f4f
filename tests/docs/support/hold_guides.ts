/**
 * One test per guide.
 *
 * @module
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { canCage } from "../../support/hook_repo.ts";
import { allGuides } from "./guides.ts";
import { runBlock } from "./run_guide.ts";
import { openWorkshop } from "./workshop.ts";

/** Declares a test for each guide whose path matches; it says what was done with each block. */
export async function holdGuides(paths: RegExp): Promise<void> {
  for (const [file, blocks] of await allGuides()) {
    if (blocks.length === 0 || !paths.test(file)) continue;
    test(`every block of ${file} holds`, async (t) => {
      if (!await canCage(t)) return;
      const workshop = await openWorkshop(t);
      const wrong: string[] = [];
      for (const block of blocks) {
        const outcome = await runBlock(block, workshop).catch((error: Error) => {
          wrong.push(error.message);
          return "wrong";
        });
        console.log(`${block.place} ${block.language} ${outcome} ${block.said.reason ?? ""}`.trimEnd());
      }
      if (wrong.length > 0) assert.fail(wrong.join("\n\n"));
    });
  }
}
