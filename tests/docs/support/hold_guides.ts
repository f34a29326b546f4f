/**
 * One test per guide.
 *
 * @module
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { canCage } from "../../support/hook_repo.ts";
import { allGuides } from "./guides.ts";
import { needsWorkshop, runBlocks, stepsOf } from "./run_guide.ts";
import { openWorkshop, type Workshop } from "./workshop.ts";

/** Declares a test for each guide whose path matches; it says what was done with each block, and how long it took. */
export async function holdGuides(paths: RegExp): Promise<void> {
  for (const [file, blocks] of await allGuides()) {
    if (blocks.length === 0 || !paths.test(file)) continue;
    test(`every block of ${file} holds`, async (t) => {
      const isRun = blocks.some(needsWorkshop);
      if (isRun && !await canCage(t)) return;
      const text = blocks.map((block) => block.text).join("\n");
      const workshop = isRun ? await openWorkshop(t, { copies: (folder) => text.includes(folder) }) : {} as Workshop;
      const wrong: string[] = [];
      for (const step of stepsOf(blocks)) {
        const started = performance.now();
        const outcome = await runBlocks(step, workshop).catch((error: Error) => {
          wrong.push(error.message);
          return "wrong";
        });
        const places = step.map(({ place, language }) => `${place} ${language}`).join(", ");
        const ms = Math.round(performance.now() - started);
        console.log(`${places} ${outcome} ${step[0]?.said.reason ?? (ms > 50 ? `${ms} ms` : "")}`.trimEnd());
      }
      if (isRun) await workshop.close(); // Before its folder goes.
      if (wrong.length > 0) assert.fail(wrong.join("\n\n"));
    });
  }
}
