/** One door for everything a machine may lack: it says why a test did not run, and can forbid that. */
import { appendFileSync } from "node:fs";
import process from "node:process";
import type { TestContext } from "node:test";

/** The runtime of this process. */
export const runtimeName: string = "Deno" in globalThis ? "deno" : "Bun" in globalThis ? "bun" : "node";

/** Whether a machine has something; a function is only asked when the test comes to it. */
export type Available = boolean | (() => boolean | Promise<boolean>);

/**
 * Returns true when `available`. Otherwise it reports the test to the runner as skipped, with the reason, and returns
 * false: the test must then return, because a runner does not count what a skipped test does. With KAGED_FORBID_SKIP=1
 * it throws instead, and with KAGED_REQUIRE_CAGE=1 where a cage is missing.
 */
export async function requireOrSkip(t: TestContext, what: string, available: Available, how: string): Promise<boolean> {
  if (await isThere(what, available, how)) return true;
  note(t, { what, how, isPart: false });
  t.skip(`needs ${what}; ${how}`);
  return false;
}

/**
 * Returns whether a part of a test can run. Where it cannot, the test goes on without it and is not skipped; the lack
 * is reported, and forbidden like a skip.
 */
export async function requireOrLess(t: TestContext, what: string, available: Available, how: string): Promise<boolean> {
  if (await isThere(what, available, how)) return true;
  note(t, { what, how, isPart: true });
  return false;
}

async function isThere(what: string, available: Available, how: string): Promise<boolean> {
  if (typeof available === "function" ? await available() : available) return true;
  const isForbidden = process.env.KAGED_FORBID_SKIP === "1" ||
    (process.env.KAGED_REQUIRE_CAGE === "1" && what === "a working bubblewrap");
  if (isForbidden) throw new Error(`Skipping is forbidden here: needs ${what}; ${how}`);
  return false;
}

/** Writes the reason for scripts/suite/run_batch.ts, which needs it to correct the counts of Deno's runner. */
function note({ name: test }: TestContext, reason: { what: string; how: string; isPart: boolean }): void {
  const report = process.env.KAGED_SKIP_REPORT;
  if (report) appendFileSync(report, `${JSON.stringify({ test, ...reason })}\n`);
}
